"""The SQL that erases threads with all their checkpoints: those of a scope, of an agent, and with a user."""

from __future__ import annotations

from shared.database.postgres import Connection

_PURGE = """
with gone as (delete from cache.checkpoint_threads where tenant = $1 and {about} returning 1)
select count(*) from gone
"""
PURGE_SCOPE = _PURGE.format(about="scope = $2")
PURGE_AGENT = _PURGE.format(about="agent_name = $2")
PURGE_USER = _PURGE.format(about="user_id = $2")


async def purge_scope(connection: Connection, tenant: str, scope: str) -> dict[str, int]:
    return {"checkpoint_threads": await connection.fetchval(PURGE_SCOPE, tenant, scope)}


async def purge_agent(connection: Connection, tenant: str, agent_name: str) -> dict[str, int]:
    return {"checkpoint_threads": await connection.fetchval(PURGE_AGENT, tenant, agent_name)}


async def purge_user(connection: Connection, tenant: str, user_id: str) -> dict[str, int]:
    return {"checkpoint_threads": await connection.fetchval(PURGE_USER, tenant, user_id)}
