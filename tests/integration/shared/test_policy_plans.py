"""Under the policies of the tables, statements find rows of one mission or agent in an index, and read no others'."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import asyncpg
from pgvector import HalfVector
from pgvector.asyncpg import register_vector

from local.database import Database
from services.agent_memory.memories import queries_search as memories
from services.agent_memory.vacancy import HOLDINGS
from services.cache.entries import queries_search as entries
from shared.search.store import StoreQuery


class Planned(NamedTuple):
    service: str
    sql: str
    arguments: tuple[Any, ...]
    relation: str
    found_by: str
    """Stands in the condition of the relation's index."""


_QUERY = StoreQuery(query="why is the gateway slow?", vector=HalfVector([1.0] * 512), model="m")
_VALUES = _QUERY.values(entries.missions_scope("t", ["mission:a"]))
_SEARCH = entries.SEARCH.of(_VALUES, approximate=False)
PLANS = {
    "sizes of missions": Planned(
        "cache", _SEARCH.sql, tuple(_SEARCH.arguments(_VALUES)), "missions", "mission_id ="
    ),
    "memories of agents": Planned(
        "agent_memory", memories.COUNT_OF_AGENTS, ("t", ["agent:ana"]), "agent_memory", "agent_name ="
    ),
    "whether a tenant has memories": Planned(
        "agent_memory", HOLDINGS, ("t", "ana"), "agent_memory", "tenant ="
    ),
}


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", []):
        yield from _nodes(child)


# One tenant has most of each table, so that its rows alone are no small part.
_FILL = """
insert into cache.missions (tenant, mission_id) select 't', 'm' || n from generate_series(1, 3000) n;
insert into memory.agent_memory
    (tenant, agent_name, content, content_hash, memory_type, token_count, chunks, written_by, source_kind)
select 't', 'agent' || n % 300, 'text', sha256(int4send(n)), 'lesson_learned', 1, 1, 'k', 'agent'
from generate_series(1, 3000) n;
analyze cache.missions, memory.agent_memory
"""


async def test_a_statement_reads_only_what_it_asks_for(fresh_database: Database) -> None:
    owner = await asyncpg.connect(fresh_database.admin)
    await owner.execute(_FILL)
    await owner.close()
    for name, planned in PLANS.items():
        conditions = await _conditions(fresh_database, planned)
        assert conditions, name
        assert all(planned.found_by in condition for condition in conditions), (name, conditions)


async def _conditions(database: Database, planned: Planned) -> list[str]:
    """In which the plan looks for the relation's rows."""
    c = await asyncpg.connect(database.services[planned.service], server_settings={"scrubjay.tenant": "t"})
    try:
        await register_vector(c)
        text = await c.fetchval(f"explain (format json) {planned.sql}", *planned.arguments)
    finally:
        await c.close()
    found = [
        node for node in _nodes(json.loads(text)[0]["Plan"]) if node.get("Relation Name") == planned.relation
    ]
    # A bitmap's condition stands on the node below.
    return [node.get("Index Cond") or node.get("Plans", [{}])[0].get("Index Cond", "") for node in found]
