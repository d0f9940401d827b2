"""The SQL that erases memories: those of a scope, and those of any agent about a user."""

from __future__ import annotations

from services.agent_memory.memories.commits.queries import lock_agents
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
       (select count(*) from memory.accesses where tenant = $1 and agent_name = $2) as accesses,
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
# What an agent learned in a mission stays the agent's, without the mission's name. No key has a grant for `(erased)`.
FORGET_MISSION = """
update memory.agent_memory set mission_namespace = '(erased)'
where tenant = $1 and $2 like 'mission:%' and mission_namespace = substr($2, 9)
"""
# Two confirmations that differ in the mission alone become one.
FORGET_MISSION_OF_CONFIRMATIONS = """
update memory.confirmations c set mission_namespace = '(erased)'
where c.tenant = $1 and $2 like 'mission:%' and c.mission_namespace = substr($2, 9) and not exists (
    select from memory.confirmations o
    where o.tenant = c.tenant and o.memory_id = c.memory_id and o.mission_namespace = '(erased)'
      and (o.written_by, o.source_kind) = (c.written_by, c.source_kind)
      and (o.dispatch_id, o.recalled_from, o.absorbed_id)
          is not distinct from (c.dispatch_id, c.recalled_from, c.absorbed_id))
"""
PURGE_CONFIRMATIONS_OF_MISSION = """
delete from memory.confirmations
where tenant = $1 and $2 like 'mission:%' and mission_namespace = substr($2, 9)
"""
SESSIONS_OF_USER = """
select distinct session_id from memory.agent_memory where tenant = $1 and user_id = $2 and session_id is not null
"""
FORGET_SESSIONS = "select timeline.forget_sessions($1, $2)"
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
        agents = [row["agent_name"] for row in rows]
        await lock_agents(c, tenant, agents)
        sessions = [row["session_id"] for row in await c.fetch(SESSIONS_OF_USER, tenant, user_id)]
        await c.execute(FORGET_SESSIONS, tenant, sessions)
        erased += await c.fetchval(PURGE_USER, tenant, user_id, agents)
    return {"agent_memory": erased}


MEMORIES = Erasure(
    scope={"agent_memory": PURGE_MEMORIES},
    names=(FORGET_MISSION, FORGET_MISSION_OF_CONFIRMATIONS, PURGE_CONFIRMATIONS_OF_MISSION),
    user=purge_user,
)
