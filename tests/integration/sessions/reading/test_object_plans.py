"""What is read of a session is read from its own rows, however many sessions there are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import asyncpg
import pytest

from local.database import Database
from services.cache.sessions.histories import queries as histories
from services.cache.sessions.objects import queries, queries_write
from tests.integration.sessions.reading.many import OBJECTS, SESSION, TENANT


class Planned(NamedTuple):
    sql: str
    arguments: tuple[Any, ...]
    by: str
    rows: int
    """Objects that may be read at most."""


# A key without bounds, and the session's id.
_NAMED = (None, None, None, SESSION, str(SESSION))
PLANS = {
    "the block": Planned(queries.BLOCK.alone, _NAMED, "semantic_objects_session", OBJECTS),
    "pressure": Planned(queries.PRESSURE_NOW.alone, _NAMED, "semantic_objects_session", OBJECTS),
    "a list": Planned(histories.OBJECTS, (SESSION, 0, None, 101), "semantic_objects_session", OBJECTS),
    "a batch": Planned(queries.PAGED, (SESSION, 9), "semantic_objects_session", OBJECTS),
    "a turn's end": Planned(queries_write.END_TURN, (SESSION, 9, 0), "semantic_objects_session", OBJECTS),
    "a source": Planned(queries.KNOWN, (SESSION, "file3"), "semantic_objects_source", OBJECTS // 10),
}


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", []):
        yield from _nodes(child)


@pytest.mark.parametrize("name", PLANS)
async def test_rows_of_other_sessions_are_not_read(many_sessions: Database, name: str) -> None:
    planned = PLANS[name]
    c = await asyncpg.connect(many_sessions.services["cache"], server_settings={"scrubjay.tenant": TENANT})
    try:
        async with c.transaction():
            sql = f"explain (analyze, format json) {planned.sql}"
            text = await c.fetchval(sql, TENANT, *planned.arguments)
    finally:
        await c.close()
    nodes = [*_nodes(json.loads(text)[0]["Plan"])]
    found = [node for node in nodes if node.get("Relation Name") == "semantic_objects"]
    scans = [node for node in found if node["Node Type"] != "ModifyTable"]
    read = [node["Actual Rows"] + node.get("Rows Removed by Filter", 0) for node in scans]
    assert {node.get("Index Name") for node in scans} == {planned.by}
    assert 0 < max(read) <= planned.rows, read
