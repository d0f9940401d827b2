from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from services.agent_memory.memories.routes import ROUTES
from services.agent_memory.memories.service import AgentMemoryService
from services.agent_memory.settings import Settings
from shared.database.doorbell import Doorbell
from shared.database.doorbell import connect as connect_redis
from shared.database.embedding_table import open_cached
from shared.database.housekeeping import tidy_forever
from shared.database.postgres import Database
from shared.tasks import background
from shared.web.admission import Edge
from shared.web.app import create_app, inward


@dataclass(frozen=True)
class Services:
    """What handlers may ask for."""

    service: AgentMemoryService


@asynccontextmanager
async def opened(settings: Settings, database: Database) -> AsyncIterator[Services]:
    """The services with all that runs beside them, without HTTP. What was opened last is closed first."""
    async with AsyncExitStack() as stack:
        embedder, table = await open_cached(settings.embedding, database, "memory")
        stack.push_async_callback(embedder.close)
        stack.push_async_callback(database.close)
        await database.open()
        doorbell = Doorbell(connect_redis(settings.redis_url))
        stack.push_async_callback(doorbell.stop)
        doorbell.start()
        service = AgentMemoryService(settings, database, embedder, doorbell)
        stack.push_async_callback(service.indexer.stop)
        service.indexer.start()
        stack.push_async_callback(service.flush_accesses)
        await stack.enter_async_context(
            background(service.count_accesses_forever, lambda: tidy_forever(database, service.records, table))
        )
        yield Services(service)


def connect(settings: Settings) -> Database:
    return Database(
        settings.database_url, connections=settings.connections, application="scrubjay-agent-memory"
    )


def create(settings: Settings) -> Edge:
    database = connect(settings)
    return create_app(
        routes=ROUTES,
        services=Services,
        opened=lambda: opened(settings, database),
        authenticate=inward(settings.service_token),
        database=database,
        in_flight=settings.in_flight,
    )
