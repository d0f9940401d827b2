"""The SQL of purges, over the tables of every package."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from shared.database.postgres import Connection

LOCK_SCOPE = "select 1 from cache.missions where tenant = $1 and scope = $2 for update"
# In the order of their ids, as heartbeats do; in a statement of its own, which an engine that distributes tables needs.
LOCK_DISPATCHES = """
select count(*) from (
    select 1 from cache.agent_dispatch where tenant = $1 and scope = $2 order by id for update
) held
"""
PURGE = {
    "psychic_cache": "with gone as (delete from cache.psychic_cache where tenant = $1 and scope = $2 returning 1)"
    " select count(*) from gone",
    "agent_dispatch": "with gone as (delete from cache.agent_dispatch where tenant = $1 and scope = $2 returning 1)"
    " select count(*) from gone",
    "idempotency": "with gone as (delete from cache.idempotency"
    " where tenant = $1 and (scope = $2 or subjects @> array[$2]) returning 1) select count(*) from gone",
    "missions": "with gone as (delete from cache.missions where tenant = $1 and scope = $2 returning 1)"
    " select count(*) from gone",
    "index_queue": "with gone as (delete from cache.index_queue where tenant = $1 and scope = $2 returning 1)"
    " select count(*) from gone",
    # Nobody knows whose text a vector is of, and all of them can be made again.
    "embedding_cache": "with gone as (delete from cache.embedding_cache"
    " where tenant = $1 and $2::text is not null returning 1) select count(*) from gone",
}


async def purge_scope(connection: Connection, tenant: str, scope: str) -> dict[str, int]:
    """Erases every row of the scope. It locks the mission's row first, as writers do, and then its dispatches."""
    await connection.execute(LOCK_SCOPE, tenant, scope)
    await connection.execute(LOCK_DISPATCHES, tenant, scope)
    return {table: await connection.fetchval(statement, tenant, scope) for table, statement in PURGE.items()}


# Locks the missions first, in the order that every transaction uses.
LOCK_MISSIONS_OF = """
select m.mission_id from cache.missions m
where m.tenant = $1 and m.mission_id in (
    select e.mission_id from cache.psychic_cache e where e.tenant = $1 and e.agent_name = $2)
order by m.mission_id for update
"""
_COUNTED = """returning e.id, e.mission_id, e.token_count
), unqueued as (
    delete from cache.index_queue q using gone
    where q.tenant = $1 and q.store = 'psychic_cache' and q.item_id = gone.id
), freed as (
    select mission_id, sum(token_count) as tokens, count(*) as entries from gone group by mission_id
), counted as (
    update cache.missions m
    set tokens = m.tokens - f.tokens, entries = m.entries - f.entries, cleared_count = m.cleared_count + f.entries
    from freed f where m.tenant = $1 and m.mission_id = f.mission_id
)
select count(*) from gone
"""
PURGE_ENTRIES_OF = f"""
with gone as (
    delete from cache.psychic_cache e
    where e.tenant = $1 and e.agent_name = $2 and e.mission_id = any($3)
    {_COUNTED}
"""
LOCK_MISSIONS_OF_USER = """
select m.mission_id from cache.missions m
where m.tenant = $1 and m.mission_id in (
    select e.mission_id from cache.psychic_cache e where e.tenant = $1 and e.user_id = $2)
order by m.mission_id for update
"""
PURGE_ENTRIES_OF_USER = f"""
with gone as (
    delete from cache.psychic_cache e
    where e.tenant = $1 and e.user_id = $2 and e.mission_id = any($3)
    {_COUNTED}
"""
LOCK_DISPATCHES_OF = """
select count(*) from (
    select 1 from cache.agent_dispatch where tenant = $1 and agent_name = $2 order by id for update
) held
"""
PURGE_DISPATCHES_OF = """
with gone as (delete from cache.agent_dispatch where tenant = $1 and agent_name = $2 returning 1)
select count(*) from gone
"""


async def purge_agent(connection: Connection, tenant: str, agent: str) -> dict[str, int]:
    """Erases what an agent wrote into missions, and returns the tokens to their budgets."""
    entries = await _purge_entries(connection, tenant, agent, LOCK_MISSIONS_OF, PURGE_ENTRIES_OF)
    await connection.execute(LOCK_DISPATCHES_OF, tenant, agent)
    dispatches = await connection.fetchval(PURGE_DISPATCHES_OF, tenant, agent)
    return {"psychic_cache": entries, "agent_dispatch": dispatches}


SESSIONS_OF_USER = """
select distinct session_id from cache.psychic_cache where tenant = $1 and user_id = $2 and session_id is not null
"""
FORGET_SESSIONS_OF_DISPATCHES = """
update cache.agent_dispatch set session_id = null where tenant = $1 and session_id = any ($2)
"""
FORGET_SESSIONS = "select timeline.forget_sessions($1, $2)"


async def purge_user(connection: Connection, tenant: str, user_id: str) -> dict[str, int]:
    """Erases what missions hold about a user, whoever wrote it, and the user's sessions from events and dispatches."""
    entries = await _purge_entries(
        connection, tenant, user_id, LOCK_MISSIONS_OF_USER, PURGE_ENTRIES_OF_USER, _forget_sessions
    )
    return {"psychic_cache": entries}


async def _forget_sessions(connection: Connection, tenant: str, user_id: str) -> None:
    rows = await connection.fetch(SESSIONS_OF_USER, tenant, user_id)
    sessions = [row["session_id"] for row in rows]
    for statement in (FORGET_SESSIONS_OF_DISPATCHES, FORGET_SESSIONS) if sessions else ():
        await connection.execute(statement, tenant, sessions)


async def _nothing(*_: object) -> None: ...


async def _purge_entries(
    connection: Connection,
    tenant: str,
    name: str,
    lock: str,
    purge: str,
    first: Callable[[Connection, str, str], Awaitable[None]] = _nothing,
) -> int:
    """Repeats until no mission has entries of `name`, an agent or user: a mission may get its first one meanwhile."""
    entries = 0
    while missions := [row["mission_id"] for row in await connection.fetch(lock, tenant, name)]:
        await first(connection, tenant, name)
        entries += await connection.fetchval(purge, tenant, name, missions)
    return entries


ERASE_TENANT = "select cache.erase_tenant($1, $2)"


async def erase_tenant(connection: Connection, tenant: str, limit: int) -> dict[str, int]:
    """Erases at most `limit` rows of each table. Returns the rows by table."""
    erased: dict[str, int] = await connection.fetchval(ERASE_TENANT, tenant, limit)
    return erased
