"""The log of assemblies, off the hot path: rows wait in memory for a moment and go out in batches.

What stands here can be lost only with the process. As soon as the log is behind (a write failed or is late, or too
much waits) every assembly waits for its own row, and is refused when that cannot be written in time.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

import msgspec
import structlog

from services.context.log import queries as queries_log
from services.context.log.replay import LoggedCandidate
from shared.database.doorbell import Doorbell
from shared.database.postgres import Database
from shared.deadline import Deadline
from shared.errors import AppError, Unavailable
from shared.tasks import end
from shared.telemetry import metrics, tracing

log = structlog.get_logger()

QUEUE = 1_000
_BATCH = 100
_LINGER_SECONDS = 0.01
_LATE_SECONDS = 0.25
_WRITE_SECONDS = 5.0
_PAUSE_SECONDS = 0.2
_RESERVE = 256
_RESERVE_BELOW = 64


class AssemblyRow(msgspec.Struct, kw_only=True):
    tenant: str
    id: int
    caller: str
    mission_namespace: str | None
    session_id: str | None
    user_id: str | None
    dispatch_id: int | None
    scopes: list[str]
    query_hash: str
    """SHA-256, as hex."""
    token_budget: int
    budget_asked: bool
    token_shares: dict[str, float]
    as_of: datetime | None
    total_tokens: int
    retrieval_ms: float
    low_relevance: bool
    degraded: list[dict[str, str]]
    candidates: list[LoggedCandidate]
    below_floor: list[str]
    created_at: datetime


class _Waiting(NamedTuple):
    """`row` makes it: with hundreds of candidates that is work which no answer waits for."""

    tenant: str
    id: int
    row: Callable[[], AssemblyRow]
    written: asyncio.Future[None] | None
    origin: Any


class Journal:
    def __init__(self, database: Database, doorbell: Doorbell, *, limit: int = QUEUE) -> None:
        self._database = database
        self._doorbell = doorbell
        self._limit = limit
        self._ids: deque[int] = deque()
        self._reserving = asyncio.Lock()
        self._refill: asyncio.Task[None] | None = None
        self._queue: deque[_Waiting] = deque()
        self._in_flight: list[_Waiting] = []
        self._since = 0.0
        self._failed = False
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def close(self, seconds: float = _WRITE_SECONDS) -> None:
        """Writes what waits; what cannot be written by then is named in the process log."""
        if self._task is not None:
            self._wake.set()
            until = time.monotonic() + seconds
            while (self._queue or self._in_flight) and time.monotonic() < until:
                await asyncio.sleep(0.01)
            await end(self._task)
        if self._refill is not None:
            self._refill.cancel()
        if left := [one.id for one in (*self._in_flight, *self._queue)]:
            log.error("assemblies not logged", ids=left)

    async def next_id(self, deadline: Deadline) -> int:
        """An id of a reserved block; a block that was not used up leaves a gap."""
        if not self._ids:
            async with self._reserving:
                if not self._ids:
                    await self._reserve(deadline)
        elif len(self._ids) < _RESERVE_BELOW and (self._refill is None or self._refill.done()):
            self._refill = asyncio.create_task(self._refill_quietly())
        return self._ids.popleft()

    async def _reserve(self, deadline: Deadline) -> None:
        self._ids.extend(await self._database.run(lambda c: queries_log.reserve(c, _RESERVE), deadline))

    async def _refill_quietly(self) -> None:
        try:
            async with self._reserving:
                await self._reserve(Deadline(_WRITE_SECONDS))
        except AppError as error:
            log.debug("assembly ids not reserved", error=error.detail)

    async def add(
        self,
        tenant: str,
        assembly_id: int,
        row: Callable[[], AssemblyRow],
        deadline: Deadline,
        *,
        wait: bool = False,
    ) -> None:
        """Keeps the row, to be made later; with `wait`, or when the log is behind, returns when it is written.

        Raises Unavailable when it could not be written in time.
        """
        if not wait and not self._behind():
            self._put(_Waiting(tenant, assembly_id, row, None, tracing.here()))
            return
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._put(_Waiting(tenant, assembly_id, row, written, tracing.here()))
        try:
            await asyncio.wait_for(written, deadline.left())
        except TimeoutError as error:
            raise Unavailable("postgres", "the assembly could not be logged in time") from error

    def _behind(self) -> bool:
        late = bool(self._in_flight) and time.monotonic() - self._since > _LATE_SECONDS
        return self._failed or late or len(self._queue) >= self._limit

    def _put(self, waiting: _Waiting) -> None:
        self._queue.append(waiting)
        metrics.LOG_BACKLOG.set(len(self._queue))
        self._wake.set()

    async def written(self, deadline: Deadline) -> None:
        """Returns when nothing waits here any more, or at the deadline."""
        while deadline.left() and (self._in_flight or self._queue):
            await asyncio.sleep(_LINGER_SECONDS)

    async def settled(self, assembly_id: int, deadline: Deadline) -> None:
        """Returns when no row with this id waits here any more, or at the deadline."""
        while deadline.left() and any(one.id == assembly_id for one in (*self._in_flight, *self._queue)):
            await asyncio.sleep(_LINGER_SECONDS)

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            await asyncio.sleep(_LINGER_SECONDS)
            self._wake.clear()
            while self._queue:
                if not await self._write():
                    await asyncio.sleep(_PAUSE_SECONDS)

    async def _write(self) -> bool:
        """One batch; False when it goes back to the queue, without those whose request gave up."""
        self._in_flight = [self._queue.popleft() for _ in range(min(_BATCH, len(self._queue)))]
        self._since = time.monotonic()
        with tracing.going_on("log assemblies", [one.origin for one in self._in_flight]):
            return await self._write_taken()

    async def _write_taken(self) -> bool:
        rows = []
        for one in self._in_flight:
            rows.append(one.row())
            await asyncio.sleep(0)
        try:
            await self._database.run(lambda c: queries_log.log_assemblies(c, rows), Deadline(_WRITE_SECONDS))
        except Unavailable as error:
            self._failed = True
            self._put_back(error)
            return False
        except Exception as error:
            # One bad row must not keep the others out.
            log.error("assemblies not written together", exc_info=error)
            await self._write_singly()
        self._settle()
        return True

    def _settle(self) -> None:
        self._failed = False
        tenants = {one.tenant for one in self._in_flight}
        for one in self._in_flight:
            if one.written is not None and not one.written.done():
                one.written.set_result(None)
        self._in_flight = []
        metrics.LOG_BACKLOG.set(len(self._queue))
        for tenant in tenants:
            self._doorbell.ring(tenant)

    def _put_back(self, error: Unavailable) -> None:
        for one in reversed(self._in_flight):
            if one.written is None:
                self._queue.appendleft(one)
            elif not one.written.done():
                one.written.set_exception(error)
        self._in_flight = []

    async def _write_singly(self) -> None:
        for one in self._in_flight:
            try:
                row = one.row()
                await self._database.run(
                    lambda c, row=row: queries_log.log_assemblies(c, [row]),  # type: ignore[misc]
                    Deadline(_WRITE_SECONDS),
                )
            except Exception as error:
                log.error("assembly not logged", id=one.id, exc_info=error)
                if one.written is not None and not one.written.done():
                    one.written.set_exception(error)
