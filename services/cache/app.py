from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from litestar import Litestar

from services.cache.missions.routes import ROUTES
from services.cache.missions.service import CacheService
from services.cache.settings import Settings
from shared.database.doorbell import Doorbell
from shared.database.doorbell import connect as connect_redis
from shared.database.embedding_table import open_cached
from shared.database.housekeeping import tidy_forever
from shared.database.postgres import Database
from shared.web.admission import Edge
from shared.web.app import create_app, inward


def create(settings: Settings) -> Edge:
    database = Database(settings.database_url, connections=settings.connections, application="scrubjay-cache")

    @contextlib.asynccontextmanager
    async def lifespan(app: Litestar) -> AsyncIterator[None]:
        embedder, table = await open_cached(settings.embedding, database, "cache")
        doorbell = Doorbell(connect_redis(settings.redis_url))
        await database.open()
        service = app.state.service = CacheService(settings, database, embedder, doorbell)
        doorbell.start()
        service.start()
        sweep = asyncio.create_task(service.sweep_forever())
        stale = asyncio.create_task(service.dispatches.sweep_forever())
        tidy = asyncio.create_task(tidy_forever(database, service.records, table))
        try:
            yield
        finally:
            for task in (sweep, stale, tidy):
                task.cancel()
            await service.stop()
            await doorbell.stop()
            await database.close()
            await embedder.close()

    return create_app(
        routes=ROUTES,
        service=CacheService,
        authenticate=inward(settings.service_token),
        database=database,
        lifespan=lifespan,
        in_flight=settings.in_flight,
    )
