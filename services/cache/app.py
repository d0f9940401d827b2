from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from services.cache.checkpoints.service import CheckpointService
from services.cache.dispatches.service import DispatchService
from services.cache.entries.search import STORE, CacheSearch, states
from services.cache.entries.service import EntryService
from services.cache.entries.writing import EntryWriter
from services.cache.missions.languages import Languages
from services.cache.missions.service import MissionService
from services.cache.persistent.indexing import PERSISTENT
from services.cache.persistent.indexing import STORE as KEPT_STORE
from services.cache.persistent.search import states as states_of_kept
from services.cache.persistent.service import PersistentService
from services.cache.purge import Purge
from services.cache.routes import ROUTES
from services.cache.service import CacheService
from services.cache.sessions.asking.goals import Goals
from services.cache.sessions.asking.service import Asking
from services.cache.sessions.histories.service import Histories
from services.cache.sessions.objects.admission import Admission as ObjectAdmission
from services.cache.sessions.objects.paging import Paging
from services.cache.sessions.objects.reading import ObjectReader
from services.cache.sessions.objects.turns import Turns
from services.cache.sessions.relationships.service import RelationshipService
from services.cache.sessions.search.assembling import AssemblySearch
from services.cache.sessions.search.assembling import states as states_of_objects
from services.cache.sessions.search.indexing import OBJECTS
from services.cache.sessions.search.indexing import STORE as OBJECTS_STORE
from services.cache.sessions.search.service import ObjectSearch
from services.cache.sessions.service import SessionService
from services.cache.sessions.trail.service import Trail
from services.cache.settings import Settings
from shared.concurrency import clock
from shared.concurrency.tasks import background
from shared.costs import Ledger
from shared.database.doorbell import Doorbell
from shared.database.doorbell import connect as connect_redis
from shared.database.embedding_table import open_cached
from shared.database.housekeeping import tidy_forever
from shared.database.indexer import Indexer
from shared.database.postgres import Database
from shared.identity import Verifier
from shared.review.deciding import Deciding
from shared.search.hot.opening import open_scopes
from shared.search.languages.detection import load_detector
from shared.search.owner import OwnerSearch
from shared.states.comparing import OwnerStates
from shared.web.app import create_app
from shared.web.authentication import inward, tenant_of
from shared.web.door.admission import Admission
from shared.web.door.fairness import BEHIND


@dataclass(frozen=True)
class Services:
    """The services that handlers may request."""

    writer: EntryWriter
    owner_search: OwnerSearch
    owner_states: OwnerStates
    search: CacheSearch
    entries: EntryService
    missions: MissionService
    languages: Languages
    dispatches: DispatchService
    trail: Trail
    admission: ObjectAdmission
    object_reader: ObjectReader
    object_search: ObjectSearch
    assembly_search: AssemblySearch
    paging: Paging
    turns: Turns
    asking: Asking
    goals: Goals
    relationships: RelationshipService
    histories: Histories
    sessions: SessionService
    persistent: PersistentService
    checkpoints: CheckpointService
    deciding: Deciding
    indexer: Indexer
    purge: Purge


@asynccontextmanager
async def opened(settings: Settings, database: Database) -> AsyncIterator[Services]:
    """Opens the services and their background tasks, without HTTP. Closes them in reverse order."""
    async with AsyncExitStack() as stack:
        detector = asyncio.create_task(asyncio.to_thread(load_detector))
        stack.push_async_callback(database.close)
        ledger = Ledger(database, "cache", settings.prices)
        stack.push_async_callback(ledger.close)
        embedder, table = await open_cached(settings.embedding, database, "cache", ledger)
        stack.push_async_callback(embedder.close)
        await database.open()
        ledger.start()
        await detector
        doorbell = Doorbell(connect_redis(settings.redis_url))
        stack.push_async_callback(doorbell.stop)
        doorbell.start()
        hot_scopes = await open_scopes(database, settings.hot_scopes_mb, "cache.psychic_chunks")
        service = CacheService(settings, database, embedder, doorbell, hot_scopes, ledger)
        stack.push_async_callback(service.stop)
        service.start()
        await stack.enter_async_context(
            background(
                service.sweep.run_forever,
                service.dispatches.sweep_forever,
                service.checkpoints.sweep_forever,
                service.summaries.run_forever,
                hot_scopes.load_forever,
                lambda: clock.follow_forever(database.clock),
                lambda: tidy_forever(database, service.records, table),
            )
        )
        searches = {
            STORE: service.search.search,
            OBJECTS.name: service.assembly_search.search,
            PERSISTENT.name: service.persistent_search.search,
        }
        yield Services(
            writer=service.writer,
            owner_search=OwnerSearch("cache", searches, asked=embedder.leave_cores),
            owner_states=OwnerStates(
                {
                    STORE: states(database),
                    OBJECTS_STORE: states_of_objects(database),
                    KEPT_STORE: states_of_kept(database),
                }
            ),
            search=service.search,
            entries=service.entries,
            missions=service.missions,
            languages=service.languages,
            dispatches=service.dispatches,
            trail=service.trail,
            admission=service.admission,
            object_reader=service.object_reader,
            object_search=service.object_search,
            assembly_search=service.assembly_search,
            paging=service.paging,
            turns=service.turns,
            asking=service.asking,
            goals=service.goals,
            relationships=service.relationships,
            histories=service.histories,
            sessions=service.sessions,
            persistent=service.persistent,
            checkpoints=service.checkpoints,
            deciding=service.deciding,
            indexer=service.indexer,
            purge=service.purge,
        )


def create(settings: Settings) -> Admission:
    verifier = Verifier("cache", settings.identity_secrets)
    database = Database(settings.database_url, connections=settings.connections, application="scrubjay-cache")
    return create_app(
        routes=ROUTES,
        services=Services,
        opened=lambda: opened(settings, database),
        authenticate=inward(verifier),
        tenant_of=tenant_of(verifier),
        database=database,
        in_flight=settings.in_flight,
        pile=BEHIND,
        scraping=settings.scraping,
    )
