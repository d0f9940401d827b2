"""Tables that have grown fast are analyzed soon, so that no connection keeps plans for empty ones."""

from __future__ import annotations

from collections.abc import AsyncIterator

import asyncpg
import pytest

from local.database import Database
from services.context.table_statistics import analyze_grown
from shared.database.postgres import Connection
from shared.database.postgres import Database as Pool
from tests.support.calls import until

ADD = (
    "insert into cache.missions (tenant, mission_id) select 't', 'm' || n from generate_series($1::int, $2) n"
)
COUNTED = "select pg_stat_get_live_tuples('cache.missions'::regclass)"


@pytest.fixture
async def owner(fresh_database: Database) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(fresh_database.owner)
    await connection.execute("alter table cache.missions set (autovacuum_enabled = false)")
    yield connection
    await connection.close()


@pytest.fixture
async def pool(fresh_database: Database) -> AsyncIterator[Pool]:
    pool = Pool(fresh_database.services["context"], connections=1)
    await pool.open()
    yield pool
    await pool.close()


async def add(owner: Connection, first: int, last: int) -> None:
    await owner.execute(ADD, first, last)
    await owner.execute("select pg_stat_force_next_flush()")

    async def counted() -> None:
        assert await owner.fetchval(COUNTED) == last

    await until(counted)


async def test_a_table_is_analyzed_when_it_has_four_times_the_rows(owner: Connection, pool: Pool) -> None:
    assert await analyze_grown(pool) == set()
    await add(owner, 1, 99)
    assert await analyze_grown(pool) == set()
    await add(owner, 100, 200)
    assert await analyze_grown(pool) == {"cache.missions"}
    assert await analyze_grown(pool) == set()
    await add(owner, 201, 799)
    assert await analyze_grown(pool) == set()
    await add(owner, 800, 800)
    assert await analyze_grown(pool) == {"cache.missions"}


async def test_one_replica_analyzes(owner: Connection, pool: Pool) -> None:
    await add(owner, 1, 200)
    async with owner.transaction():
        await owner.execute("select pg_advisory_xact_lock(hashtextextended('analyze grown', 0))")
        assert await analyze_grown(pool) == set()
    assert await analyze_grown(pool) == {"cache.missions"}


async def test_what_is_analyzed_already_is_left_alone(owner: Connection, pool: Pool) -> None:
    await add(owner, 1, 200)
    async with owner.transaction():
        await owner.execute("lock table cache.missions in share update exclusive mode")
        assert await analyze_grown(pool) == {"cache.missions"}
        assert (
            await owner.fetchval("select reltuples from pg_class where oid = 'cache.missions'::regclass")
            == -1
        )
