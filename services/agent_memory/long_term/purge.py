"""The SQL that erases long-term memories: those of a scope, about a user, or that an agent wrote."""

from __future__ import annotations

from shared.database.erasure import Erasure
from shared.database.postgres import Connection

# Deletes the queue rows after the memories, because the indexer locks in that order.
_PURGE = """
with gone as (
    delete from memory.long_term where tenant = $1 and {about} returning id
), unqueued as (
    delete from memory.index_queue q using gone
    where q.tenant = $1 and q.store = 'memory' and q.item_id = gone.id
)
select count(*) from gone
"""
# A commitment with somebody who is forgotten is forgotten, too.
_PARTY = "$2 in (owed_by, owed_to)"
PURGE_SCOPE = _PURGE.format(about="scope = $2")
PURGE_USER = _PURGE.format(about=f"(user_id = $2 or {_PARTY})")
PURGE_AGENT = _PURGE.format(about=f"(agent_name = $2 or {_PARTY})")
SESSIONS_OF_USER = """
select distinct session_id from memory.long_term where tenant = $1 and user_id = $2 and session_id is not null
"""
FORGET_SESSIONS = "select timeline.forget_sessions($1, $2)"


async def purge_user(c: Connection, tenant: str, user_id: str) -> dict[str, int]:
    sessions = [row["session_id"] for row in await c.fetch(SESSIONS_OF_USER, tenant, user_id)]
    await c.execute(FORGET_SESSIONS, tenant, sessions)
    return {"long_term": await c.fetchval(PURGE_USER, tenant, user_id)}


async def purge_agent(c: Connection, tenant: str, agent_name: str) -> dict[str, int]:
    return {"long_term": await c.fetchval(PURGE_AGENT, tenant, agent_name)}


LONG_TERM = Erasure(scope={"long_term": PURGE_SCOPE}, user=purge_user, agent=purge_agent)
