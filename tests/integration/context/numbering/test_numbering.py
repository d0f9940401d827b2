"""Each tenant's events have numbers of their own, and no tenant waits for another one's."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import pytest

from local.database import Database
from services.context.timeline import queries
from services.context.timeline.following import Channel, Following
from services.context.timeline.numbering import Numbering
from shared.database.postgres import Connection
from shared.database.postgres import Database as Pool
from shared.web.drain import Drain
from tests.support.calls import until

FLOOD = 200_000
EVERY = {"scrubjay.every_tenant": "on"}
INSERT = """
insert into timeline.events (tenant, scope, kind)
select $1, 'mission:m', 'test' from generate_series(1, $2::int)
"""
NUMBERS = "select seq from timeline.events where tenant = $1 order by id"
# The rows that one transaction numbered have its id.
TURNS_BEFORE = """
select count(distinct flood.xmin::text) from timeline.events flood
where flood.tenant = 'flood' and flood.seq is not null and age(flood.xmin) > (
    select min(age(single.xmin)) from timeline.events single where single.tenant = 'single')
"""
ERASED = "select sum(n::int) from jsonb_each_text(context.erase_tenant('back', 2)) as e(name, n)"


@pytest.fixture
async def sql(fresh_database: Database) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(fresh_database.services["context"], server_settings=EVERY)
    yield connection
    await connection.close()


@asynccontextmanager
async def numbering(database: Database, redis_url: str) -> AsyncIterator[Following]:
    pool, following = Pool(database.services["context"]), Following()
    await pool.open()
    numbers = Numbering(pool, redis_url, following)
    numbers.start()
    try:
        yield following
    finally:
        await numbers.stop()
        await pool.close()


async def numbers(connection: Connection, tenant: str) -> list[int]:
    return [row["seq"] for row in await connection.fetch(NUMBERS, tenant)]


async def number_all(connection: Connection, tenant: str, limit: int = 1_000) -> int:
    """The tenant's last number."""
    while (turn := await queries.number_events(connection, tenant, limit)).numbered == limit:
        pass
    assert turn.last is not None
    return turn.last


async def test_each_tenants_numbers_begin_at_1_and_have_no_gap(sql: Connection) -> None:
    for n in range(40):
        await sql.execute(INSERT, f"tenant-{n % 4}", 1)
    for n in range(4):
        assert await number_all(sql, f"tenant-{n}", 3) == 10
        assert await numbers(sql, f"tenant-{n}") == list(range(1, 11))


async def test_one_transaction_at_a_time_numbers_a_tenants_events(
    fresh_database: Database, sql: Connection
) -> None:
    await sql.execute(INSERT, "one", 2)
    await sql.execute(INSERT, "other", 2)
    second = await asyncpg.connect(fresh_database.services["context"], server_settings=EVERY)
    try:
        await number_all(sql, "one")
        await sql.execute(INSERT, "one", 2)
        async with sql.transaction():
            assert await queries.number_events(sql, "one", 10) == (2, 4)
            assert await queries.number_events(second, "one", 10) == (0, None)
            assert await queries.number_events(second, "other", 10) == (2, 2)
        assert await queries.number_events(second, "one", 10) == (0, 4)
    finally:
        await second.close()


async def test_a_tenant_without_events_gets_no_counter(sql: Connection) -> None:
    assert await queries.number_events(sql, "nobody", 10) == (0, 0)
    assert await sql.fetch("select from timeline.counters") == []


async def test_one_event_does_not_wait_for_a_flood_of_another_tenant(
    fresh_database: Database, sql: Connection, redis_url: str
) -> None:
    """By the order of transactions: the flood takes 200 of them, and the event comes after one at most."""
    for _ in range(20):
        await sql.execute(INSERT, "flood", FLOOD // 20)
    await sql.execute(INSERT, "single", 1)
    async with numbering(fresh_database, redis_url):
        await until(lambda: _numbered(sql, "single"))
    assert await sql.fetchval(TURNS_BEFORE) <= 1
    assert await queries.tenants_waiting(sql) == ["flood"]


async def _numbered(connection: Connection, tenant: str) -> None:
    assert None not in await numbers(connection, tenant)


async def test_events_under_a_purge_hold_up_no_other_tenant(
    fresh_database: Database, sql: Connection, redis_url: str
) -> None:
    for tenant in ("held", "other"):
        await sql.execute(INSERT, tenant, 3)
    purge = await asyncpg.connect(fresh_database.services["context"], server_settings=EVERY)
    try:
        async with numbering(fresh_database, redis_url):
            transaction = purge.transaction()
            await transaction.start()
            await purge.execute("delete from timeline.events where tenant = 'held'")
            await sql.execute(INSERT, "held", 3)
            await sql.execute(INSERT, "other", 3)
            await until(lambda: _numbered(sql, "other"))
            await transaction.rollback()
            await until(lambda: _numbered(sql, "held"))
    finally:
        await purge.close()


async def test_streams_hear_what_another_replica_numbered(fresh_database: Database, redis_url: str) -> None:
    owner = await asyncpg.connect(fresh_database.admin)
    try:
        async with (
            numbering(fresh_database, redis_url) as following,
            following.follow("t", Drain()) as channel,
        ):
            await owner.execute("insert into timeline.counters (tenant, last) values ('t', 7)")
            await until(lambda: _at(channel, 7))
    finally:
        await owner.close()


async def _at(channel: Channel, last: int) -> None:
    assert channel.last == last


async def test_the_numbers_of_a_tenant_that_comes_back_go_on(sql: Connection) -> None:
    await sql.execute(INSERT, "back", 5)
    await number_all(sql, "back")
    while await sql.fetchval(ERASED):
        pass
    assert await sql.fetch("select from timeline.counters where tenant = 'back'") == []
    await sql.execute(INSERT, "back", 2)
    assert await number_all(sql, "back") == 7
