"""What a search reads of items with many chunks: their own texts, each found by its key even without statistics."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import asyncpg
import msgspec
import numpy as np
import pytest
from pgvector import HalfVector
from pgvector.asyncpg import register_vector

from local.database import Database
from services.agent_memory.memories.queries_search import HOT_OWN
from shared.database.postgres import Connection
from shared.search.hot.statements import MOST_CHANGED, ChangesValues, ChosenValues, NearestValues, ScopeValues
from shared.search.sql import Statement
from tests.integration.conftest import Tenant
from tests.support.calls import lesson
from tests.support.cluster import Client

TENANT, AGENT, MODEL = "plans", "scout", "a-model"
ITEMS, CHUNKS = 20, 400
# PostgreSQL plans a statement for its values so often before it compares.
_PLANNED_AT_FIRST = 5
# Few items are looked through for each chunk, and a row passes through some steps of a plan.
READ_EACH = 3 * ITEMS
VECTOR = HalfVector(np.ones(512, np.float32))


@pytest.fixture
async def client(tenant: Tenant) -> Client:
    return await tenant.client("admin")


def long_text(name: str) -> str:
    lines = [f"Buoy {number} floats near pier {number}." for number in range(200)]
    lines[150] = f"A zeppelin holds {name}."
    return " ".join(lines)


async def asked(client: Client, name: str) -> list[dict[str, Any]]:
    body = {"agent_name": "scout", "query": f"Does a zeppelin hold {name}?", "limit": 3}
    answer = await client.post("/api/agent-memory/query", body)
    assert answer.status == 200, answer
    found: list[dict[str, Any]] = answer.body["memories"]
    return found


async def bodies(sql: Connection, memory: int) -> list[str | None]:
    rows = await sql.fetch(
        "select body from memory.agent_memory_chunks where item_id = $1 order by chunk", memory
    )
    return [row["body"] for row in rows]


async def test_a_found_chunk_has_its_text_with_and_without_a_text_of_its_own(
    client: Client, sql: Connection
) -> None:
    """The release before wrote none. An edit writes them anew."""
    name = f"Lock-{uuid4().hex[:6]}"
    made = await client.post("/api/agent-memory/commit", lesson("scout", long_text(name)))
    assert made.status == 201, made
    memory = made.body["memory_id"]
    assert "".join(map(str, await bodies(sql, memory))).replace(" ", "") == long_text(name).replace(" ", "")
    (found,) = await asked(client, name)
    assert f"A zeppelin holds {name}." in found["content"]
    assert found["truncated"]
    await sql.execute("update memory.agent_memory_chunks set body = null where item_id = $1", memory)
    assert [each["content"] for each in await asked(client, name)] == [found["content"]]
    edited = f"No zeppelin holds {name}."
    answer = await client.call("PATCH", f"/api/agent-memory/{memory}", {"content": edited})
    assert answer.status == 200, answer
    assert await bodies(sql, memory) == [None]
    assert [each["content"] for each in await asked(client, name)] == [edited]


FILL = """
with item as (
    insert into memory.agent_memory
        (tenant, agent_name, content, content_hash, memory_type, token_count, chunks, written_by, source_kind)
    select $1, $2, 'item' || n, sha256(convert_to(n::text, 'utf8')), 'lesson_learned', 20, $4, 'k', 'agent'
    from generate_series(1, $3) n returning id
), chunk as (
    insert into memory.agent_memory_chunks (tenant, scope, item_id, chunk, chunks, start, stop, words, tsv)
    select $1, 'agent:' || $2, id, c, $4, 0, 1, 1, 'item' from item, generate_series(0, $4 - 1) c
)
insert into memory.agent_memory_vec (tenant, scope, item_id, chunk, model, embedding)
select $1, 'agent:' || $2, id, c, $5, $6::halfvec from item, generate_series(0, $4 - 1) c
"""


@pytest.fixture
async def unknown(fresh_database: Database) -> AsyncIterator[asyncpg.Connection[Any]]:
    """Tables of which the planner knows nothing yet, as after a first import."""
    owner = await asyncpg.connect(fresh_database.owner)
    await register_vector(owner)
    for table in ("agent_memory", "agent_memory_chunks", "agent_memory_vec"):
        await owner.execute(f"alter table memory.{table} set (autovacuum_enabled = off)")
    await owner.execute(f"set scrubjay.tenant = '{TENANT}'")
    await owner.execute(FILL, TENANT, AGENT, ITEMS, CHUNKS, MODEL, VECTOR)
    await owner.close()
    service = await asyncpg.connect(
        fresh_database.services["agent_memory"], server_settings={"scrubjay.tenant": TENANT}
    )
    await register_vector(service)
    yield service
    await service.close()


SCOPE: dict[str, Any] = {"tenant": TENANT, "scope": f"agent:{AGENT}"}
OF_SCOPE: dict[str, Any] = {**SCOPE, "names": [f"agent:{AGENT}"], "model": MODEL}
SOME: dict[str, Any] = {"items": [*range(1, 11)], "numbers": [7] * 10}
QUESTION: dict[str, Any] = {"configs": ["english"], "texts": ["item"], "terms": []}
HOT: dict[str, tuple[Statement, Any, int]] = {
    "copied": (HOT_OWN.copied, ScopeValues(**OF_SCOPE), ITEMS * CHUNKS),
    "changes": (
        HOT_OWN.changes,
        ChangesValues(**OF_SCOPE, **QUESTION, snapshots=[], pending=SOME["items"], documents=ITEMS * CHUNKS),
        MOST_CHANGED + 1,
    ),
    "nearest": (HOT_OWN.nearest, NearestValues(tenant=TENANT, model=MODEL, vector=VECTOR, **SOME), 10),
    "chosen": (HOT_OWN.chosen, ChosenValues(**SCOPE, **SOME, versions=[None] * 10), 10),
}


@pytest.mark.parametrize("name", HOT)
async def test_a_copy_reads_no_row_again_and_again(unknown: asyncpg.Connection[Any], name: str) -> None:
    """Without statistics, the planner takes the tenant's rows for few."""
    statement, values, found = HOT[name]
    if name == "changes":
        seen = await unknown.fetchval("select pg_current_snapshot()")
        values = msgspec.structs.replace(values, snapshots=[seen])
    given = [getattr(values, parameter) for parameter in statement.parameters]
    explained = await unknown.fetchval(f"explain (analyze, timing off, format json) {statement.sql}", *given)
    (plan,) = json.loads(explained)
    assert plan["Plan"]["Actual Rows"] == found
    assert _read(plan["Plan"]) < READ_EACH * found


