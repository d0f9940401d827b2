"""The doorbell: after a commit, the owner rings `timeline:<tenant>` on Redis. Nothing is stored there.

A ring may be lost: readers also look now and then. Writers never wait for Redis.
"""

from __future__ import annotations

import asyncio
from typing import Any

import redis.asyncio as redis
import structlog
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from shared.tasks import end
from shared.telemetry import metrics, tracing

log = structlog.get_logger()

CHANNEL = "timeline:"
_PAUSE_AFTER_FAILURE = 1.0
# Between two rings: readers look anyway, and a busy service would ring for each write.
_PAUSE = 0.02
# Requests that one publishing is traced to.
_MOST_ORIGINS = 32


def connect(url: str, *, socket_timeout: float | None = 0.5) -> redis.Redis:
    """A client that fails fast: its default retries turn a 0.2 s timeout into seconds."""
    return redis.Redis.from_url(
        url,
        socket_timeout=socket_timeout,
        socket_connect_timeout=0.5,
        retry=Retry(NoBackoff(), 0),
        health_check_interval=0,
    )


class Doorbell:
    """Rings in the background, one pipeline for all tenants that wrote meanwhile."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client
        self._rung: set[str] = set()
        self._origins: list[Any] = []
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        if self._task is not None:
            await end(self._task)
        await self._client.aclose()

    def ring(self, tenant: str) -> None:
        self._rung.add(tenant)
        if len(self._origins) < _MOST_ORIGINS:
            self._origins.append(tracing.here())
        self._wake.set()

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            tenants, self._rung = self._rung, set()
            origins, self._origins = self._origins, []
            try:
                with tracing.publishing(origins, len(tenants)):
                    await self._publish(tenants)
                await asyncio.sleep(_PAUSE)
            except (RedisError, OSError, TimeoutError) as error:
                metrics.RINGS_LOST.inc(len(tenants))
                log.debug("doorbell not rung", error=type(error).__name__)
                await asyncio.sleep(_PAUSE_AFTER_FAILURE)

    async def _publish(self, tenants: set[str]) -> None:
        async with self._client.pipeline(transaction=False) as pipeline:
            for tenant in tenants:
                pipeline.publish(CHANNEL + tenant, b"")
            await pipeline.execute()
