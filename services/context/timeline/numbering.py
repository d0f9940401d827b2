"""Numbers committed events, on one replica at a time, and knows the last number.

Redis only says when to look. A lost ring delays an event by at most POLL_SECONDS.
"""

from __future__ import annotations

import asyncio
import contextlib

import redis.asyncio as redis
import structlog
from redis.exceptions import RedisError

from services.context.timeline import queries
from shared.concurrency.tasks import end, every
from shared.database.doorbell import CHANNEL, connect
from shared.database.postgres import EVERY_TENANT, Database
from shared.deadline import Deadline
from shared.errors import AppError
from shared.telemetry import metrics

log = structlog.get_logger()

POLL_SECONDS = 0.25
_AT_ONCE = 1_000
_SECONDS = 5.0
# How soon to look again when another replica is numbering the events.
_OTHER_REPLICA_SECONDS = 0.02
_COUNT_SECONDS = 5.0
_RECONNECT_SECONDS = 0.5


class Numbering:
    """`last` is the last number that any replica gave, as of the last look."""

    def __init__(self, database: Database, redis_url: str) -> None:
        self._database = database
        self._redis_url = redis_url
        self._rung = asyncio.Event()
        self._changed = asyncio.Condition()
        self._tasks: list[asyncio.Task[None]] = []
        self.last = 0

    def start(self) -> None:
        jobs = (
            self._listen(),
            self._number_forever(),
            every(_COUNT_SECONDS, "counting unnumbered events", self._count),
        )
        self._tasks = [asyncio.create_task(job) for job in jobs]

    async def stop(self) -> None:
        await end(*self._tasks)

    async def looked(self) -> None:
        """Returns after the next look, whether or not it found events."""
        async with self._changed:
            await self._changed.wait()

    async def _number_forever(self) -> None:
        rung = False
        while True:
            before, numbered = self.last, await self._number()
            async with self._changed:
                self._changed.notify_all()
            if numbered < _AT_ONCE:
                elsewhere = rung and self.last == before
                rung = await self._wait_for_ring(_OTHER_REPLICA_SECONDS if elsewhere else POLL_SECONDS)

    async def _number(self) -> int:
        """Answers how many events it numbered."""
        try:
            numbered, self.last = await self._database.run(
                EVERY_TENANT, lambda c: queries.number_events(c, _AT_ONCE), Deadline(_SECONDS)
            )
        except AppError as error:
            log.debug("numbering waits", error=error.detail)
        except Exception as error:
            log.error("numbering failed", exc_info=error)
        else:
            return numbered
        return 0

    async def _wait_for_ring(self, seconds: float) -> bool:
        """Whether the doorbell rang in time."""
        # Not wait_for: before Python 3.12 it swallows a cancellation that arrives together with the ring.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._rung.wait()
        rung = self._rung.is_set()
        self._rung.clear()
        return rung

    async def _count(self) -> None:
        """Sets the metric of events that no replica has numbered yet."""
        metrics.TIMELINE_LAG.set(
            await self._database.run(EVERY_TENANT, queries.unnumbered, Deadline(_SECONDS))
        )

    async def _listen(self) -> None:
        while True:
            client = connect(self._redis_url, socket_timeout=None)
            try:
                await self._hear(client)
            except (RedisError, OSError, TimeoutError) as error:
                log.debug("doorbell not heard", error=type(error).__name__)
            finally:
                with contextlib.suppress(RedisError, OSError):
                    await client.aclose()
            await asyncio.sleep(_RECONNECT_SECONDS)

    async def _hear(self, client: redis.Redis) -> None:
        async with client.pubsub() as pubsub:
            await pubsub.psubscribe(CHANNEL + "*")
            async for _ in pubsub.listen():
                self._rung.set()
