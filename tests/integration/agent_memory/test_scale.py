"""Search over many agents' memories: recall, and the indexes it takes. A short form of `make bench-recall`."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import numpy as np
import pytest
from pgvector import HalfVector
from pgvector.asyncpg import register_vector

from bench.recall import data, measuring
from local.database import Database, create_database, drop_database
from services.agent_memory.memories import queries_search as queries
from shared.database.schema import function
from shared.search.counts import HNSW_SETTINGS, Common
from shared.search.evidence import DEPTH
from shared.search.sql import Forms, Values
from shared.search.store import StoreQuery
from tests.conftest import Servers

ROWS = 5_000
HELD = data.one_tenant(ROWS)
QUESTIONS = 30


@pytest.fixture(scope="module")
async def filled(
    servers: Servers, template: str
) -> AsyncIterator[tuple[asyncpg.Connection[Any], asyncpg.Connection[Any]]]:
    """Connections of the service's role and of the owner."""
    server = servers.postgres.dsn()
    database: Database = await create_database(server, "memories_at_scale", template=template)
    service = await asyncpg.connect(database.services["agent_memory"])
    owner = await asyncpg.connect(database.owner)
    for connection in (service, owner):
        await register_vector(connection)
        # As for many more rows: for these few, reading and sorting all would be cheaper than HNSW.
        await connection.execute("set enable_sort = off")
    await data.load(owner, HELD)
    yield service, owner
    await service.close()
    await owner.close()
    await drop_database(server, database.name)


async def test_own_search_finds_all_and_peers_by_hnsw_nearly_all(
    filled: tuple[asyncpg.Connection[Any], asyncpg.Connection[Any]],
) -> None:
    figures = await measuring.measure(*filled, HELD, count=QUESTIONS, exact_up_to=0)
    assert figures["own"]["recall_at_10"] == 1.0, figures
    assert figures["peers"]["recall_at_10"] >= 0.98, figures


# --- plans of the hot statements at 100,000 rows ---------------------------------------------------------------

TENANT, MODEL = "plans", "a-model"
AGENTS, EACH = 100, 1_000
FILL_ITEMS = f"""
insert into memory.agent_memory
    (tenant, agent_name, content, content_hash, memory_type, token_count, chunks, written_by, source_kind)
select $1, 'agent-' || 1 + n % {AGENTS},
       'The gateway answers slowly and the queue grows because of node' || n || ' in region' || n % 7,
       sha256(convert_to(n::text, 'utf8')), 'lesson_learned', 20, 1, 'k', 'agent'
from generate_series(1, {AGENTS * EACH}) n
"""
FILL_CHUNKS = """
insert into memory.agent_memory_chunks
    (tenant, scope, item_id, chunk, chunks, start, stop, words, private, tsv)
select m.tenant, m.scope, m.id, 0, 1, 0, length(m.content), w.words, false, w.tsv
from memory.agent_memory m
cross join lateral memory.chunk_words(
    null, array[0], array[length(m.content)], array[m.content], array['english'], array[''], '', null) w
where m.tenant = $1
"""
FILL_VECTORS = """
insert into memory.agent_memory_vec (tenant, scope, item_id, chunk, model, large, embedding)
select m.tenant, m.scope, m.id, 0, $2, true, c.embedding
from memory.agent_memory m
join unnest($3::int[], $4::halfvec[]) c(place, embedding) on c.place = m.id % cardinality($3)
where m.tenant = $1
"""
# For plans a coarse graph does as well, and is built in a tenth of the time.
NEAREST = """
create index agent_memory_vec_nearest on memory.agent_memory_vec
using hnsw (embedding halfvec_cosine_ops) with (m = 4, ef_construction = 8) where large
"""


@pytest.fixture(scope="module")
async def large(servers: Servers, template: str) -> AsyncIterator[asyncpg.Connection[Any]]:
    """100,000 memories of 100 agents, vacuumed; as the service's role."""
    server = servers.postgres.dsn()
    database: Database = await create_database(server, "memory_plans", template=template)
    owner = await asyncpg.connect(database.owner)
    await register_vector(owner)
    random = np.random.default_rng(7).normal(size=(5_000, 512)).astype(np.float32)
    await owner.execute("drop index memory.agent_memory_vec_nearest")
    await owner.execute(FILL_ITEMS, TENANT)
    await owner.execute(FILL_CHUNKS, TENANT)
    await owner.execute(
        FILL_VECTORS, TENANT, MODEL, list(range(len(random))), [HalfVector(one) for one in random]
    )
    await owner.execute("set maintenance_work_mem = '512MB'")
    await owner.execute(NEAREST)
    for table in ("agent_memory", "agent_memory_chunks", "agent_memory_vec"):
        await owner.execute(f"vacuum analyze memory.{table}")
    await owner.close()
    connection = await asyncpg.connect(
        database.services["agent_memory"], server_settings={"scrubjay.tenant": TENANT}
    )
    await register_vector(connection)
    yield connection
    await connection.close()
    await drop_database(server, database.name)


