"""The SQL that erases persistent objects: those in a user's scope, and those that an agent kept."""

from __future__ import annotations

from shared.database.postgres import Connection

# The queue's rows go after the objects: the indexer locks in that order.
_PURGE = """
with gone as (
    delete from sessions.persistent_objects where tenant = $1 and {about} returning number
), unqueued as (
    delete from cache.index_queue q using gone
    where q.tenant = $1 and q.store = 'persistent_objects' and q.item_id = gone.number
)
select count(*) from gone
"""
PURGE_SCOPE = _PURGE.format(about="scope = $2")
PURGE_USER = _PURGE.format(about="user_id = $2")
PURGE_AGENT = _PURGE.format(about="agent_name = $2")


async def purge_scope(connection: Connection, tenant: str, scope: str) -> dict[str, int]:
    return {"persistent_objects": await connection.fetchval(PURGE_SCOPE, tenant, scope)}


async def purge_agent(connection: Connection, tenant: str, agent_name: str) -> dict[str, int]:
    return {"persistent_objects": await connection.fetchval(PURGE_AGENT, tenant, agent_name)}


async def purge_user(connection: Connection, tenant: str, user_id: str) -> dict[str, int]:
    return {"persistent_objects": await connection.fetchval(PURGE_USER, tenant, user_id)}
