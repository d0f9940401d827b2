"""The cache service inside the test's process, on the real database and with its embedder away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from local.database import Database
from services.cache.entries.schemas import Intel, ThreadCheckpoint
from services.cache.service import CacheService
from services.cache.settings import Settings
from shared.auth import Principal
from shared.database.doorbell import Doorbell
from shared.database.doorbell import connect as connect_redis
from shared.database.postgres import Database as Pool
from shared.embeddings import CachedEmbedder, EmbedderUnavailable, EmbeddingSettings
from shared.search.hot.scopes import HotScopes


class Away:
    model = "away"
    dedup_distance = 0.05

    async def embed(self, texts: Any, kind: Any, *, urgency: Any = "asked") -> Any:
        raise EmbedderUnavailable("dead", "no model in this test")

    async def close(self) -> None: ...


@asynccontextmanager
async def cache_service(database: Database, redis_url: str, **changes: Any) -> AsyncIterator[CacheService]:
    """Without its background work; `changes` are settings."""
    settings = Settings(
        database_url=database.services["cache"],
        redis_url=redis_url,
        identity_secrets=("none",),
        embedding=EmbeddingSettings(provider="local"),
        **changes,
    )
    pool = Pool(settings.database_url, connections=settings.connections)
    await pool.open()
    doorbell = Doorbell(connect_redis(redis_url))
    service = CacheService(settings, pool, CachedEmbedder(Away()), doorbell, HotScopes(0))
    try:
        yield service
    finally:
        await asyncio.gather(service.query_log.stop(), doorbell.stop())
        await pool.close()


def principal(tenant: str) -> Principal:
    return Principal(tenant=tenant, key="test", access=frozenset({"read", "write", "admin"}))


def intel(mission: str, content: str, **more: Any) -> Intel:
    return Intel(mission_id=mission, content=content, intel_source="test", **more)


def checkpoint(mission: str, content: str, session: str, **more: Any) -> ThreadCheckpoint:
    return ThreadCheckpoint(
        mission_id=mission,
        content=content,
        session_id=session,
        turn_count=1,
        active_dispatches=[],
        open_decisions=[],
        pending_directives=[],
        current_mission_namespaces=[mission],
        working_state_prose="half way",
        **more,
    )
