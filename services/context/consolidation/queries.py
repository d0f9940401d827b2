"""The SQL that finds sessions to consolidate in the timeline, and who may say what users said."""

from __future__ import annotations

from collections.abc import Sequence

import asyncpg

from shared.auth import Principal
from shared.database.postgres import Connection

SINCE = "select coalesce(min(id), 0) from timeline.events where created_at > now() - interval '1 day'"


async def first_of_today(connection: Connection) -> int:
    """The first event of the last 24 hours."""
    number: int = await connection.fetchval(SINCE)
    return number


# $1 the last event that was seen, $2 kinds, $3 how many events. `ended` is the last event that asks for it at once.
ACTIVE = """
select max(e.id) as id, e.tenant, e.session_id,
       coalesce(max(e.id) filter (where e.kind <> 'session_events'), 0) as ended,
       greatest(0, extract(epoch from clock_timestamp() - max(e.created_at)))::float8 as age
from (
    select id, tenant, session_id, created_at, kind from timeline.events
    where id > $1 order by id limit $3
) e
where e.kind = any($2) and e.session_id is not null
group by e.tenant, e.session_id order by max(e.id)
"""
LAST = """
select coalesce(max(e.id), $1) as id, count(*) as events
from (select id from timeline.events where id > $1 order by id limit $2) e
"""


async def active(
    connection: Connection, after: int, kinds: Sequence[str], limit: int
) -> tuple[list[asyncpg.Record], int, bool]:
    """The sessions of events behind one, the last event that this looked at, and whether there may be more."""
    rows: list[asyncpg.Record] = await connection.fetch(ACTIVE, after, list(kinds), limit)
    last = await connection.fetchrow(LAST, after, limit)
    assert last is not None
    return rows, last["id"], last["events"] == limit


# $2 the ids of keys.
BOUND = """
select 'key:' || k.id as key, k.access, k.agent_name, k.missions, k.users from context.api_keys k
where k.tenant = $1 and k.id = any($2) and num_nonnulls(k.agent_name, k.missions, k.users) > 0
"""


async def bound(connection: Connection, tenant: str, ids: Sequence[int]) -> dict[str, Principal]:
    """Those of the keys that are bound, by their names, whether or not they still hold."""
    rows = await connection.fetch(BOUND, tenant, list(ids))
    return {
        row["key"]: Principal(
            tenant,
            row["key"],
            frozenset(row["access"]),
            agent=row["agent_name"],
            missions=None if row["missions"] is None else frozenset(row["missions"]),
            users=None if row["users"] is None else frozenset(row["users"]),
        )
        for row in rows
    }
