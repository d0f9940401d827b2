from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from services.agent_memory.consolidation import routes as consolidation
from services.agent_memory.consolidation.costs import ExtractionCosts
from services.agent_memory.consolidation.files import Files
from services.agent_memory.consolidation.learning import Learning
from services.agent_memory.consolidation.purge import CONSOLIDATION
from services.agent_memory.consolidation.runs import Runs
from services.agent_memory.consolidation.service import Consolidations
from services.agent_memory.facts import routes as facts
from services.agent_memory.facts.graph import FactStates, Graph
from services.agent_memory.facts.purge import FACTS
from services.agent_memory.facts.references import ReferenceReader
from services.agent_memory.facts.service import FactReader
from services.agent_memory.facts.writes.merging import AliasWriter
from services.agent_memory.facts.writes.service import FactWriter
from services.agent_memory.long_term import routes as long_term
from services.agent_memory.long_term.expiry import CommitmentExpiry
from services.agent_memory.long_term.indexing import finishing
from services.agent_memory.long_term.indexing import long_term as indexed_long_term
from services.agent_memory.long_term.purge import LONG_TERM
from services.agent_memory.long_term.search import STORE as LONG_TERM_STORE
from services.agent_memory.long_term.search import LongTermSearch
from services.agent_memory.long_term.search import nothing as nothing_of_long_term
from services.agent_memory.long_term.search import states as states_of_long_term
from services.agent_memory.long_term.service import LongTerm
from services.agent_memory.memories import routes as memories
from services.agent_memory.memories.accesses import AccessCounts
from services.agent_memory.memories.commits.rules import CommitRules
from services.agent_memory.memories.commits.service import Commits, LateVectors
from services.agent_memory.memories.indexing import memories as indexed_memories
from services.agent_memory.memories.purge import MEMORIES
from services.agent_memory.memories.search import (
    OWN,
    MemorySearch,
    nothing_of_peers,
    nothing_own,
    states_of_own,
    states_of_peers,
)
from services.agent_memory.memories.service import MemoryReader
from services.agent_memory.memories.transfer import MemoryTransfer
from services.agent_memory.purge import Purge
from services.agent_memory.review.facts import ReviewedFacts
from services.agent_memory.review.long_term import ReviewedLongTerm
from services.agent_memory.review.memories import ReviewedMemories
from services.agent_memory.routes import ROUTES
from services.agent_memory.settings import Settings
from services.agent_memory.transactions import Transactions
from services.agent_memory.vacancy import PEER, Vacancies
from services.agent_memory.vault import routes as vault
from services.agent_memory.vault.folder_index.service import FolderIndex
from services.agent_memory.vault.indexing import FILES as INDEXED_FILES
from services.agent_memory.vault.purge import FILES
from services.agent_memory.vault.queries_write import STORE as VAULT
from services.agent_memory.vault.search import VaultSearch
from services.agent_memory.vault.search import nothing as nothing_of_files
from services.agent_memory.vault.search import states as states_of_files
from services.agent_memory.vault.service import Vault
from services.agent_memory.vault.uploads import Uploads
from services.agent_memory.vector_index.service import VectorIndex
from shared.concurrency import clock
from shared.concurrency.tasks import background
from shared.costs import Ledger
from shared.database.doorbell import Doorbell
from shared.database.doorbell import connect as connect_redis
from shared.database.embedding_table import open_cached
from shared.database.housekeeping import tidy_forever
from shared.database.idempotency import Records
from shared.database.indexer import Indexer
from shared.database.postgres import Database
from shared.identity import Verifier
from shared.llm import open_helper
from shared.review.deciding import Deciding, ReviewedStore
from shared.review.reviews import Reviews
from shared.search.evidence import GRAPH
from shared.search.hot.opening import open_scopes
from shared.search.languages.detection import load_detector
from shared.search.owner import OwnerSearch, Vacancy
from shared.states.comparing import OwnerStates
from shared.web.app import create_app
from shared.web.authentication import inward, tenant_of
from shared.web.door.admission import Admission
from shared.web.door.fairness import BEHIND

NOTHING = {
    OWN: nothing_own,
    PEER: nothing_of_peers,
    LONG_TERM_STORE: nothing_of_long_term,
    VAULT: nothing_of_files,
}


@dataclass(frozen=True)
class Services:
    """The services that handlers may request, the busiest first."""

    owner_search: OwnerSearch
    owner_states: OwnerStates
    search: MemorySearch
    commits: Commits
    reader: MemoryReader
    vault_search: VaultSearch
    long_term: LongTerm
    long_term_search: LongTermSearch
    vault: Vault
    uploads: Uploads
    folder_index: FolderIndex
    fact_reader: FactReader
    reference_reader: ReferenceReader
    fact_writer: FactWriter
    alias_writer: AliasWriter
    consolidation_runs: Runs
    consolidation_files: Files
    consolidations: Consolidations
    transfer: MemoryTransfer
    purge: Purge
    accesses: AccessCounts
    deciding: Deciding
    indexer: Indexer


