"""Writes the assembly log off the hot path: rows wait in memory for a moment and are written in batches.

Waiting rows are lost only if the process dies. When the log is behind (a write failed or is late, or too many rows
wait), every assembly waits for its own row, and is refused if that is not written in time.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

import msgspec
import structlog

from services.context.log import queries
from services.context.log.replay import LoggedCandidate
from shared.concurrency.batching import Batcher
from shared.concurrency.courtesy import for_all
from shared.concurrency.tasks import end
from shared.database.doorbell import Doorbell
from shared.database.erasure import seconds_since
from shared.database.postgres import Database
from shared.deadline import Deadline
from shared.errors import AppError, NotFound, Unavailable
from shared.telemetry import metrics, tracing

log = structlog.get_logger()

R = TypeVar("R")

QUEUE = 1_000
# Beyond QUEUE every assembly waits for its row, so the requests in flight bound what comes on top.
_MOST_WAITING = 100_000
_BATCH = 100
_LINGER_SECONDS = 0.01
# A write costs as much processor time as half of an assembly, and hardly more for ten rows than for one.
_PAUSE_SECONDS = 0.1
_LATE_SECONDS = 0.25
_WRITE_SECONDS = 5.0
_RETRY_SECONDS = 0.2
_RESERVE = 256
_RESERVE_BELOW = 64
# Pauses before looking again: another replica may not have written its row yet.
_OTHER_REPLICA_PAUSES = (0.03, 0.1, 0.3)
# It does not look again with less time than this for it: what is not there is then answered as not there.
_LOOK_SECONDS = 0.25


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
    """As hex."""
    token_budget: int
    budget_asked: bool
    token_shares: dict[str, float]
    as_of: datetime | None
    total_tokens: int
    retrieval_ms: float
    low_relevance: bool
    degraded: list[dict[str, str]]
    candidates: list[LoggedCandidate]
    taken: list[str]
    below_floor: list[str]
    created_at: datetime
    synthesis: dict[str, Any] | None = None
    """What became of the style that was asked for, and what the helper model wrote."""
    waited: float = 0.0
    """Seconds since the request began: a purge of what it names that began later keeps the row out of the log."""


class _Waiting(NamedTuple):
    """`row` builds the row later: with hundreds of candidates this takes time, and no answer should wait for it."""

    tenant: str
    id: int
    row: Callable[[], AssemblyRow]
    since: float
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
        self._failed = False
        self._rows: Batcher[_Waiting] = Batcher(
            "assemblies",
            self._write,
            size=_BATCH,
            limit=_MOST_WAITING,
            linger=_LINGER_SECONDS,
            pause=_PAUSE_SECONDS,
            retry=_RETRY_SECONDS,
            lost=_name_lost,
        )
        self.start = self._rows.start

    async def close(self, seconds: float = _WRITE_SECONDS) -> None:
        """Writes the waiting rows. The process log names those not written in time."""
        await self._rows.stop(seconds)
        if self._refill is not None:
            await end(self._refill)

    async def next_id(self, deadline: Deadline) -> int:
        """An id from a reserved block. Ids left over at exit leave a gap."""
        if not self._ids:
            async with self._reserving:
                if not self._ids:
                    await self._reserve(deadline)
        elif len(self._ids) < _RESERVE_BELOW and (self._refill is None or self._refill.done()):
            self._refill = asyncio.create_task(self._refill_quietly())
        return self._ids.popleft()

    async def _reserve(self, deadline: Deadline) -> None:
        with for_all():
            self._ids.extend(await self._database.call(lambda c: queries.reserve(c, _RESERVE), deadline))

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
        since: float,
        wait: bool = False,
    ) -> None:
        """Queues a row of a request that began at `since`, a time of the performance counter.

        With `wait`, or when the log is behind, returns only when the row is written. Raises Unavailable when it was
        not written in time.
        """
        written: asyncio.Future[None] | None = None
        if wait or self._behind():
            written = asyncio.get_running_loop().create_future()
        self._rows.add(_Waiting(tenant, assembly_id, row, since, written, tracing.here()))
        metrics.LOG_BACKLOG.set(len(self._rows))
        if written is None:
            return
        self._rows.hurry()
        try:
            await asyncio.wait_for(written, deadline.left())
        except TimeoutError as error:
            raise Unavailable("postgres", "the assembly could not be logged in time") from error

    def _behind(self) -> bool:
        return self._failed or self._rows.busy_seconds > _LATE_SECONDS or len(self._rows) >= self._limit

    async def written(self, deadline: Deadline) -> None:
        """Returns when no row waits here, or at the deadline."""
        while deadline.left() and self._rows.waiting():
            self._rows.hurry()
            await asyncio.sleep(_LINGER_SECONDS)

    async def find(self, read: Callable[[], Awaitable[R | None]], assembly_id: int, deadline: Deadline) -> R:
        """Reads an assembly whose row may still wait to be written, here or on another replica. Raises NotFound."""
        while deadline.left() and any(waiting.id == assembly_id for waiting in self._rows.waiting()):
            self._rows.hurry()
            await asyncio.sleep(_LINGER_SECONDS)
        found = await read()
        for pause in _OTHER_REPLICA_PAUSES:
            if found is not None or deadline.left() < pause + _LOOK_SECONDS:
                break
            await asyncio.sleep(pause)
            found = await read()
        if found is not None:
            return found
        raise NotFound(f"no assembly {assembly_id}")

    async def _write(self, batch: list[_Waiting]) -> list[_Waiting]:
        """Writes one batch. Answers the rows to try again, without those whose request gave up."""
        with tracing.going_on("log assemblies", [waiting.origin for waiting in batch]):
            try:
                await self._write_together(batch)
            except Unavailable as error:
                self._failed = True
                return _kept_waiting(batch, error)
            except Exception as error:
                # One bad row must not keep the others out of the log.
                log.error("assemblies not written together", exc_info=error)
                await self._write_singly(batch)
            self._failed = False
            for waiting in batch:
                if waiting.written is not None and not waiting.written.done():
                    waiting.written.set_result(None)
            metrics.LOG_BACKLOG.set(len(self._rows))
            for tenant in {waiting.tenant for waiting in batch}:
                self._doorbell.ring(tenant)
        return []

    async def _write_together(self, batch: list[_Waiting]) -> None:
        rows = []
        for waiting in batch:
            rows.append(waiting.row())
            await asyncio.sleep(0)  # building a row takes time: let requests run in between

        def arguments() -> list[list[AssemblyRow]]:
            for row, waiting in zip(rows, batch, strict=True):
                row.waited = seconds_since(waiting.since)
            return [rows]

        await self._database.write(queries.LOG_ASSEMBLIES, arguments, Deadline(_WRITE_SECONDS))

    async def _write_singly(self, batch: list[_Waiting]) -> None:
        for waiting in batch:
            try:
                await self._write_together([waiting])
            except Exception as error:
                log.error("assembly not logged", id=waiting.id, exc_info=error)
                if waiting.written is not None and not waiting.written.done():
                    waiting.written.set_exception(error)


def _kept_waiting(batch: list[_Waiting], error: Unavailable) -> list[_Waiting]:
    """The rows that no request waits for. The other requests get the error."""
    for waiting in batch:
        if waiting.written is not None and not waiting.written.done():
            waiting.written.set_exception(error)
    return [waiting for waiting in batch if waiting.written is None]


def _name_lost(rows: Sequence[_Waiting]) -> None:
    log.error("assemblies not logged", ids=[waiting.id for waiting in rows])
