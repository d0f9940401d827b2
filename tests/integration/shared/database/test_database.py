"""Connections that are held come and go as their server does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import nullcontext

import asyncpg
import pytest

from local.database import Database
from services.cache.entries.queries_search import HOT
from shared.database.postgres import Connection
from shared.database.postgres import Database as Pool
from shared.deadline import Deadline
from shared.errors import Unavailable
from shared.search.hot.statements import ScopeValues, copied
from shared.settings import SettingsError
from tests.support.calls import until

_CONNECTIONS = 3
_ALIVE = "select count(*) from pg_stat_activity where pid = any($1::int[])"
# Another prepared query would make the driver close what it no longer needs.
_NOTHING_PREPARED = "do $$ begin assert not exists (select from pg_prepared_statements); end $$"
_END = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'held'"


@pytest.fixture
async def pool(database: Database) -> AsyncIterator[Pool]:
    pool = Pool(database.services["cache"], connections=_CONNECTIONS, application="held")
    await pool.open()
    yield pool
    await pool.close()


async def pid(connection: Connection) -> int:
    await connection.execute("select pg_sleep(0.05)")
    found: int = await connection.fetchval("select pg_backend_pid()")
    return found


async def every(pool: Pool) -> set[int]:
    """All connections at once."""
    return set(await asyncio.gather(*(pool.call(pid, Deadline(10)) for _ in range(_CONNECTIONS))))


async def test_what_its_server_ended_is_replaced_unseen(pool: Pool, sql: Connection) -> None:
    before = await every(pool)
    assert len(before) == _CONNECTIONS
    assert await every(pool) == before
    await sql.execute(_END)

    async def gone() -> None:
        assert await sql.fetchval(_ALIVE, before) == 0

    await until(gone)
    await asyncio.sleep(0.5)  # until the news is here, through whatever stands between
    after = await every(pool)
    assert len(after) == _CONNECTIONS
    assert not after & before


@pytest.mark.parametrize(("option", "stay"), [("", True), ("?statement_cache_size=0", False)])
async def test_with_a_cache_of_0_no_statement_stays_with_the_server(
    database: Database, option: str, stay: bool
) -> None:
    pool = Pool(f"{database.services['cache']}{option}", connections=1)
    await pool.open()
    try:
        scopes = ScopeValues(tenant="t", scope=["m"], names=["m"], model="bge")

        async def work(c: Connection) -> None:
            assert await c.fetchval("select $1::int + 1", 1) == 2
            await c.executemany("select $1::int", [(1,), (2,)])
            assert [rows async for rows in copied(c, HOT, scopes)] == []

        await pool.run("t", work, Deadline(10))
        with nullcontext() if not stay else pytest.raises(asyncpg.AssertError):
            await pool.call(lambda c: c.execute(_NOTHING_PREPARED), Deadline(10))
    finally:
        await pool.close()


@pytest.mark.parametrize("size", ["", "off", "-1", "1.5"])
def test_a_size_that_is_none_refuses_to_start(size: str) -> None:
    with pytest.raises(SettingsError, match="statement_cache_size in DATABASE_URL"):
        Pool(f"postgresql://db/scrubjay?statement_cache_size={size}")


async def test_what_failed_or_was_given_up_leaves_its_place(pool: Pool) -> None:
    for _ in range(2 * _CONNECTIONS):
        with pytest.raises(ZeroDivisionError):
            await pool.call(failing, Deadline(5))
        with pytest.raises(Unavailable):
            await pool.call(lambda c: c.execute("select pg_sleep(5)"), Deadline(0.1))
    assert len(await every(pool)) == _CONNECTIONS


async def test_slow_statements_do_not_open_the_breaker(pool: Pool) -> None:
    """They hold every connection, again and again, and the server is well all the while."""
    for _ in range(3):
        slow = [
            pool.call(lambda c: c.execute("select pg_sleep(5)"), Deadline(0.3))
            for _ in range(2 * _CONNECTIONS)
        ]
        assert all(
            isinstance(error, Unavailable) for error in await asyncio.gather(*slow, return_exceptions=True)
        )
        assert len(await every(pool)) == _CONNECTIONS


async def test_a_server_that_accepts_and_says_nothing_opens_the_breaker() -> None:
    silent = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    pool = Pool(f"postgresql://somebody:secret@127.0.0.1:{port}/anything", connections=8, application="held")
    pool._pool = asyncpg.create_pool(pool._dsn, min_size=0, max_size=8)
    await pool._pool
    try:

        async def refused_at_once() -> None:
            with pytest.raises(Unavailable, match="not answering"):
                await pool.call(lambda c: c.execute("select 1"), Deadline(0.3))

        await until(refused_at_once)
    finally:
        silent.close()
        await pool.close()


async def failing(connection: Connection) -> None:
    raise ZeroDivisionError


async def test_it_closes_while_work_goes_on(database: Database, sql: Connection) -> None:
    pool = Pool(database.services["cache"], connections=2, application="held")
    await pool.open()
    working = asyncio.create_task(pool.call(lambda c: c.execute("select pg_sleep(30)"), Deadline(30)))
    await asyncio.sleep(0.2)
    await pool.close()
    with pytest.raises(Unavailable):
        await working
