"""Under the policies, a search in a session and a look for its lines read rows of this session only, by an index."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from pgvector import HalfVector
from pgvector.asyncpg import register_vector

from local.database import Database
from services.cache.sessions.objects.novelty import SHOWN_LINES
from services.cache.sessions.search import queries
from shared.search.sql import Forms
from shared.search.store import StoreQuery

SESSION = UUID("00000000-0000-4000-8000-000000000001")
# A hundred sessions of the tenant have 120 objects each.
FILL = """
insert into sessions.sessions (tenant, id, external_id, scope, marks, written_by)
select 't', ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 's' || n, 'shared', 'm', 'k'
from generate_series(1, 100) n;
insert into sessions.semantic_objects
    (tenant, session_id, object_type, content_full, content_hash, stub, place, created_turn, last_accessed_turn,
     tokens_l0, tokens_l3)
select 't', ('00000000-0000-4000-8000-' || lpad((1 + n % 100)::text, 12, '0'))::uuid, 'plan', 'word' || n % 40, 'x',
       's', n, 0, 0, 1, 1
from generate_series(1, 12000) n;
insert into sessions.object_chunks (tenant, scope, item_id, chunk, chunks, start, stop, words, tsv)
select tenant, 'session:' || session_id, number, 0, 1, 0, 6, 1, to_tsvector('english', content_full)
from sessions.semantic_objects;
insert into sessions.object_vec (tenant, scope, item_id, chunk, model, embedding)
select tenant, 'session:' || session_id, number, 0, 'm', array_fill(0.1::real, array[512])::halfvec
from sessions.semantic_objects;
analyze sessions.sessions, sessions.semantic_objects, sessions.object_chunks, sessions.object_vec
"""
OWN = {"object_chunks", "object_vec", "semantic_objects"}


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", []):
        yield from _nodes(child)


def _search(forms: Forms) -> tuple[str, list[Any]]:
    query = StoreQuery(query="word7 word8", vector=HalfVector([0.1] * 512), model="m")
    values = query.values(queries.session_scope("t", SESSION))
    statement = forms.of(values, approximate=False)
    return statement.sql, statement.arguments(values)


@pytest.fixture
async def filled(fresh_database: Database) -> Database:
    owner = await asyncpg.connect(fresh_database.admin)
    await owner.execute(FILL)
    await owner.close()
    return fresh_database


async def test_only_rows_of_the_session_are_read(filled: Database) -> None:
    asked = {
        "all": _search(queries.SEARCH),
        "shrunk": _search(queries.SEARCH_SHRUNK),
        "lines": (SHOWN_LINES, ["t", SESSION, ["0a1b2c3d4e5f"], "'=0a1b2c3d4e5f'"]),
    }
    c = await asyncpg.connect(filled.services["cache"], server_settings={"scrubjay.tenant": "t"})
    try:
        await register_vector(c)
        for name, (sql, arguments) in asked.items():
            plan = json.loads(await c.fetchval(f"explain (format json) {sql}", *arguments))[0]["Plan"]
            nodes = [*_nodes(plan)]
            scanned = [node for node in nodes if node.get("Relation Name") in OWN]
            assert [node["Node Type"] for node in scanned if node["Node Type"] == "Seq Scan"] == [], name
            index = "object_chunks_pkey" if name == "lines" else "object_chunks_words"
            assert index in {node.get("Index Name") for node in nodes}, name
    finally:
        await c.close()