def _read(node: dict[str, Any]) -> float:
    """The rows that a part of a plan read, each as often as it did."""
    removed = sum(node.get(name, 0) for name in ("Rows Removed by Filter", "Rows Removed by Join Filter"))
    below = sum(map(_read, node.get("Plans", [])))
    return float((node["Actual Rows"] + removed) * node["Actual Loops"] + below)


async def test_a_question_to_a_copy_is_not_planned_anew_each_time(unknown: asyncpg.Connection[Any]) -> None:
    """A plan for arrays of one element shall seem no cheaper than one for arrays of any length."""
    statement, values, _ = HOT["changes"]
    seen = await unknown.fetchval("select pg_current_snapshot()")
    for documents in (None, ITEMS * CHUNKS):
        values = msgspec.structs.replace(values, snapshots=[seen], pending=[], documents=documents)
        prepared = await unknown.prepare(statement.sql, name=f"with {documents}")
        for _ in range(_PLANNED_AT_FIRST + 3):
            await prepared.fetch(*(getattr(values, parameter) for parameter in statement.parameters))
        plans = "select generic_plans, custom_plans from pg_prepared_statements where name = $1"
        (made,) = await unknown.fetch(plans, f"with {documents}")
        assert tuple(made) == (3, _PLANNED_AT_FIRST)
