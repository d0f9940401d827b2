"""The SQL that erases memories: those of a scope, and those of any agent about a user."""

from __future__ import annotations

from services.agent_memory.memories.commits.queries import lock_agent
from shared.database.erasure import Erasure
from shared.database.postgres import Connection

# Counts the rows before deleting an agent's memories deletes them too.
COUNT_ROWS = """
select (select count(*) from memory.agent_memory where tenant = $1 and agent_name = $2) as agent_memory,
       (select count(*) from memory.agent_memory_chunks where tenant = $1 and scope = 'agent:' || $2)
           as agent_memory_chunks,
       (select count(*) from memory.agent_memory_vec where tenant = $1 and scope = 'agent:' || $2)
           as agent_memory_vec,
       (select count(*) from memory.confirmations c join memory.agent_memory m
            on m.tenant = c.tenant and m.id = c.memory_id where m.tenant = $1 and m.agent_name = $2)
           as confirmations,
       (select count(*) from memory.index_queue q join memory.agent_memory m
            on m.tenant = q.tenant and m.id = q.item_id
            where q.store = 'agent_memory' and m.tenant = $1 and m.agent_name = $2)
           as index_queue
"""
# Deletes the queue rows after the memories, because the indexer locks in that order.
PURGE_MEMORIES = """
with gone as (
    delete from memory.agent_memory where tenant = $1 and scope = $2 returning id
), unqueued as (
    delete from memory.index_queue q using gone
    where q.tenant = $1 and q.store = 'agent_memory' and q.item_id = gone.id
)
select count(*) from gone
"""
AGENTS_OF_USER = "select distinct agent_name from memory.agent_memory where tenant = $1 and user_id = $2"
PURGE_USER = """
with gone as (
    delete from memory.agent_memory where tenant = $1 and user_id = $2 and agent_name = any($3) returning id
), unqueued as (
    delete from memory.index_queue q using gone
    where q.tenant = $1 and q.store = 'agent_memory' and q.item_id = gone.id
)
select count(*) from gone
"""


async def count_rows(c: Connection, tenant: str, agent_name: str) -> dict[str, int]:
    row = await c.fetchrow(COUNT_ROWS, tenant, agent_name)
    assert row is not None
    return dict(row)


async def purge_user(c: Connection, tenant: str, user_id: str) -> dict[str, int]:
    """Erases all agents' memories about a user. A concurrent commit finishes first or waits."""
    erased = 0
    while rows := await c.fetch(AGENTS_OF_USER, tenant, user_id):
        agents = sorted(row["agent_name"] for row in rows)
        for agent in agents:
            await lock_agent(c, tenant, agent)
        erased += await c.fetchval(PURGE_USER, tenant, user_id, agents)
    return {"agent_memory": erased}


MEMORIES = Erasure(scope={"agent_memory": PURGE_MEMORIES}, user=purge_user)
