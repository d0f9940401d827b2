"""The SQL that reads long-term memories."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import asyncpg

from services.agent_memory.long_term.queries_write import status_of
from services.agent_memory.long_term.schemas import COLUMNS, DueCursor, ListFilter
from shared.auth import Principal
from shared.database.postgres import Connection

_READ = ", ".join(status_of("m") if name == "status" else name for name in COLUMNS)
# A key sees what is about its users or no user, and what is in the scopes of its agent and its missions or in none's.
VISIBLE = """
    ({users}::text[] is null or user_id is null or user_id = any({users}))
    and ({missions}::text[] is null or scope not like 'mission:%' or substr(scope, 9) = any({missions}))
    and ({agent}::text is null or scope not like 'agent:%' or substr(scope, 7) = {agent})
"""


def bounds(principal: Principal, user_id: str | None = None) -> tuple[object, object, object]:
    """The users, missions and agent of VISIBLE."""
    return principal.seen_users(user_id), principal.seen_missions(), principal.agent


FIND = f"""
select {_READ} from memory.long_term m
where tenant = $1 and id = $2 and {VISIBLE.format(users="$3", missions="$4", agent="$5")}
"""


async def find(connection: Connection, principal: Principal, memory_id: int) -> asyncpg.Record | None:
    return await connection.fetchrow(FIND, principal.tenant, memory_id, *bounds(principal))


LIST = f"""
select * from (
    select {_READ} from memory.long_term m
    where tenant = $1 and {VISIBLE.format(users="$2", missions="$3", agent="$4")}
      and ($5::text is null or scope = $5) and ($6::text is null or kind = $6) and ($8::bigint is null or id < $8)
) listed
where $7::text is null or listed.status = $7
order by listed.id desc limit $9
"""


async def list_memories(
    connection: Connection, principal: Principal, wanted: ListFilter, before: int | None, limit: int
) -> list[asyncpg.Record]:
    """Newest first, from the one older than `before` on."""
    rows: list[asyncpg.Record] = await connection.fetch(
        LIST,
        principal.tenant,
        *bounds(principal, wanted.user_id),
        wanted.scope,
        wanted.kind,
        wanted.status,
        before,
        limit,
    )
    return rows


# Open ones up to a time ($5), or also those that expired since ($6).
DUE = f"""
select {_READ} from memory.long_term m
where tenant = $1 and kind = 'commitment' and {VISIBLE.format(users="$2", missions="$3", agent="$4")}
  and status in ('open', 'expired') and due_at <= $5
  and due_at > coalesce($6, statement_timestamp())
  and ($7::text[] is null or scope = any($7)) and ($8::text is null or owed_by = $8)
  and (due_at, id) > (coalesce($9, '-infinity'::timestamptz), coalesce($10, 0))
order by due_at, id limit $11
"""


async def due(
    connection: Connection,
    principal: Principal,
    scopes: Sequence[str] | None,
    owed_by: str | None,
    user_id: str | None,
    *,
    until: datetime,
    since: datetime | None,
    after: DueCursor | None,
    limit: int,
) -> list[asyncpg.Record]:
    rows: list[asyncpg.Record] = await connection.fetch(
        DUE,
        principal.tenant,
        *bounds(principal, user_id),
        until,
        since,
        scopes,
        owed_by,
        None if after is None else after.due_at,
        None if after is None else after.id,
        limit,
    )
    return rows