async def plan(c: asyncpg.Connection[Any], statement: str, *values: Any) -> str:
    return "\n".join(row[0] for row in await c.fetch(f"explain {statement}", *values))


async def plan_of_search(
    c: asyncpg.Connection[Any], forms: Forms, values: Values, *, approximate: bool = False
) -> str:
    statement = forms.of(values, approximate=approximate)
    async with c.transaction():
        for name, value in HNSW_SETTINGS.items() if approximate else ():
            await c.execute(f"set local {name} = {value}")
        return await plan(c, statement.sql, *statement.arguments(values))


def asked(users: list[str] | None = None) -> StoreQuery:
    vector = HalfVector(np.ones(512, np.float32))
    return StoreQuery(
        query="why does the gateway answer slowly?", vector=vector, model=MODEL, depth=DEPTH, users=users
    )


@pytest.mark.parametrize("users", [None, ["alice", "bob"]], ids=["all users", "some users"])
async def test_the_plan_of_own_search(large: asyncpg.Connection[Any], users: list[str] | None) -> None:
    values = asked(users).values(queries.own_scope(TENANT, "agent-7"))
    own = await plan_of_search(large, queries.SEARCH_OWN, values)
    assert "using agent_memory_vec_of_scope" in own
    scan = own.partition("using agent_memory_vec_of_scope")[2].partition("->")[0]
    assert "InitPlan" not in scan, "a policy looks at each vector"
    assert "Backward using agent_memory_accessed_before" in own
    assert "Backward using accesses_most" in own
    assert "agent_memory_vec_nearest" not in own
    assert "Seq Scan on agent_memory" not in own
    assert ("Index Scan using agent_memory_pkey on agent_memory u" in own) == (users is not None)


@pytest.mark.parametrize("users", [None, ["alice"]], ids=["all users", "some users"])
async def test_the_plan_of_peers_search(large: asyncpg.Connection[Any], users: list[str] | None) -> None:
    common = Common(["gateway", "slowli"], [AGENTS * EACH] * 2)
    values = asked(users).values(
        queries.peers_scope(TENANT, "agent-7"), documents=AGENTS * EACH, common=common
    )
    peers = await plan_of_search(large, queries.SEARCH_PEERS, values, approximate=True)
    assert "Index Scan using agent_memory_vec_nearest" in peers
    assert "Bitmap Index Scan on agent_memory_chunks_words" in peers
    assert "Seq Scan on agent_memory" not in peers
    assert ("Index Scan using agent_memory_pkey on agent_memory u" in peers) == (users is not None)


FIND_SAME_FACTS_ARGUMENTS = {
    "p_tenant": "text",
    "p_agents": "text[]",
    "p_facts": "bytea[]",
    "p_stated": "bigint[]",
    "p_vectors": "halfvec[]",
    "p_private": "boolean[]",
    "p_users": "text[]",
    "p_model": "text",
    "p_distance": "float8",
    "p_itself": "bigint",
}


def statement_of(version: str, arguments: dict[str, str]) -> str:
    """What a function's last statement runs, which EXPLAIN does not show for a call of it."""
    body = function(version).rpartition("return query")[2].rpartition(";\nend $$")[0]
    for place, (name, kind) in enumerate(arguments.items(), 1):
        body = re.sub(rf"\b{name}\b", f"${place}::{kind}", body)
    return body


async def test_the_plan_of_finding_repeats(large: asyncpg.Connection[Any]) -> None:
    vector, each = HalfVector(np.ones(512, np.float32)), 2
    commits = [
        ["agent-7"] * each,
        [b"fact"] * each,
        [7] * each,
        [vector] * each,
        [False] * each,
        [None, "alice"],
    ]
    body = statement_of("memory.find_same_facts_v1", FIND_SAME_FACTS_ARGUMENTS)
    found = await plan(large, body, TENANT, *commits, MODEL, 0.2, 0)
    assert "using agent_memory_stated" in found
    assert "agent_memory_tenant_agent_name_content_hash_key" in found
    assert "using agent_memory_vec_pkey" in found
    assert "agent_memory_vec_nearest" not in found
    assert "Seq Scan" not in found
