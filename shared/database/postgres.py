"""Postgres through asyncpg: one bounded way to run a piece of work on a pooled connection.

A stalled server does not even answer a cancellation, so a driver's timeout can hang in its own cleanup. Work
therefore runs as a task. The caller abandons it at the deadline, and the cleanup continues alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import Enum
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import asyncpg
import msgspec
import structlog
from pgvector.asyncpg import register_vector

from shared.concurrency import clock
from shared.concurrency.breaker import Breaker, BreakerOpen
from shared.concurrency.courtesy import holding, make_way
from shared.database.tenancy import Look
from shared.deadline import Deadline
from shared.errors import AppError, Unavailable, from_postgres
from shared.settings import SettingsError
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

PROBE = "select 1"
# Citus hands on what a transaction sets, but not what a query sets.
HAS_CITUS = "select exists (select from pg_extension where extname = 'citus')"

_NONE: Mapping[str, str] = MappingProxyType({})


class Tenants(Enum):
    EVERY = "on"


EVERY_TENANT = Tenants.EVERY

_CACHE_SIZE = "statement_cache_size"
_CACHED_STATEMENTS = 100

_HELD_SECONDS = 60.0
_BREAKER_AFTER = 5
_BREAKER_SECONDS = 0.5
_PROBE_SECONDS = 1.0
# A shorter wait says nothing about the server, and asks for no probe.
_TELLING_SECONDS = 0.25


class _Held(NamedTuple):
    """A connection taken from the pool at `since`, a time of the performance counter."""

    connection: PoolConnectionProxy[asyncpg.Record]
    since: float


class Database:
    """Holds connections of the driver's pool for a while instead of acquiring one for each piece of work.

    Acquiring and releasing costs as much as a short statement. A failed connection is released at once, the others
    after a while, because the pool replaces old and heavily used ones.
    """

    def __init__(self, dsn: str, *, connections: int = 8, application: str = "scrubjay") -> None:
        self._dsn, self._cached_statements = _cache_size(dsn)
        self._connections = connections
        self._application = application
        self._pool: Pool | None = None
        self._distributed = False
        # A place for each connection allowed. The connection used last is used next.
        self._free: asyncio.LifoQueue[_Held | None] = asyncio.LifoQueue()
        for _ in range(connections):
            self._free.put_nowait(None)
        self._abandoned: set[asyncio.Task[Any]] = set()
        # Several timeouts in a row may mean a stalled server, or slow statements of one caller: the probe decides.
        self._breaker = Breaker(
            "postgres",
            self._probe,
            failures=_BREAKER_AFTER,
            probe_seconds=_PROBE_SECONDS,
            shortest=_BREAKER_SECONDS,
            longest=_BREAKER_SECONDS,
        )

    async def open(self) -> None:
        self._pool = await asyncpg.create_pool(
            self._dsn,
            min_size=1,
            max_size=self._connections,
            init=_prepare,
            reset=_keep,
            timeout=5,
            command_timeout=30,
            statement_cache_size=self._cached_statements,
            server_settings={"application_name": self._application},
        )
        self._distributed = await self._pool.fetchval(HAS_CITUS)
        await clock.follow(partial(self._pool.fetchval, clock.NOW))

    async def close(self) -> None:
        await self._breaker.close()
        if self._pool is not None:
            try:
                await asyncio.wait_for(self._close(self._pool), 2)
            except TimeoutError:
                self._pool.terminate()

    async def _close(self, pool: Pool) -> None:
        """Closes the pool when every connection is free."""
        for _ in range(self._connections):
            if (held := await self._free.get()) is not None:
                await pool.release(held.connection)
        await pool.close()

    async def run(self, tenant: str | Tenants, work: Work[T], deadline: Deadline) -> T:
        """Runs `work` in one transaction (READ COMMITTED) that sees the rows of this tenant only, or of EVERY_TENANT.

        Raises as `call`.
        """
        return await self._inside(f"BEGIN; {_as_tenant(tenant)}", work, deadline)

    async def call(self, work: Work[T], deadline: Deadline) -> T:
        """Runs `work` on one connection, each statement its own transaction, without a tenant.

        It sees no tenant's rows. It is for what touches none, for queries that name their tenant themselves
        (`tenancy.alone`), and for functions that take the tenant as an argument and run with their owner's rights.

        Raises the AppError behind a database error. Raises Unavailable when the deadline passes first; the work
        may still have happened.
        """
        try:
            self._breaker.check()
        except BreakerOpen as error:
            raise Unavailable("postgres", "the database is not answering", error.seconds) from error
        await make_way()
        with holding():
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
                self._breaker.failed()
            raise Unavailable("postgres", "the database did not answer in time")
        self._breaker.succeeded()
        return _result(task)

    async def look(
        self, tenant: str, query: Look, arguments: Sequence[Any], deadline: Deadline
    ) -> list[asyncpg.Record]:
        """The rows of one query of the tenant, which is its $1, in one round trip. Raises as `call`."""
        if self._distributed:
            return await self.run(tenant, lambda c: c.fetch(query.within, tenant, *arguments), deadline)
        return await self.call(lambda c: c.fetch(query.alone, tenant, *arguments), deadline)

    async def write(self, query: Look, arguments: Callable[[], Sequence[Any]], deadline: Deadline) -> None:
        """Runs one statement about rows of EVERY_TENANT, in one round trip. Raises as `call`.

        `arguments` are asked for when the connection is there.
        """
        if self._distributed:
            await self.run(EVERY_TENANT, lambda c: c.execute(query.within, *arguments()), deadline)
        else:
            await self.call(lambda c: c.execute(query.alone, *arguments()), deadline)

    async def clock(self) -> float:
        """The time of the server, in Unix seconds."""
        return float(await self.call(lambda c: c.fetchval(clock.NOW), Deadline(_PROBE_SECONDS)))

    async def _probe(self) -> None:
        """Asks on a connection of its own: slow statements may hold every other."""
        with contextlib.suppress(asyncpg.PostgresError):  # an error is an answer too
            connection = await asyncpg.connect(
                self._dsn, server_settings={"application_name": f"{self._application}-probe"}
            )
            try:
                await connection.execute(PROBE)
            finally:
                connection.terminate()

    async def transaction(
        self, tenant: str | Tenants, work: Work[T], deadline: Deadline, *, settings: Mapping[str, str] = _NONE
    ) -> T:
        """As `run`, with the time left as statement_timeout.

        `settings`, constants of the code, hold until the transaction ends.
        """
        more = "".join(f"; SET LOCAL {name} = {value}" for name, value in settings.items())
        timeout = max(1, deadline.left_ms())
        begin = f"BEGIN; {_as_tenant(tenant)}; SET LOCAL statement_timeout = {timeout}{more}"
        return await self._inside(begin, work, deadline)

    async def _inside(self, begin: str, work: Work[T], deadline: Deadline) -> T:
        async def inside(connection: Connection) -> T:
            try:
                await connection.execute(begin)
                result = await work(connection)
            except BaseException:
                if not connection.is_closed():
                    await connection.execute("ROLLBACK")
                raise
            await connection.execute("COMMIT")
            return result

        return await self.call(inside, deadline)

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
        """The held connection, or a new one when there is none or its server has closed it."""
        assert self._pool is not None, "the database is not open"
        if held is not None:
            if not _ended(held.connection):
                return held
            await self._release(held)
        return _Held(await self._pool.acquire(), now)

    async def _release(self, held: _Held) -> None:
        """Releasing a connection twice does nothing."""
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


def _cache_size(dsn: str) -> tuple[str, int]:
    """The address without the driver's option `statement_cache_size`, and how many statements stay prepared.

    The driver would hand the option on to the server. With 0, no statement outlives its transaction.
    """
    address = urlsplit(dsn)
    options = dict(parse_qsl(address.query, keep_blank_values=True))
    size = options.pop(_CACHE_SIZE, None)
    if size is None:
        return dsn, _CACHED_STATEMENTS
    if not size.isdecimal():
        raise SettingsError([f"{_CACHE_SIZE} in DATABASE_URL is not a whole number: {size!r}"])
    return urlunsplit(address._replace(query=urlencode(options))), int(size)


def _as_tenant(tenant: str | Tenants) -> str:
    """The policies of the tables compare with these settings, which end with the transaction."""
    if isinstance(tenant, Tenants):
        return f"SET LOCAL scrubjay.every_tenant = {tenant.value}"
    quoted = tenant.replace("\\", r"\\").replace("'", "''")
    return f"SET LOCAL scrubjay.tenant = E'{quoted}'"


def _broke_off(connection: Connection, error: Exception) -> bool:
    """Whether the server closed the connection mid-way, which can raise unexpected errors in the driver."""
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
        return True  # the pool has taken it back, because its server closed it


async def _prepare(connection: asyncpg.Connection[asyncpg.Record]) -> None:
    await register_vector(connection)
    await connection.set_type_codec(
        "jsonb", schema="pg_catalog", encoder=_to_jsonb, decoder=_from_jsonb, format="binary"
    )
    if (record := query_spans.query_logger()) is not None:
        connection.add_query_logger(record)


async def _keep(_: Any) -> None:
    """Skips the RESET ALL when a connection returns to the pool: no setting here outlives its transaction."""


def _to_jsonb(value: Any) -> bytes:
    return b"\x01" + msgspec.json.encode(value)


def _from_jsonb(value: bytes) -> Any:
    return msgspec.json.decode(value[1:])
