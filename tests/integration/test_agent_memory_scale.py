"""Search over many agents' memories: recall, and the indexes it takes. A short form of `make bench-recall`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest
from pgvector.asyncpg import register_vector

from bench import recall
from local.database import Database, create_database, drop_database
from services.agent_memory import queries, queries_writes
from shared.search.counts import HNSW_SETTINGS, NONE_COMMON
from shared.search.evidence import DEPTH
from shared.search.sql import scope_key
from tests.conftest import Servers

ROWS = 5_000
HELD = recall.one_tenant(ROWS)
QUESTIONS = 30


@pytest.fixture(scope="module")
async def filled(servers: Servers, template: str) -> AsyncIterator[asyncpg.Connection[Any]]:
    server = servers.postgres.dsn()
    database: Database = await create_database(server, "memories_at_scale", template=template)
    connection = await asyncpg.connect(database.owner)
    await register_vector(connection)
    await recall.load(connection, HELD)
    # As for many more rows: for these few, reading and sorting all would be cheaper than HNSW.
    await connection.execute("set enable_sort = off")
    yield connection
    await connection.close()
    await drop_database(server, database.name)


async def test_own_search_finds_all_and_peers_by_hnsw_nearly_all(filled: asyncpg.Connection[Any]) -> None:
    figures = await recall.measure(filled, HELD, count=QUESTIONS, exact_up_to=0)
    assert figures["own"]["recall_at_10"] == 1.0, figures
    assert figures["peers"]["recall_at_10"] >= 0.98, figures


async def plan(c: asyncpg.Connection[Any], statement: str, *values: Any) -> str:
    return "\n".join(row[0] for row in await c.fetch(f"explain {statement}", *values))


async def test_the_plans(filled: asyncpg.Connection[Any]) -> None:
    (asked, *_) = await recall.questions(filled, HELD, 1)
    common = (asked.tenant, asked.text, asked.vector, recall.MODEL, DEPTH)
    own_key = [scope_key(asked.tenant, asked.scope)]
    every_key = [scope_key(asked.tenant, queries.EVERY_AGENT)]
    own = await plan(
        filled, queries.SEARCH_OWN, *common, own_key, None, *NONE_COMMON, asked.scope, None, None
    )
    assert "Index Only Scan using agent_memory_vec_scope" in own
    assert "Backward using agent_memory_accessed" in own
    assert "agent_memory_vec_nearest" not in own
    assert "Seq Scan on agent_memory_" not in own
    async with filled.transaction():
        for name, value in HNSW_SETTINGS.items():
            await filled.execute(f"set local {name} = {value}")
        peers = await plan(
            filled,
            queries.SEARCH_PEERS_APPROXIMATE,
            *common,
            every_key,
            ROWS,
            *NONE_COMMON,
            asked.scope,
            None,
        )
    assert "Index Scan using agent_memory_vec_nearest" in peers
    assert "agent_memory_chunks_scoped" in peers
    assert "Seq Scan on agent_memory_" not in peers
    near = await plan(
        filled, queries_writes.NEAREST, asked.tenant, asked.agent, recall.MODEL, asked.vector, 0.2, False, 0
    )
    assert "Index Only Scan using agent_memory_vec_scope" in near
