"""What is read of a session is read from its own rows, however many sessions there are."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any, NamedTuple
from uuid import UUID, uuid4

import asyncpg
import pytest

from local.database import Database
from services.cache.sessions.objects import queries

SESSIONS, OBJECTS = 40, 500
TENANT = f"plans-{uuid4()}"
_SESSION = UUID(int=7)
_LOAD_SESSIONS = """
insert into sessions.sessions (tenant, id, external_id, scope, marks, written_by)
select $1, ('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid, n::text, 'shared', 'b2c3d4', 'plans'
from generate_series(1, $2::int) n
"""
_LOAD_OBJECTS = """
insert into sessions.semantic_objects (tenant, session_id, object_type, source_key, segment, content_full, content_hash,
    stub, current_fidelity, sent_fidelity, place, created_turn, last_accessed_turn, tokens_l0, tokens_l3)
select $1, s.id, 'file_context', 'file' || n % 10, n, 'text ' || n, sha256(n::text::bytea), 'line ' || n, n % 5, n % 5,
       n, 0, 0, 100, 10
from sessions.sessions s cross join generate_series(1, $2::int) n where s.tenant = $1 order by n, s.id
"""


class Planned(NamedTuple):
    sql: str
    arguments: tuple[Any, ...]
    by: str
    rows: int
    """Objects that may be read at most."""


# A key without bounds, and the session's id.
_NAMED = (None, None, None, _SESSION, str(_SESSION))
PLANS = {
    "the block": Planned(queries.BLOCK.alone, _NAMED, "semantic_objects_session", OBJECTS),
    "pressure": Planned(queries.PRESSURE_NOW.alone, _NAMED, "semantic_objects_session", OBJECTS),
    "a batch": Planned(queries.PAGED, (_SESSION, 9), "semantic_objects_session", OBJECTS),
    "a source": Planned(queries.KNOWN, (_SESSION, "file3"), "semantic_objects_source", OBJECTS // 10),
}


@pytest.fixture(scope="module")
async def loaded(database: Database) -> AsyncIterator[Database]:
    admin = await asyncpg.connect(database.admin)
    try:
        await admin.execute(_LOAD_SESSIONS, TENANT, SESSIONS)
        await admin.execute(_LOAD_OBJECTS, TENANT, OBJECTS)
        await admin.execute("analyze sessions.sessions, sessions.semantic_objects")
        yield database
        await admin.execute("delete from sessions.sessions where tenant = $1", TENANT)
    finally:
        await admin.close()


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", []):
        yield from _nodes(child)


@pytest.mark.parametrize("name", PLANS)
async def test_rows_of_other_sessions_are_not_read(loaded: Database, name: str) -> None:
    planned = PLANS[name]
    c = await asyncpg.connect(loaded.services["cache"], server_settings={"scrubjay.tenant": TENANT})
    try:
        sql = f"explain (analyze, format json) {planned.sql}"
        text = await c.fetchval(sql, TENANT, *planned.arguments)
    finally:
        await c.close()
    nodes = [*_nodes(json.loads(text)[0]["Plan"])]
    scans = [node for node in nodes if node.get("Relation Name") == "semantic_objects"]
    read = [node["Actual Rows"] + node.get("Rows Removed by Filter", 0) for node in scans]
    assert [node.get("Index Name") for node in scans] == [planned.by]
    assert 0 < max(read) <= planned.rows, read
