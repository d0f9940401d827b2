"""The queue and the list of who was given an item stay bounded on large tables."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import asyncpg
import pytest

import local.database
from services.agent_memory.review import queries_facts, queries_long_term, queries_memories
from services.cache.review import queries as queries_entries
from services.context.log import queries as log
from shared.database.postgres import Connection
from shared.provenance import TRUSTED
from shared.review.reviews import Reviews
from tests.conftest import Servers

TENANT = "plans"
ROWS = 100_000
FILL_LOG = f"""
insert into context.context_assembly_log (
    tenant, id, caller, mission_namespace, scopes, query_hash, token_budget, total_tokens, retrieval_ms, low_relevance,
    taken, created_at)
select '{TENANT}', n, 'agent-' || n % 50, 'mission-' || n % 20, array['mission:mission-' || n % 20], '\\x00', 4000,
       900, 20, false, array(select 'cache:' || (n * 7 + k) % 5000 from generate_series(1, 20) k),
       now() - n * interval '1 second'
from generate_series(1, {ROWS}) n
"""
FILL_ENTRIES = f"""
insert into cache.psychic_cache (tenant, mission_id, context_type, content, token_count, written_by, source_kind,
                                 created_at, expires_at)
select '{TENANT}', 'mission-0', 'intel', 'Lesson ' || n, 20, 'test', 'agent', now(), 'infinity'
from generate_series(1, {ROWS}) n
"""
FILL_REVIEWS = f"""
insert into cache.reviews (tenant, store, state, item_id, marked, scope, subjects)
select '{TENANT}', 'psychic_cache', 'approved', n, n, 'mission:mission-0', array['mission:mission-0']
from generate_series(1, {ROWS}) n
"""
MISSION = f"insert into cache.missions (tenant, mission_id) values ('{TENANT}', 'mission-0')"
ANALYZE = "analyze cache.psychic_cache, cache.reviews, context.context_assembly_log"


@pytest.fixture(scope="module")
async def crowded(servers: Servers, template: str) -> AsyncIterator[local.database.Database]:
    server = servers.postgres.dsn()
    database = await local.database.create_database(server, "review_plans", template=template)
    owner = await asyncpg.connect(database.admin)
    for statement in (MISSION, FILL_LOG, FILL_ENTRIES, FILL_REVIEWS, ANALYZE):
        await owner.execute(statement)
    await owner.close()
    yield database
    await local.database.drop_database(server, database.name)


async def connected(database: local.database.Database, service: str) -> Connection:
    settings = {"scrubjay.tenant": TENANT}
    return await asyncpg.connect(database.services[service], server_settings=settings)


async def nodes(c: Connection, sql: str, *arguments: Any) -> list[dict[str, Any]]:
    (row,) = await c.fetch(f"explain (analyze, buffers, format json) {sql}", *arguments)
    return list(_nodes(json.loads(row[0])[0]["Plan"]))


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", []):
        yield from _nodes(child)


async def test_who_was_given_it_looks_at_one_window(crowded: local.database.Database) -> None:
    c = await connected(crowded, "context")
    nobody = (None, None, None)
    arguments = (TENANT, *nobody, ["cache:77"], None, None, None, None, None, None, 101)
    plan = await nodes(c, log.GIVEN, *arguments)
    read = max(
        each["Actual Rows"] * each["Actual Loops"] for each in plan if "context_assembly_log" in _name(each)
    )
    assert read <= log.GIVEN_LOOKED_AT
    assert not [each for each in plan if each["Node Type"] == "Seq Scan"]
    (first, *_) = await c.fetch(log.GIVEN, *arguments)
    assert first["looked"] == log.GIVEN_LOOKED_AT
    # One caller's come by the index of callers.
    narrowed = (TENANT, *nobody, ["cache:77"], "agent-7", None, None, None, None, None, 101)
    rows = await c.fetch(log.GIVEN, *narrowed)
    assert {row["caller"] for row in rows if row["assembly_id"] is not None} <= {"agent-7"}
    assert rows[0]["looked"] == ROWS // 50
    await c.close()


def _name(node: dict[str, Any]) -> str:
    return str(node.get("Relation Name", ""))


async def test_a_page_of_the_queue_looks_at_so_many(crowded: local.database.Database) -> None:
    c = await connected(crowded, "cache")
    arguments = (TENANT, None, None, None, None, None, sorted(TRUSTED), 51, False)
    plan = await nodes(c, queries_entries.QUEUE, *arguments)
    entries = [each for each in plan if _name(each) == "psychic_cache"]
    assert max(each["Actual Rows"] for each in entries) <= queries_entries.LOOKED_AT
    assert not [each for each in plan if each["Node Type"] == "Seq Scan"]
    waiting = await nodes(c, Reviews("cache").list_sql, TENANT, None, None, None, None, None, None, 51)
    assert [each["Index Name"] for each in waiting if "Index Name" in each] == ["reviews_waiting"]
    await c.close()


def test_every_page_is_bounded() -> None:
    for queries in (queries_entries, queries_memories, queries_long_term, queries_facts):
        assert f"limit {queries.LOOKED_AT}" in queries.QUEUE
    assert f"limit {queries_memories.COMPARED}" in queries_memories.NEAR
    assert f"limit {queries_facts.LOOKED_AT}" in queries_facts.DISPUTES
