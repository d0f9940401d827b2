"""The parts of the cache service, and its background work."""

from __future__ import annotations

from services.cache.checkpoints.service import CheckpointService
from services.cache.dispatches.service import DispatchService
from services.cache.entries.indexing import ENTRIES
from services.cache.entries.query_log import QueryLog
from services.cache.entries.search import STORE, CacheSearch
from services.cache.entries.service import EntryService
from services.cache.entries.writing import EntryWriter
from services.cache.keyed_writes import KeyedWrites
from services.cache.missions.languages import Languages
from services.cache.missions.queries import DefaultLimits
from services.cache.missions.service import MissionService
from services.cache.missions.sweep import ExpirySweep
from services.cache.persistent.indexing import PERSISTENT
from services.cache.persistent.search import PersistentSearch
from services.cache.persistent.service import PersistentService
from services.cache.purge import Purge
from services.cache.review.entries import ReviewedEntries
from services.cache.sessions.asking.goals import Goals
from services.cache.sessions.asking.service import Asking
from services.cache.sessions.costs import SessionCosts
from services.cache.sessions.histories.service import Histories
from services.cache.sessions.objects.admission import Admission
from services.cache.sessions.objects.paging import Paging
from services.cache.sessions.objects.reading import ObjectReader
from services.cache.sessions.objects.turns import Turns
from services.cache.sessions.relationships.service import RelationshipService
from services.cache.sessions.search.assembling import AssemblySearch
from services.cache.sessions.search.indexing import OBJECTS
from services.cache.sessions.search.service import ObjectSearch
from services.cache.sessions.service import SessionService
from services.cache.sessions.summarizing.worker import SummaryWorker
from services.cache.sessions.trail.service import Trail
from services.cache.sessions.transactions import SessionTransactions
from services.cache.settings import Settings
from shared.costs import Ledger
from shared.database.doorbell import Doorbell
from shared.database.indexer import Indexer
from shared.database.postgres import Database
from shared.embeddings import CachedEmbedder
from shared.llm import open_helper
from shared.review.deciding import Deciding
from shared.review.reviews import Reviews
from shared.search.hot.scopes import HotScopes


class CacheService:
    def __init__(
        self,
        settings: Settings,
        database: Database,
        embedder: CachedEmbedder,
        doorbell: Doorbell,
        hot_scopes: HotScopes,
        ledger: Ledger | None = None,
    ) -> None:
        self.doorbell = doorbell
        self.ledger = ledger or Ledger(database, "cache", settings.prices)
        limits = DefaultLimits(settings.token_budget, settings.entry_budget, settings.ttl_hours)
        keyed = KeyedWrites(database)
        self.languages = Languages(database)
        self.records = keyed.records
        self.indexer = Indexer(
            database, embedder, "cache", [ENTRIES, OBJECTS, PERSISTENT], settings.embedding.index_workers
        )
        self.query_log = QueryLog(database, doorbell)
        self.writer = EntryWriter(
            database,
            keyed,
            doorbell,
            self.indexer,
            self.languages,
            model=embedder.model,
            limits=limits,
            tags=settings.tags,
        )
        self.search = CacheSearch(database, embedder, self.query_log, self.languages, hot_scopes)
        self.entries = EntryService(database, doorbell, limits=limits, tags=settings.tags)
        self.missions = MissionService(
            database,
            doorbell,
            model=embedder.model,
            limits=limits,
            index_seconds_left=lambda: self.indexer.seconds_left(ENTRIES.name),
        )
        reviews = Reviews("cache")
        self.deciding = Deciding(
            database, reviews, {STORE: ReviewedEntries(self.writer, self.entries)}, self._announce
        )
        self.dispatches = DispatchService(database, keyed, doorbell, stale_minutes=settings.stale_minutes)
        transactions = SessionTransactions(database, keyed, doorbell)
        self.sessions = SessionService(transactions)
        self.trail = Trail(transactions)
        costs = SessionCosts(database, self.ledger)
        self.helper = open_helper(settings.helper, costs.record, costs.reached)
        self.summaries = SummaryWorker(database, self.helper)
        self.admission = Admission(transactions, self.indexer, embedder.model, self.summaries.wake)
        self.object_search = ObjectSearch(transactions, embedder)
        self.assembly_search = AssemblySearch(database)
        self.object_reader = ObjectReader(transactions)
        self.paging = Paging(transactions)
        self.turns = Turns(transactions, self.admission, self.object_reader)
        self.asking = Asking(transactions, self.helper)
        self.goals = Goals(transactions)
        self.relationships = RelationshipService(transactions)
        self.histories = Histories(transactions)
        self.persistent = PersistentService(transactions, self.indexer, embedder.model)
        self.persistent_search = PersistentSearch(database)
        self.checkpoints = CheckpointService(database, settings.sweep_minutes)
        self.purge = Purge(database, self.query_log, reviews)
        self.sweep = ExpirySweep(database, settings.sweep_minutes)

    def _announce(self, tenant: str) -> None:
        self.doorbell.ring(tenant)
        self.indexer.wake()

    def start(self) -> None:
        self.indexer.start()
        self.query_log.start()

    async def stop(self) -> None:
        """Waits for current writes, then ends the background work."""
        await self.writer.stop()
        await self.indexer.stop()
        await self.query_log.stop()
        if self.helper is not None:
            await self.helper.close()
