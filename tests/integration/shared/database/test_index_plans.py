"""How the indexer finds its rows while tables are new, which is when plans are made that are kept: each by its key."""

from __future__ import annotations

import asyncpg
import pytest

from local.database import Database
from services.agent_memory.long_term import indexing as long_term
from services.agent_memory.memories import indexing as memories
from services.agent_memory.vault.indexing import FILES
from services.cache.entries.indexing import ENTRIES
from services.cache.persistent.indexing import PERSISTENT
from services.cache.sessions.search.indexing import OBJECTS
from shared.database.index_queue import QueueStatements

_QUEUES = {"cache": QueueStatements("cache"), "agent_memory": QueueStatements("memory")}
_STORES = {
    "entries": ("cache", ENTRIES.statements),
    "persistent objects": ("cache", PERSISTENT.statements),
    "session objects": ("cache", OBJECTS.statements),
    "files": ("agent_memory", FILES.statements),
    "memories": ("agent_memory", memories.STATEMENTS),
    "long-term memories": ("agent_memory", long_term.STATEMENTS),
}


async def _plan(database: Database, role: str, sql: str) -> str:
    """The plan for any values."""
    connection = await asyncpg.connect(database.services[role])
    try:
        given = len((await connection.prepare(sql)).get_parameters())
        await connection.execute("set plan_cache_mode = force_generic_plan")
        await connection.execute(f"prepare looked_at as {sql}")
        rows = await connection.fetch(f"explain execute looked_at({', '.join(['null'] * given)})")
        return "\n".join(row[0] for row in rows)
    finally:
        await connection.close()


@pytest.mark.parametrize("role", _QUEUES)
async def test_a_known_item_is_not_looked_for_among_all_that_wait(
    fresh_database: Database, role: str
) -> None:
    queue = _QUEUES[role]
    for sql in (queue.claim_these, queue.renew, queue.give_back, queue.postpone, queue.waiting):
        plan = await _plan(fresh_database, role, sql)
        assert "index_queue_turn" not in plan, plan
        assert "index_queue_pkey" in plan, plan


@pytest.mark.parametrize("store", _STORES)
async def test_what_is_stored_is_found_by_its_keys(fresh_database: Database, store: str) -> None:
    role, statements = _STORES[store]
    plan = await _plan(fresh_database, role, statements.finish)
    assert "Seq Scan" not in plan.replace("Seq Scan on index_queue", ""), plan
    assert "index_queue_turn" not in plan, plan


@pytest.mark.parametrize("store", _STORES)
async def test_texts_are_found_by_their_keys(fresh_database: Database, store: str) -> None:
    role, statements = _STORES[store]
    # PostgreSQL unpacks a stored text anew for each part that it cuts out.
    assert "substr" not in statements.texts
    plan = await _plan(fresh_database, role, statements.texts)
    assert "Seq Scan" not in plan, plan
    for line in plan.splitlines():
        assert "Hash Cond" not in line or "tenant = w.tenant" not in line, plan
