"""The doorbell: after a commit, the owner publishes to `timeline:<tenant>` on Redis. Redis stores nothing.

A ring may be lost, since readers also poll. Writers never wait for Redis.
"""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

import redis.asyncio as redis
import structlog
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from shared.concurrency.batching import Batcher
from shared.telemetry import metrics, tracing

log = structlog.get_logger()

CHANNEL = "timeline:"
_PAUSE_AFTER_FAILURE = 1.0
_STOP_SECONDS = 0.5
# Rings queued beyond this are dropped: readers poll anyway.
_AT_ONCE = 10_000
# Seconds between two rings, so that a busy service does not ring for every write.
_PAUSE = 0.02
# The most requests that the span of one publish links to.
_MOST_ORIGINS = 32


def connect(url: str, *, socket_timeout: float | None = 0.5) -> redis.Redis:
    """A client that fails fast: the default retries turn a 0.2 s timeout into seconds."""
    return redis.Redis.from_url(
        url,
        socket_timeout=socket_timeout,
        socket_connect_timeout=0.5,
        retry=Retry(NoBackoff(), 0),
        health_check_interval=0,
    )


class _Ring(NamedTuple):
    tenant: str
    origin: Any
    """The span of the request that rang."""


class Doorbell:
    """Rings in the background, in one pipeline for all tenants that have written since the last time."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client
        self._rings: Batcher[_Ring] = Batcher(
            "rings", self._publish, size=_AT_ONCE, limit=_AT_ONCE, pause=_PAUSE
        )
        self.start = self._rings.start

    async def stop(self) -> None:
        await self._rings.stop(_STOP_SECONDS)
        await self._client.aclose()

    def ring(self, tenant: str) -> None:
        self._rings.add(_Ring(tenant, tracing.here()))

    async def _publish(self, rings: list[_Ring]) -> tuple[()]:
        tenants = {ring.tenant for ring in rings}
        with tracing.publishing([ring.origin for ring in rings[:_MOST_ORIGINS]], len(tenants)):
            try:
                async with self._client.pipeline(transaction=False) as pipeline:
                    for tenant in tenants:
                        pipeline.publish(CHANNEL + tenant, b"")
                    await pipeline.execute()
            except (RedisError, OSError, TimeoutError) as error:
                metrics.RINGS_LOST.inc(len(tenants))
                log.debug("doorbell not rung", error=type(error).__name__)
                await asyncio.sleep(_PAUSE_AFTER_FAILURE)
        return ()
