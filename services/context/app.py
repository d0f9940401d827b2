from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from litestar import Litestar

from services.context.assembly.service import ContextService
from services.context.forwarding.owners import Owner, open_session
from services.context.keys import Keys
from services.context.keys.limits import Rates
from services.context.keys.service import KeyService
from services.context.learning.evaluation import Evaluation
from services.context.log.feedback import Feedback
from services.context.log.journal import Journal
from services.context.log.service import Operators
from services.context.log.signals import Signals
from services.context.mcp.door import Mcp
from services.context.purge.service import Purge
from services.context.remember.service import Remember
from services.context.rerank import open_reranker
from services.context.routes import ROUTES
from services.context.settings import Settings
from services.context.timeline.numbering import Numbering
from services.context.timeline.partitions import EVERY_SECONDS, maintain
from services.context.timeline.service import Timeline
from shared.database.doorbell import Doorbell
from shared.database.doorbell import connect as connect_redis
from shared.database.embedding_table import open_cached
from shared.database.housekeeping import tidy_forever
from shared.database.postgres import Database
from shared.tasks import every
from shared.web.admission import Edge
from shared.web.app import create_app


def create(settings: Settings) -> Edge:
    database = Database(
        settings.database_url, connections=settings.connections, application="scrubjay-context"
    )
    rates = Rates(connect_redis(settings.redis_url))
    keys = Keys(database, settings.tokens, rates, settings.key_limits)

    @contextlib.asynccontextmanager
    async def lifespan(app: Litestar) -> AsyncIterator[None]:
        embedder, table = await open_cached(settings.embedding, database, "context")
        doorbell = Doorbell(connect_redis(settings.redis_url))
        await database.open()
        session = open_session()
        owners = {
            name: Owner(name, url, settings.service_token, session)
            for name, url in (("cache", settings.cache_url), ("agent_memory", settings.agent_memory_url))
        }
        reranker = open_reranker(settings.rerank)
        journal = Journal(database, doorbell)
        signals = app.state.signals = Signals(database)
        app.state.service = ContextService(settings, database, embedder, journal, owners, reranker)
        app.state.remember = Remember(database, app.state.service.records, owners)
        app.state.feedback = Feedback(database, journal)
        app.state.purge = Purge(database, journal, owners)
        app.state.operators = Operators(settings, database, journal, owners)
        app.state.evaluation = Evaluation(database, settings.default_budget, settings.max_budget)
        app.state.api_keys = keys
        app.state.key_service = KeyService(database, keys, app.state.service.records, doorbell.ring)
        app.state.mcp = door = Mcp(settings.mcp_toolset, settings.mcp_hosts, settings.public_url)
        numbering = Numbering(database, settings.redis_url)
        app.state.timeline = Timeline(database, numbering)
        doorbell.start()
        journal.start()
        signals.start()
        keys.usage.start()
        numbering.start()
        tidy = asyncio.create_task(tidy_forever(database, app.state.service.records, table))
        partitions = asyncio.create_task(every(EVERY_SECONDS, "partitions", lambda: maintain(database)))
        try:
            yield
        finally:
            tidy.cancel()
            await door.stop()
            partitions.cancel()
            await numbering.stop()
            await signals.stop()
            await keys.usage.stop()
            await rates.close()
            await journal.close()
            await doorbell.stop()
            await session.close()
            await database.close()
            await embedder.close()
            if reranker is not None:
                await reranker.close()

    return create_app(
        routes=ROUTES,
        service=ContextService,
        authenticate=keys.authenticate,
        database=database,
        lifespan=lifespan,
        in_flight=settings.in_flight,
    )
