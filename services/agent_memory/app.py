from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from litestar import Litestar

from services.agent_memory.memories.routes import ROUTES
from services.agent_memory.memories.service import AgentMemoryService
from services.agent_memory.settings import Settings
from shared.database.doorbell import Doorbell
from shared.database.doorbell import connect as connect_redis
from shared.database.embedding_table import open_cached
from shared.database.housekeeping import tidy_forever
from shared.database.postgres import Database
from shared.web.admission import Edge
from shared.web.app import create_app, inward


@contextlib.asynccontextmanager
async def opened(settings: Settings, database: Database) -> AsyncIterator[AgentMemoryService]:
    """The service with all that runs beside it, without HTTP."""
    embedder, table = await open_cached(settings.embedding, database, "memory")
    doorbell = Doorbell(connect_redis(settings.redis_url))
    await database.open()
    service = AgentMemoryService(settings, database, embedder, doorbell)
    doorbell.start()
    service.indexer.start()
    counting = asyncio.create_task(service.count_accesses_forever())
    tidy = asyncio.create_task(tidy_forever(database, service.records, table))
    try:
        yield service
    finally:
        counting.cancel()
        tidy.cancel()
        await service.flush_accesses()
        await service.indexer.stop()
        await doorbell.stop()
        await database.close()
        await embedder.close()


def connect(settings: Settings) -> Database:
    return Database(
        settings.database_url, connections=settings.connections, application="scrubjay-agent-memory"
    )


def create(settings: Settings) -> Edge:
    database = connect(settings)

    @contextlib.asynccontextmanager
    async def lifespan(app: Litestar) -> AsyncIterator[None]:
        async with opened(settings, database) as app.state.service:
            yield

    return create_app(
        routes=ROUTES,
        service=AgentMemoryService,
        authenticate=inward(settings.service_token),
        database=database,
        lifespan=lifespan,
        in_flight=settings.in_flight,
    )
