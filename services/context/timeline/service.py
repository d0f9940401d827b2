"""The timeline: numbers committed events, and streams them in that order.

Redis only says when to look. A lost ring costs a moment (POLL_SECONDS), never an event.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator
from datetime import timedelta

import msgspec
import redis.asyncio as redis
import structlog
from redis.exceptions import RedisError

from services.context.timeline import queries
from services.context.timeline.schemas import Event
from shared.auth import Principal
from shared.database import doorbell
from shared.database.postgres import Database
from shared.deadline import Deadline
from shared.errors import AppError
from shared.tasks import end
from shared.telemetry import metrics
from shared.web.admission import Drain

log = structlog.get_logger()

POLL_SECONDS = 0.25
HEARTBEAT_SECONDS = 15.0
RETRY_MS = 1_000
PAGE = 200
_NUMBER_AT_ONCE = 1_000
_NUMBERING_SECONDS = 0.02
_MAINTAIN_SECONDS = 3_600.0
_COUNT_SECONDS = 5.0
_KEEP = {
    "timeline.events": timedelta(days=90),
    "timeline.costs": timedelta(days=400),
    "context.context_assembly_log": timedelta(days=90),
}


class Filter(msgspec.Struct, frozen=True):
    mission: str | None = None
    kind: str | None = None
    dispatch_id: int | None = None


class Timeline:
    def __init__(self, database: Database, redis_url: str) -> None:
        self.database = database
        self._redis_url = redis_url
        self._rung = asyncio.Event()
        self._last = 0
        self._changed = asyncio.Condition()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        jobs = (self._listen, self._number, self._count, self._maintain)
        self._tasks = [asyncio.create_task(job()) for job in jobs]

    async def stop(self) -> None:
        await end(*self._tasks)

    async def page(
        self, principal: Principal, wanted: Filter, after: int, limit: int, deadline: Deadline
    ) -> list[Event]:
        """Numbered events after `after`, in order. A key with grants or an agent sees those only."""
        if wanted.mission is not None:
            principal.require_mission(wanted.mission)
        return await self.database.run(
            lambda c: queries.read_events(
                c,
                principal.tenant,
                after,
                limit,
                wanted.mission,
                wanted.kind,
                wanted.dispatch_id,
                principal.seen_missions(),
                principal.agent,
            ),
            deadline,
        )

    async def last(self, principal: Principal, deadline: Deadline) -> int:
        return await self.database.run(lambda c: queries.last_event(c, principal.tenant), deadline)

    async def stream(
        self, principal: Principal, wanted: Filter, after: int, drain: Drain
    ) -> AsyncGenerator[bytes]:
        """Server-sent events from `after` on, until the client goes or this process drains."""
        # With the place where it begins: a stream that breaks off before its first event resumes there.
        yield f"id: {after}\nretry: {RETRY_MS}\n\n".encode()
        spoke = time.monotonic()
        looked_at = -1
        while not drain.started.is_set():
            events: list[Event] = []
            # One question a replica says whether there is anything new: an idle stream asks none.
            if (last := self._last) != looked_at:
                with contextlib.suppress(AppError):
                    events = await self.page(principal, wanted, after, PAGE, Deadline(2.0))
                    looked_at = last
            for event in events:
                yield _sse(event)
                after = event.seq
            if events:
                spoke = time.monotonic()
                looked_at = -1
                continue
            if time.monotonic() - spoke >= HEARTBEAT_SECONDS:
                yield b": still here\n\n"
                spoke = time.monotonic()
            await self._wait_for_news(drain)
        yield f"retry: {RETRY_MS}\n\n".encode()

    async def _wait_for_news(self, drain: Drain) -> None:
        async def news() -> None:
            async with self._changed:
                await self._changed.wait()

        waits = {asyncio.create_task(news()), asyncio.create_task(drain.started.wait())}
        try:
            await asyncio.wait(waits, timeout=POLL_SECONDS * 2, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)

    async def _number(self) -> None:
        rung = False
        while True:
            numbered, pause = 0, POLL_SECONDS
            try:
                numbered, last = await self.database.run(
                    lambda c: queries.number_events(c, _NUMBER_AT_ONCE), Deadline(5.0)
                )
                if rung and last == self._last:
                    # Another replica is numbering what was rung for.
                    pause = _NUMBERING_SECONDS
                self._last = last
            except AppError as error:
                log.debug("numbering waits", error=error.detail)
            except Exception as error:
                log.error("numbering failed", exc_info=error)
            async with self._changed:
                self._changed.notify_all()
            if numbered < _NUMBER_AT_ONCE:
                # Not wait_for: before 3.12 it swallows a cancellation that comes together with the ring.
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await self._rung.wait()
                rung = self._rung.is_set()
                self._rung.clear()

    async def _count(self) -> None:
        """For the metrics: events that no replica has numbered yet."""
        while True:
            try:
                metrics.TIMELINE_LAG.set(await self.database.run(queries.unnumbered, Deadline(5.0)))
            except AppError as error:
                log.debug("unnumbered events not counted", error=error.detail)
            await asyncio.sleep(_COUNT_SECONDS)

    async def _listen(self) -> None:
        while True:
            client = doorbell.connect(self._redis_url, socket_timeout=None)
            try:
                await self._hear(client)
            except (RedisError, OSError, TimeoutError) as error:
                log.debug("doorbell not heard", error=type(error).__name__)
            finally:
                with contextlib.suppress(RedisError, OSError):
                    await client.aclose()
            await asyncio.sleep(0.5)

    async def _hear(self, client: redis.Redis) -> None:
        async with client.pubsub() as pubsub:
            await pubsub.psubscribe(doorbell.CHANNEL + "*")
            async for _ in pubsub.listen():
                self._rung.set()

    async def _maintain(self) -> None:
        """Partitions ahead of time, and those past retention dropped."""
        while True:
            for parent, keep in _KEEP.items():
                try:
                    await self.database.run(
                        lambda c, p=parent, k=keep: queries.maintain(c, p, k),  # type: ignore[misc]
                        Deadline(30),
                    )
                except AppError as error:
                    log.warning("partitions not maintained", parent=parent, error=error.detail)
                except Exception as error:
                    log.error("partitions not maintained", parent=parent, exc_info=error)
            await asyncio.sleep(_MAINTAIN_SECONDS)


def _sse(event: Event) -> bytes:
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (
        event.seq,
        event.kind.encode(),
        msgspec.json.encode(event),
    )
