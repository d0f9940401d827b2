"""The SQL of persistent objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import asyncpg

from services.cache.persistent.schemas import COLUMNS
from shared.database.postgres import Connection

_COLUMNS = ", ".join(f"p.{name}" for name in COLUMNS)
# The clock, not the statement's start: a statement may have waited for another that reinforced the row.
_READ = f"{_COLUMNS}, p.written_by, p.scope, clock_timestamp() as now"

# $2 the session, $3 the object.
SOURCE = """
select o.content_full, o.object_type, s.user_id, s.agent_name
from sessions.semantic_objects o join sessions.sessions s on s.tenant = $1 and s.id = o.session_id
where o.tenant = $1 and o.session_id = $2 and o.id = $3
"""


async def source(
    connection: Connection, tenant: str, session_id: UUID, object_id: UUID
) -> asyncpg.Record | None:
    """An object of a session, with the parties of the session."""
    return await connection.fetchrow(SOURCE, tenant, session_id, object_id)


# $2 the columns. Of several at once, one inserts and the others wait for it.
INSERT = f"""
with made as (
    insert into sessions.persistent_objects
        (tenant, user_id, source_object_id, source_session_id, object_type, content, content_hash, agent_name,
         source_kind, written_by, token_count)
    select $1, r.user_id, r.source_object_id, r.source_session_id, r.object_type, r.content,
           sha256(convert_to(r.content, 'UTF8')), r.agent_name, r.source_kind, r.written_by, r.token_count
    from jsonb_populate_record(null::sessions.persistent_objects, $2) r
    on conflict (tenant, user_id, content_hash) do nothing
    returning *
)
select {_READ} from made p
"""


async def insert(connection: Connection, tenant: str, columns: dict[str, Any]) -> asyncpg.Record | None:
    """None where the user has the same content already."""
    return await connection.fetchrow(INSERT, tenant, columns)


HOLD_SAME = f"""
select {_READ} from sessions.persistent_objects p
where p.tenant = $1 and p.user_id = $2 and p.content_hash = sha256(convert_to($3, 'UTF8'))
for update
"""


async def hold_same(connection: Connection, tenant: str, user_id: str, content: str) -> asyncpg.Record | None:
    """What the user has of this content, until the transaction ends."""
    return await connection.fetchrow(HOLD_SAME, tenant, user_id, content)


# A key of some users ($3) finds only what was kept for them.
FIND = f"""
select {_READ} from sessions.persistent_objects p
where p.tenant = $1 and p.id = $2 and ($3::text[] is null or p.user_id = any($3))
"""
HOLD = f"{FIND} for update"


async def find(
    connection: Connection, tenant: str, object_id: UUID, users: Sequence[str] | None
) -> asyncpg.Record | None:
    return await connection.fetchrow(FIND, tenant, object_id, users)


async def hold(
    connection: Connection, tenant: str, object_id: UUID, users: Sequence[str] | None
) -> asyncpg.Record | None:
    """Keeps it as it is until the transaction ends."""
    return await connection.fetchrow(HOLD, tenant, object_id, users)


LIST = f"""
select {_READ} from sessions.persistent_objects p
where p.tenant = $1 and p.user_id = $2 and ($3::bigint is null or p.number < $3)
order by p.number desc limit $4
"""


async def list_objects(
    connection: Connection, tenant: str, user_id: str, before: int | None, limit: int
) -> list[asyncpg.Record]:
    """Newest first."""
    rows: list[asyncpg.Record] = await connection.fetch(LIST, tenant, user_id, before, limit)
    return rows


REINFORCE = f"""
with changed as (
    update sessions.persistent_objects
    set confidence = $3, last_reinforced = statement_timestamp(), reinforcements = reinforcements + 1
    where tenant = $1 and id = $2
    returning *
)
select {_READ} from changed p
"""


async def reinforce(
    connection: Connection, tenant: str, object_id: UUID, confidence: float
) -> asyncpg.Record:
    """Of one that is held."""
    row = await connection.fetchrow(REINFORCE, tenant, object_id, confidence)
    assert row is not None
    return row


DELETE = "delete from sessions.persistent_objects where tenant = $1 and id = $2"


async def delete(connection: Connection, tenant: str, object_id: UUID) -> None:
    await connection.execute(DELETE, tenant, object_id)


TELL = """
insert into timeline.events (tenant, scope, kind, agent_name, session_id, payload)
values ($1, $2, $3, $4, $5, $6)
"""


async def tell(connection: Connection, tenant: str, kind: str, row: asyncpg.Record, **counts: Any) -> None:
    """Adds an event to the timeline: ids and counts, never content."""
    session_id = None if row["source_session_id"] is None else str(row["source_session_id"])
    payload = {"id": str(row["id"]), "reinforcements": row["reinforcements"], **counts}
    await connection.execute(TELL, tenant, row["scope"], kind, row["agent_name"], session_id, payload)
