"""What is read of many calls is their sums by day, or a page of them in an index: never all of them."""

from __future__ import annotations

import json
import runpy
from collections.abc import AsyncIterator, Iterator
from typing import Any

import asyncpg
import pytest

from local.database import Database
from services.context.costs import queries
from services.context.costs.queries import CostFilter
from services.context.timeline.monitor import AGENTS
from shared.auth import Principal
from shared.costs.ledger import CEILINGS as REACHED
from shared.database.postgres import Connection

CALLS = 100_000
# Twenty agents in ten missions, and two hundred calls to a session, over the last hundred days.
_FILL = """
insert into timeline.costs (tenant, scope, service, kind, model, agent_name, mission_id, session_id, key, input_tokens,
    cost_usd, created_at)
select 't', 'mission:m' || n / 200 % 10, 'caller', 'call', 'model ' || n / 200 % 3, 'a' || n / 200 % 20,
       'm' || n / 200 % 10, 's' || n / 200, 'key:1', n, 0.001, now() - n / 200 % 100 * interval '1 day'
from generate_series(0, $1::int - 1) n
"""
_ADDED_UP = runpy.run_path("alembic/versions/0043_timeline_fill_costs_by_day.py")["FILL"]
_SPENDING = """
insert into timeline.spending (tenant, subject, day, calls, unpriced, usd)
select 't', subject, current_date - n, 1, 0, 1 from generate_series(0, 399) n,
    (select 'mission:m' || g as subject from generate_series(0, 499) g union all select 'tenant') s
"""
_CEILINGS = """
insert into timeline.ceilings (tenant, subject, period, limit_usd, set_by)
select 't', subject, 'all', 1, 'x' from (select 'mission:m' || g as subject from generate_series(0, 499) g
    union all select 'tenant') s
"""


@pytest.fixture
async def filled(fresh_database: Database) -> Database:
    c = await asyncpg.connect(fresh_database.admin)
    await c.execute(_FILL, CALLS)
    await c.execute(_ADDED_UP)
    await c.execute(_SPENDING)
    await c.execute(_CEILINGS)
    await c.execute("analyze timeline.costs, timeline.costs_by_day, timeline.spending, timeline.ceilings")
    await c.close()
    return fresh_database


@pytest.fixture
async def reader(filled: Database) -> AsyncIterator[Connection]:
    settings = {"scrubjay.tenant": "t"}
    c: Connection = await asyncpg.connect(filled.services["context"], server_settings=settings)
    yield c
    await c.close()


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", []):
        yield from _nodes(child)


async def _read(c: Connection, sql: str, *arguments: Any) -> int:
    """How many rows the statement takes from tables. With the plan for any arguments, which is the worst."""
    await c.execute("set plan_cache_mode = force_generic_plan")
    text = await c.fetchval(f"explain (analyze, format json) {sql}", *arguments)
    return sum(
        int((node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"])
        for node in _nodes(json.loads(text)[0]["Plan"])
        if "Relation Name" in node
    )


FILTERS = {
    "tenant": CostFilter(),
    "agent": CostFilter(agent="a7"),
    "mission": CostFilter(mission="m7"),
    "session": CostFilter(session="s7"),
    "model": CostFilter(model="model 1"),
}
PRINCIPAL = Principal("t", "key:1", frozenset({"read"}))


async def test_what_is_read_of_100_000_calls(reader: Connection) -> None:
    days = await reader.fetchval("select count(*) from timeline.costs_by_day")
    assert days == CALLS / 200
    for name, wanted in FILTERS.items():
        bounds = queries._bounds(PRINCIPAL, wanted)
        for by in (None, "agent", "mission", "session", "model"):
            assert await _read(reader, queries.TOTALS, *bounds, by, None, 100) <= days, (name, by)
        read = await _read(reader, queries.LIST, *bounds, None, None, 100)
        print(f"a page of the calls of one {name}: {read} rows")
        assert read <= 3_000, name
    assert await _read(reader, queries.CEILINGS, "t", None, None, None, None, 101) <= 501 * 401
    monitored = ["t", 60, None, None, None, 20_000, 5, None, 101, None, []]
    assert await _read(reader, AGENTS, *monitored) == 0


async def test_totals_are_those_of_the_calls(reader: Connection) -> None:
    everything, *groups = await queries.totals(reader, PRINCIPAL, CostFilter(), "agent", None, 100)
    assert json.loads(everything["all"])["calls"] == CALLS
    assert json.loads(everything["all"])["cost_usd"] == "100"
    assert json.loads(everything["today"])["calls"] == CALLS // 100
    assert json.loads(everything["week"])["calls"] == 7 * CALLS // 100
    assert [row["name"] for row in groups] == sorted(f"a{n}" for n in range(20))
    assert sum(json.loads(row["all"])["input_tokens"] for row in groups) == CALLS * (CALLS - 1) // 2


_FETCHED = """
select coalesce(sum(pg_stat_get_xact_tuples_returned(c.oid) + pg_stat_get_xact_tuples_fetched(c.oid)), 0)::bigint
from pg_class c where c.oid in (
    select unnest(array['timeline.spending'::regclass, 'timeline.spending_pkey', 'timeline.ceilings',
                        'timeline.ceilings_pkey', 'timeline.costs_by_day']))
"""


async def test_whether_a_ceiling_is_reached_reads_its_own_days(filled: Database) -> None:
    """What a call waits for, among 200,000 sums of 501 subjects."""
    c = await asyncpg.connect(filled.admin)
    async with c.transaction():
        rows = await c.fetch(REACHED, "t", "key:1", "m7")
        read = await c.fetchval(_FETCHED)
    await c.close()
    assert [(row["subject"], row["spent_usd"]) for row in rows] == [("mission:m7", 400), ("tenant", 400)]
    print(f"{read} rows of tables and indexes")
    assert read <= 5_000
