"""Under the policies, a search in a session and a look for its lines read rows of this session only, by an index."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import asyncpg
from pgvector import HalfVector
from pgvector.asyncpg import register_vector

from local.database import Database
from services.cache.sessions.objects.novelty import SHOWN_LINES
from services.cache.sessions.search import queries
from shared.search.sql import Forms
from shared.search.store import StoreQuery
from tests.integration.sessions.reading.many import SESSION, TENANT

OWN = {"object_chunks", "object_vec", "semantic_objects"}


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", []):
        yield from _nodes(child)


def _search(forms: Forms) -> tuple[str, list[Any]]:
    query = StoreQuery(query="word7 word8", vector=HalfVector([0.1] * 512), model="m")
    values = query.values(queries.session_scope(TENANT, SESSION))
    statement = forms.of(values, approximate=False)
    return statement.sql, statement.arguments(values)


async def test_only_rows_of_the_session_are_read(many_sessions: Database) -> None:
    asked = {
        "all": _search(queries.SEARCH),
        "shrunk": _search(queries.SEARCH_SHRUNK),
        "lines": (SHOWN_LINES, [TENANT, SESSION, ["0a1b2c3d4e5f"], "'=0a1b2c3d4e5f'"]),
    }
    c = await asyncpg.connect(many_sessions.services["cache"], server_settings={"scrubjay.tenant": TENANT})
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
