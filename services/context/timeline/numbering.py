"""Numbers the committed events of each tenant, on one replica at a time.

Redis only says whose events to number. A lost ring delays an event by at most POLL_SECONDS.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Iterable
from typing import TypeVar

import redis.asyncio as redis
import structlog
from asyncpg.exceptions import LockNotAvailableError
from redis.exceptions import RedisError

from services.context.timeline import queries
from services.context.timeline.following import Following
from shared.concurrency.tasks import end, every
from shared.database.doorbell import CHANNEL, connect
from shared.database.postgres import EVERY_TENANT, Connection, Database
from shared.deadline import Deadline
from shared.errors import AppError
from shared.telemetry import metrics

T = TypeVar("T")

log = structlog.get_logger()

POLL_SECONDS = 0.25
_AT_ONCE = 1_000
_SECONDS = 5.0
# How soon to ask again when another replica numbers a tenant's events.
_OTHER_REPLICA_SECONDS = 0.02
_COUNT_SECONDS = 5.0
_RECONNECT_SECONDS = 0.5


class Numbering:
    """Tenants take turns, a batch of events each: a flood of one tenant delays nobody else's events by more."""

    def __init__(self, database: Database, redis_url: str, following: Following) -> None:
        self._database = database
        self._redis_url = redis_url
        self._following = following
        self._rung = asyncio.Event()
        # The tenants that wait for a turn, in order.
        self._waiting: dict[str, None] = {}
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        jobs = (
            self._listen(),
            self._number_forever(),
            every(_COUNT_SECONDS, "counting unnumbered events", self._count),
        )
        self._tasks = [asyncio.create_task(job) for job in jobs]

    async def stop(self) -> None:
        await end(*self._tasks)

    async def _number_forever(self) -> None:
        looked = -POLL_SECONDS
        while True:
            if time.monotonic() - looked >= POLL_SECONDS:
                await self._guarded(self._look())
                looked = time.monotonic()
            elsewhere = await self._take_turns()
            if not self._waiting:
                await self._wait_for_ring(_OTHER_REPLICA_SECONDS if elsewhere else POLL_SECONDS)
            self._wait_for_turn(elsewhere)

    async def _look(self) -> None:
        """Finds what no ring told of, and what other replicas have numbered."""

        async def look(connection: Connection) -> tuple[list[str], dict[str, int]]:
            waiting = await queries.tenants_waiting(connection)
            return waiting, await queries.last_numbers(connection, self._following.tenants())

        waiting, lasts = await self._database.run(EVERY_TENANT, look, Deadline(_SECONDS))
        self._wait_for_turn(waiting)
        for tenant, last in lasts.items():
            self._following.tell(tenant, last)

    def _wait_for_turn(self, tenants: Iterable[str]) -> None:
        for tenant in tenants:
            self._waiting.setdefault(tenant)

    async def _take_turns(self) -> list[str]:
        """One turn for each tenant that waits. Answers those whose events another replica numbers now."""
        tenants, self._waiting = list(self._waiting), {}
        elsewhere = []
        for tenant in tenants:
            turn = await self._guarded(self._number(tenant))
            if turn is None:
                continue
            if turn.last is None:
                elsewhere.append(tenant)
            else:
                self._following.tell(tenant, turn.last)
            if turn.numbered == _AT_ONCE:
                self._wait_for_turn([tenant])
        return elsewhere

    async def _number(self, tenant: str) -> queries.Turn:
        return await self._database.call(
            lambda c: queries.number_events(c, tenant, _AT_ONCE), Deadline(_SECONDS)
        )

    async def _guarded(self, work: Awaitable[T]) -> T | None:
        """None where it failed; the next look tries again."""
        try:
            return await work
        except (AppError, LockNotAvailableError) as error:
            log.debug("numbering waits", error=str(error))
        except Exception as error:
            log.error("numbering failed", exc_info=error)
        return None

    async def _wait_for_ring(self, seconds: float) -> None:
        # Not wait_for: before Python 3.12 it swallows a cancellation that arrives together with the ring.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._rung.wait()
        self._rung.clear()

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
            async for message in pubsub.listen():
                if message["type"] == "pmessage":
                    self._wait_for_turn([message["channel"].decode().removeprefix(CHANNEL)])
                self._rung.set()
