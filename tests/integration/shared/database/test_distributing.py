"""The statements that distribute the tables, on a database where a stand-in notes what Citus would do.

What Citus itself makes of them is for `make proof-citus`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import asyncpg
import pytest

from local.database import Database
from services.agent_memory import tables as _memory  # noqa: F401
from services.cache import tables as _cache  # noqa: F401
from services.context import tables as _context  # noqa: F401
from shared.database.distribution import HANDED_ON, RESET_PLANS, distributed, statements
from shared.database.postgres import HAS_CITUS, Connection
from shared.database.schema import metadata

STAND_IN = """
create table public.pg_dist_partition (logicalrelid regclass, partkey text, beside text);
create function public.create_distributed_table(p_table text, p_column text, colocate_with text) returns void
language sql as $$ insert into public.pg_dist_partition values (p_table::regclass, p_column, colocate_with) $$;
"""
KEYS = """
select c.conrelid::regclass::text as name, array_agg(a.attname::text order by k.place) as columns
from pg_constraint c, unnest(c.conkey) with ordinality k(number, place)
join pg_attribute a on a.attnum = k.number
where c.contype = 'p' and a.attrelid = c.conrelid and c.conrelid = any($1::text[]::regclass[])
group by 1
"""
FIXED_PLANS = "select count(*) from pg_proc where array_to_string(proconfig, ' ') like '%plan_cache_mode%'"


@pytest.fixture
async def owner(fresh_database: Database) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(fresh_database.admin)
    yield connection
    await connection.close()


async def test_the_statements_run_and_run_again(owner: Connection) -> None:
    await owner.execute(STAND_IN)
    names = [name for name, _ in distributed(metadata)]
    for _ in range(2):
        for statement in statements(metadata):
            await owner.execute(statement)
        rows = await owner.fetch("select logicalrelid::text, partkey, beside from pg_dist_partition")
        assert [row["logicalrelid"] for row in rows] == names
        assert {row["partkey"] for row in rows} == {"tenant"}
        assert [row["beside"] for row in rows] == ["none", *[names[0]] * (len(names) - 1)]
    for row in await owner.fetch(KEYS, names):
        assert "tenant" in row["columns"], row["name"]
    # Events are written, numbered and read as before.
    await owner.execute("insert into timeline.events (tenant, scope, kind) values ('t', 'shared', 'test')")
    assert await owner.fetchval("select last_number from timeline.number_tenant('t', 10)") == 1


async def test_no_function_keeps_a_plan_for_all_tenants(owner: Connection) -> None:
    assert await owner.fetchval(FIXED_PLANS) > 0
    await owner.execute(RESET_PLANS)
    assert await owner.fetchval(FIXED_PLANS) == 0


async def test_plain_postgres_is_known(owner: Connection) -> None:
    assert await owner.fetchval(HAS_CITUS) is False
    assert await owner.fetchval(HANDED_ON) is False
    await owner.execute("set citus.propagate_set_commands = 'local'")
    assert await owner.fetchval(HANDED_ON) is True
