"""A page is read from an index in the order of its list, from the place of its cursor on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import uuid4

import asyncpg
import pytest

from local.database import Database
from services.agent_memory.memories import queries as memories
from services.cache.dispatches import queries as dispatches
from services.cache.entries import queries as entries
from services.cache.missions import queries as missions
from services.cache.sessions.histories import queries as histories
from services.context.keys import queries as keys
from services.context.learning import queries as learning
from services.context.log import queries as log
from services.context.timeline import queries as timeline

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Planned(NamedTuple):
    """`place` stands in the condition of the index: rows before the page are not read."""

    sql: str
    arguments: tuple[Any, ...]
    place: str


_NO_FILTER = (None,) * 6
PLANS = {
    "a mission's entries": Planned(entries.OF_MISSION, ("t", "m", None, *_NO_FILTER, 77, 10), "id <"),
    "all entries": Planned(entries.OF_ALL_MISSIONS, ("t", None, None, *_NO_FILTER, 77, 10), "id <"),
    "missions": Planned(missions.MISSIONS, ("t", None, "m", 10, 1, 1), "mission_id >"),
    "missions to sweep": Planned(missions.EXPIRED_MISSIONS, (NOW, "t", "m"), "ROW(tenant, mission_id) >"),
    "dispatches": Planned(dispatches.DISPATCHES, ("t", *(None,) * 5, 77, 10), "id <"),
    "memories": Planned(memories.LIST, ("t", "ana", *(None,) * 6, NOW, 77, 10), "created_at"),
    "the log": Planned(log.LIST, ("t", *(None,) * 9, NOW, 77, 10), "created_at"),
    "a caller's log": Planned(
        log.LIST, ("t", None, None, None, "ana", *(None,) * 5, NOW, 77, 10), "created_at"
    ),
    "callers": Planned(log.CALLERS, ("t", None, None, None, "ana", 10), "caller >"),
    "weight history": Planned(learning.LIST_HISTORY, ("t", None, None, 77, 10), "id <"),
    "keys": Planned(keys.LIST_KEYS, ("t", None, None, None, 77, 10), "id >"),
    **{
        name: Planned(statement, ("t", uuid4(), 77, None, 10), "number >")
        for name, statement in {
            "faults": histories.FAULTS,
            "transitions": histories.TRANSITIONS,
            "admissions": histories.ADMISSIONS,
        }.items()
    },
    "the timeline": Planned(timeline.READ_EVENTS, ("t", 77, 10, *(None,) * 8, True), "seq >"),
}


def _service(planned: Planned) -> str:
    """Whose statement it is: as its role, policies and their limits on indexes count."""
    owners = {"cache.": "cache", "sessions.": "cache", "memory.": "agent_memory"}
    return next((service for schema, service in owners.items() if f"from {schema}" in planned.sql), "context")


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", []):
        yield from _nodes(child)


@pytest.mark.parametrize("name", PLANS)
async def test_a_page_begins_at_its_place_in_an_index(database: Database, name: str) -> None:
    """Tables are nearly empty here, where a planner would read and sort them whole: both are switched off."""
    planned = PLANS[name]
    c = await asyncpg.connect(database.services[_service(planned)], server_settings={"scrubjay.tenant": "t"})
    try:
        await c.execute("set enable_seqscan = off; set enable_sort = off; set enable_bitmapscan = off")
        text = await c.fetchval(f"explain (format json) {planned.sql}", *planned.arguments)
    finally:
        await c.close()
    nodes = list(_nodes(json.loads(text)[0]["Plan"]))
    assert not [node for node in nodes if node["Node Type"] == "Sort"]
    conditions = [node.get("Index Cond", "") for node in nodes]
    assert any(planned.place in condition for condition in conditions), conditions
