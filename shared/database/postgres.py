"""Postgres through asyncpg: one bounded way to run a piece of work on a pooled connection.

A stalled server answers nothing, not even a cancellation, so a timeout inside the driver can hang in its own
cleanup. Work therefore runs as a task that the caller abandons at its deadline; the cleanup goes on alone.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import asyncpg
import msgspec
import structlog
from pgvector.asyncpg import register_vector

from shared.breaker import Breaker, BreakerOpen
from shared.deadline import Deadline
from shared.errors import AppError, Unavailable, from_postgres
from shared.telemetry import metrics, query_spans

if TYPE_CHECKING:
    from asyncpg.pool import PoolConnectionProxy

    Connection: TypeAlias = asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]
    Pool: TypeAlias = asyncpg.Pool[asyncpg.Record]
else:
    Connection: TypeAlias = Any
    Pool: TypeAlias = Any

T = TypeVar("T")
Work = Callable[[Connection], Awaitable[T]]

log = structlog.get_logger()

_NONE: Mapping[str, str] = MappingProxyType({})

_HELD_SECONDS = 60.0
_BREAKER_AFTER = 5
_BREAKER_SECONDS = 0.5
# Shorter waits than this say nothing about the server: a caller in a hurry must not open it for the others.
_TELLING_SECONDS = 0.25


class _Held(NamedTuple):
    """A connection of the pool, taken out at that time (of the performance counter)."""

    connection: PoolConnectionProxy[asyncpg.Record]
    since: float


class Database:
    """Connections are taken out of the driver's pool for a while, not for each piece of work.

    Taking one out and giving it back costs as much as a short statement. A failed one goes back at once, the others
    now and then, since the pool replaces what is old or was used a lot.
    """

    def __init__(self, dsn: str, *, connections: int = 8, application: str = "scrubjay") -> None:
        self._dsn = dsn
        self._connections = connections
        self._application = application
        self._pool: Pool | None = None
        # A place for each connection that there may be; what was used last is used next.
        self._free: asyncio.LifoQueue[_Held | None] = asyncio.LifoQueue()
        for _ in range(connections):
            self._free.put_nowait(None)
        self._abandoned: set[asyncio.Task[Any]] = set()
        # Several timeouts in a row mean a stalled server; every call after the pause says whether it still is.
        self._breaker = Breaker(_BREAKER_AFTER, _BREAKER_SECONDS, _BREAKER_SECONDS, probe_alone=False)

    async def open(self) -> None:
        self._pool = await asyncpg.create_pool(
            self._dsn,
            min_size=1,
            max_size=self._connections,
            init=_prepare,
            reset=_keep,
            timeout=5,
            command_timeout=30,
            server_settings={"application_name": self._application},
        )

    async def close(self) -> None:
        if self._pool is not None:
            try:
                await asyncio.wait_for(self._close(self._pool), 2)
            except TimeoutError:
                self._pool.terminate()

    async def _close(self, pool: Pool) -> None:
        """Once each connection is free."""
        for _ in range(self._connections):
            if (held := await self._free.get()) is not None:
                await pool.release(held.connection)
        await pool.close()

    async def run(self, work: Work[T], deadline: Deadline) -> T:
        """Runs `work` on one connection, each statement its own transaction.

        Raises the AppError behind a database error; Unavailable when the deadline passes first, in which case
        the work may or may not have happened.
        """
        try:
            probe = self._breaker.admit()
        except BreakerOpen as error:
            raise Unavailable("postgres", "the database is not answering", error.seconds) from error
        task = asyncio.ensure_future(self._on_connection(work))
        patience = deadline.left()
        try:
            done, _ = await asyncio.wait({task}, timeout=patience)
        except asyncio.CancelledError:
            self._abandon(task)
            raise
        if not done:
            self._abandon(task)
            metrics.POSTGRES_TIMEOUTS.inc()
            if patience >= _TELLING_SECONDS:
                self._breaker.failed(probe=probe)
            raise Unavailable("postgres", "the database did not answer in time")
        self._breaker.succeeded()
        return _result(task)

    async def transaction(
        self, work: Work[T], deadline: Deadline, *, settings: Mapping[str, str] = _NONE
    ) -> T:
        """Runs `work` in one transaction (READ COMMITTED), with the time left as its statement_timeout.

        `settings` are constants of the code, in force until the transaction ends.
        """
        more = "".join(f"; SET LOCAL {name} = {value}" for name, value in settings.items())

        async def inside(connection: Connection) -> T:
            timeout = max(1, deadline.left_ms())
            await connection.execute(f"BEGIN; SET LOCAL statement_timeout = {timeout}{more}")
            try:
                result = await work(connection)
            except BaseException:
                if not connection.is_closed():
                    await connection.execute("ROLLBACK")
                raise
            await connection.execute("COMMIT")
            return result

        return await self.run(inside, deadline)

    async def _on_connection(self, work: Work[T]) -> T:
        started = time.perf_counter()
        held = await self._free.get()
        kept = None
        try:
            held = await self._open_connection(held, started)
            metrics.POOL_WAIT_SECONDS.observe(time.perf_counter() - started)
            result = await work(held.connection)
            if started - held.since < _HELD_SECONDS:
                kept = held
            return result
        except Exception as error:
            if held is not None and _broke_off(held.connection, error):
                raise ConnectionError("the connection ended") from error
            raise
        finally:
            try:
                if held is not None and kept is None:
                    await self._release(held)
            finally:
                self._free.put_nowait(kept)

    async def _open_connection(self, held: _Held | None, now: float) -> _Held:
        """The held one, or another in place of none and of one that its server ended."""
        assert self._pool is not None, "the database is not open"
        if held is not None:
            if not _ended(held.connection):
                return held
            await self._release(held)
        return _Held(await self._pool.acquire(), now)

    async def _release(self, held: _Held) -> None:
        """A second release of a connection does nothing."""
        assert self._pool is not None, "the database is not open"
        await self._pool.release(held.connection)

    def _abandon(self, task: asyncio.Task[Any] | asyncio.Future[Any]) -> None:
        assert isinstance(task, asyncio.Task)
        self._abandoned.add(task)
        task.add_done_callback(self._forget)
        task.cancel()

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._abandoned.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.debug("abandoned database call ended", error=type(error).__name__)


def _broke_off(connection: Connection, error: Exception) -> bool:
    """Whether the server ended the connection mid-way, which leaves the driver in states it has no error for."""
    return _ended(connection) and not isinstance(error, AppError) and from_postgres(error) is None


def _result(task: asyncio.Future[T]) -> T:
    try:
        return task.result()
    except Exception as error:
        expected = from_postgres(error)
        if expected is None:
            raise
        raise expected from error


def _ended(connection: Connection) -> bool:
    try:
        return connection.is_closed()
    except asyncpg.InterfaceError:
        return True  # the pool has taken it back, since its server ended it


async def _prepare(connection: asyncpg.Connection[asyncpg.Record]) -> None:
    await register_vector(connection)
    await connection.set_type_codec(
        "jsonb", schema="pg_catalog", encoder=_to_jsonb, decoder=_from_jsonb, format="binary"
    )
    if (record := query_spans.query_logger()) is not None:
        connection.add_query_logger(record)


async def _keep(_: Any) -> None:
    """No RESET ALL when a connection returns to the pool: nothing here sets anything beyond a transaction."""


def _to_jsonb(value: Any) -> bytes:
    return b"\x01" + msgspec.json.encode(value)


def _from_jsonb(value: bytes) -> Any:
    return msgspec.json.decode(value[1:])
