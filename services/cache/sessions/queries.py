"""The SQL of sessions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import asyncpg

from services.cache.sessions.access import VISIBLE, Reach, as_uuid
from services.cache.sessions.schemas import COLUMNS, Ending, SessionCursor, Status
from services.cache.sessions.search import queries_write as search
from shared.database.postgres import Connection
from shared.database.tenancy import look

_COLUMNS = ", ".join(f"s.{name}" for name in COLUMNS)
_OWN = f"{_COLUMNS}, s.scope, s.written_by, s.marks, s.last_place"
# The host's own name may look like an id; the id comes first.
_NAMED = f"""
from sessions.sessions s
where s.tenant = $1 and {VISIBLE} and (s.id = $5 or s.external_id = $6)
order by s.id = $5 desc nulls last limit 1
"""
# The session `s` that $2 to $6 name, for a statement that reads what it holds.
NAMED = f"(select s.* {_NAMED}) s"
FIND = f"select {_OWN} {_NAMED}"
HOLD = f"select {_OWN} {_NAMED} for no key update"
WHOSE = f"select s.id, s.external_id, s.scope, s.agent_name, s.user_id, s.total_objects {_NAMED}"
NAMED_SESSION = look(WHOSE)


async def find(connection: Connection, tenant: str, reach: Reach, session: str) -> asyncpg.Record | None:
    """By its id or its external id."""
    return await connection.fetchrow(FIND, tenant, *reach, as_uuid(session), session)


async def hold(connection: Connection, tenant: str, reach: Reach, session: str) -> asyncpg.Record | None:
    """Keeps the session until the transaction ends: its writers take turns."""
    return await connection.fetchrow(HOLD, tenant, *reach, as_uuid(session), session)


# $2 the columns. Two requests at once make one session.
CREATE = f"""
with made as (
    insert into sessions.sessions
        (tenant, id, external_id, scope, agent_name, mission_id, user_id, model, config, marks, written_by)
    select $1, r.id, r.external_id, r.scope, r.agent_name, r.mission_id, r.user_id, r.model, r.config, r.marks,
           r.written_by
    from jsonb_populate_record(null::sessions.sessions, $2) r
    on conflict (tenant, external_id) do nothing
    returning *
), told as (
    insert into timeline.events (tenant, scope, kind, mission_id, agent_name, session_id, payload)
    select s.tenant, s.scope, 'session_created', s.mission_id, s.agent_name, s.id::text, '{{}}' from made s
)
select {_OWN} from made s
"""


async def create(connection: Connection, tenant: str, columns: dict[str, Any]) -> asyncpg.Record | None:
    """None where the external id is taken."""
    return await connection.fetchrow(CREATE, tenant, columns)


LIST = f"""
select {_COLUMNS} from sessions.sessions s
where s.tenant = $1 and {VISIBLE}
  and ($5::text is null or s.agent_name = $5) and ($6::text is null or s.mission_id = $6)
  and ($7::text is null or s.user_id = $7) and ($8::text is null or s.status = $8)
  and ($9::timestamptz is null or (s.created_at, s.id) < ($9, $10::uuid))
order by s.created_at desc, s.id desc limit $11
"""


async def list_sessions(
    connection: Connection,
    tenant: str,
    reach: Reach,
    *,
    agent_name: str | None,
    mission_id: str | None,
    user_id: str | None,
    status: Status | None,
    before: SessionCursor | None,
    limit: int,
) -> list[asyncpg.Record]:
    """Newest first."""
    last = (None, None) if before is None else (before.created_at, before.id)
    rows: list[asyncpg.Record] = await connection.fetch(
        LIST, tenant, *reach, agent_name, mission_id, user_id, status, *last, limit
    )
    return rows


CLOSE = f"""
with changed as (
    update sessions.sessions
    set status = $3, closed_at = statement_timestamp(), last_active_at = statement_timestamp()
    where tenant = $1 and id = $2
    returning *
), told as (
    insert into timeline.events (tenant, scope, kind, mission_id, agent_name, session_id, payload)
    select tenant, scope, 'session_closed', mission_id, agent_name, id::text,
           jsonb_build_object('status', status, 'turns', total_turns, 'events', last_seq) from changed
)
select {_OWN} from changed s
"""


async def close(connection: Connection, tenant: str, session_id: UUID, status: Ending) -> asyncpg.Record:
    row = await connection.fetchrow(CLOSE, tenant, session_id, status)
    assert row is not None
    return row


# The context service follows the timeline.
WANT_CONSOLIDATION = """
insert into timeline.events (tenant, scope, kind, mission_id, agent_name, session_id, payload)
select tenant, scope, 'consolidation_wanted', mission_id, agent_name, id::text, jsonb_build_object('last', last_seq)
from sessions.sessions where tenant = $1 and id = any($2)
"""


async def want_consolidation(connection: Connection, tenant: str, sessions: Sequence[UUID]) -> None:
    await connection.execute(WANT_CONSOLIDATION, tenant, list(sessions))


DELETE = "delete from sessions.sessions where tenant = $1 and id = $2"
FORGET = "select timeline.forget_sessions($1, $2)"


async def delete(connection: Connection, tenant: str, session_id: UUID, names: Sequence[str]) -> None:
    """Erases it and all that is of it. Events and costs stay, without the names of the session."""
    objects = await search.numbers(connection, tenant, [session_id])
    await connection.execute(DELETE, tenant, session_id)
    await search.unqueue(connection, tenant, objects)
    await connection.execute(FORGET, tenant, list(names))


TELL = """
insert into timeline.events (tenant, scope, kind, mission_id, agent_name, session_id, payload)
select s.tenant, s.scope, $3, s.mission_id, s.agent_name, s.id::text, $4
from sessions.sessions s where s.tenant = $1 and s.id = $2
"""


async def tell(
    connection: Connection, tenant: str, session_id: UUID, kind: str, payload: dict[str, Any]
) -> None:
    """Adds an event to the timeline: ids and counts, never content."""
    await connection.execute(TELL, tenant, session_id, kind, payload)