@asynccontextmanager
async def opened(settings: Settings, database: Database) -> AsyncIterator[Services]:
    """Opens the services and their background tasks, without HTTP. Closes them in reverse order."""
    async with AsyncExitStack() as stack:
        detector = asyncio.create_task(asyncio.to_thread(load_detector))
        stack.push_async_callback(database.close)
        ledger = Ledger(database, "agent_memory", settings.prices)
        stack.push_async_callback(ledger.close)
        embedder, table = await open_cached(settings.embedding, database, "memory", ledger)
        stack.push_async_callback(embedder.close)
        costs = ExtractionCosts(ledger)
        helper = open_helper(settings.helper, costs.record, costs.reached)
        if helper is not None:
            stack.push_async_callback(helper.close)
        await database.open()
        ledger.start()
        await detector
        doorbell = Doorbell(connect_redis(settings.redis_url))
        stack.push_async_callback(doorbell.stop)
        doorbell.start()
        rules, records, accesses = CommitRules(embedder), Records("memory"), AccessCounts(database)
        late_vectors = LateVectors(database, rules, doorbell)
        stores = [
            indexed_memories(late_vectors.finish),
            indexed_long_term(finishing(database, embedder.model)),
            INDEXED_FILES,
        ]
        workers = settings.embedding.index_workers
        indexer = Indexer(database, embedder, "memory", stores, workers)
        stack.push_async_callback(indexer.stop)
        indexer.start()
        stack.push_async_callback(accesses.stop)
        accesses.start()
        hot_scopes = await open_scopes(database, settings.hot_scopes_mb, "memory.agent_memory_chunks")
        vector_index = VectorIndex(database)
        transactions = Transactions(database, records, doorbell, indexer)
        folder_index = FolderIndex(database, settings.vault_root, embedder.model, transactions.announce)
        await stack.enter_async_context(
            background(
                lambda: clock.follow_forever(database.clock),
                lambda: tidy_forever(database, records, table),
                hot_scopes.load_forever,
                vector_index.build_forever,
                CommitmentExpiry(database, doorbell).run_forever,
                lambda: folder_index.run_forever(settings.vault_index_seconds),
            )
        )
        vacancies = Vacancies(database)
        search = MemorySearch(database, embedder, accesses.count, hot_scopes, vector_index, vacancies)
        long_term_search = LongTermSearch(database, embedder, vacancies, hot_scopes)
        vault_search = VaultSearch(database, embedder, vacancies, hot_scopes)
        searches = {
            OWN: search.search_own,
            PEER: search.search_peers,
            LONG_TERM_STORE: long_term_search.search,
            VAULT: vault_search.search,
        }
        learning = Learning(helper)
        commits = Commits(database, transactions, rules, embedder, settings.dedup_seconds)
        written = LongTerm(database, transactions, embedder.model)
        facts_written = FactWriter(database, transactions)
        reviewed: dict[str, ReviewedStore] = {
            "agent_memory": ReviewedMemories(commits, embedder.model, embedder.dedup_distance),
            "memory": ReviewedLongTerm(written),
            "facts": ReviewedFacts(facts_written),
        }
        yield Services(
            owner_search=OwnerSearch(
                "agent_memory",
                searches,
                vacancy=Vacancy(vacancies.empty, NOTHING),
                asked=embedder.leave_cores,
                graph=Graph(database, vacancies).search,
            ),
            owner_states=OwnerStates(
                {
                    OWN: states_of_own(database),
                    PEER: states_of_peers(database),
                    LONG_TERM_STORE: states_of_long_term(database),
                    VAULT: states_of_files(database),
                    GRAPH: FactStates(database),
                }
            ),
            search=search,
            commits=commits,
            reader=MemoryReader(database),
            long_term=written,
            long_term_search=long_term_search,
            vault_search=vault_search,
            vault=Vault(database, transactions, settings.vault_root),
            uploads=Uploads(database, transactions, embedder.model),
            folder_index=folder_index,
            transfer=MemoryTransfer(database, transactions, rules),
            fact_reader=FactReader(database),
            reference_reader=ReferenceReader(database),
            fact_writer=facts_written,
            alias_writer=AliasWriter(transactions),
            consolidation_runs=Runs(database, transactions, embedder.model, learning.learn),
            consolidation_files=Files(
                database, transactions, embedder.model, learning.learn, steady=helper is None
            ),
            consolidations=Consolidations(database, transactions),
            purge=Purge(database, transactions, [MEMORIES, LONG_TERM, FILES, FACTS, CONSOLIDATION]),
            accesses=accesses,
            deciding=Deciding(database, Reviews("memory"), reviewed, transactions.announce),
            indexer=indexer,
        )


def connect(settings: Settings) -> Database:
    return Database(
        settings.database_url, connections=settings.connections, application="scrubjay-agent-memory"
    )


def create(settings: Settings) -> Admission:
    verifier = Verifier("agent_memory", settings.identity_secrets)
    database = connect(settings)
    return create_app(
        routes=[
            *memories.ROUTES,
            *long_term.ROUTES,
            *facts.ROUTES,
            *vault.ROUTES,
            *consolidation.ROUTES,
            *ROUTES,
        ],
        services=Services,
        opened=lambda: opened(settings, database),
        authenticate=inward(verifier),
        tenant_of=tenant_of(verifier),
        database=database,
        in_flight=settings.in_flight,
        pile=BEHIND,
        scraping=settings.scraping,
    )
