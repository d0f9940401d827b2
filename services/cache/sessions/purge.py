"""The SQL that erases sessions: those of a scope, of an agent, and with a user."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from uuid import UUID

from services.cache.sessions.search import queries_write as search
from shared.database.postgres import Connection

# In the order of their ids, as resets do. $3 what it is called.
_LOCK = """
select s.id, s.external_id from sessions.sessions s where s.tenant = $1 and {about} order by s.id for update
"""
LOCK_SCOPE = _LOCK.format(about="s.scope = $2")
LOCK_AGENT = _LOCK.format(about="s.agent_name = $2")
LOCK_USER = _LOCK.format(about="s.user_id = $2")
_PURGE = """
with gone as (delete from sessions.{table} where tenant = $1 and session_id = any($2) returning 1)
select count(*) from gone
"""
# Those that refer to others come first.
_TABLES = (
    "fault_history",
    "fidelity_transitions",
    "admission_scores",
    "object_relationships",
    "semantic_objects",
    "snapshots",
    "trail",
)
PURGE = {table: _PURGE.format(table=table) for table in _TABLES} | {
    "sessions": "with gone as (delete from sessions.sessions where tenant = $1 and id = any($2) returning 1)"
    " select count(*) from gone"
}
FORGET = "select timeline.forget_sessions($1, $2)"


async def purge_scope(connection: Connection, tenant: str, scope: str) -> dict[str, int]:
    return await _purge(connection, LOCK_SCOPE, tenant, scope)


async def purge_agent(connection: Connection, tenant: str, agent_name: str) -> dict[str, int]:
    return await _purge(connection, LOCK_AGENT, tenant, agent_name)


async def purge_user(connection: Connection, tenant: str, user_id: str) -> dict[str, int]:
    return await _purge(connection, LOCK_USER, tenant, user_id)


async def _purge(connection: Connection, lock: str, tenant: str, name: str) -> dict[str, int]:
    """Returns rows by table. Events and costs forget the sessions' names."""
    rows = await connection.fetch(lock, tenant, name)
    ids = [row["id"] for row in rows]
    if rows:
        names = [*map(str, ids), *(row["external_id"] for row in rows)]
        await connection.execute(FORGET, tenant, names)
        await forget_sources(connection, tenant, ids)
    return await _erase(connection, tenant, ids)


async def _erase(connection: Connection, tenant: str, ids: Sequence[UUID]) -> dict[str, int]:
    counts: Counter[str] = Counter(dict.fromkeys(PURGE, 0))
    objects = await search.numbers(connection, tenant, ids) if ids else []
    for table, statement in PURGE.items() if ids else ():
        counts[table] += await connection.fetchval(statement, tenant, ids)
    await search.unqueue(connection, tenant, objects)
    return dict(counts)


# $2 sessions. What was kept of them stays.
FORGET_SOURCES = """
update sessions.persistent_objects set source_session_id = null, source_object_id = null
where tenant = $1 and source_session_id = any($2)
"""


async def forget_sources(connection: Connection, tenant: str, sessions: Sequence[UUID]) -> None:
    """Of sessions that are erased."""
    await connection.execute(FORGET_SOURCES, tenant, list(sessions))
