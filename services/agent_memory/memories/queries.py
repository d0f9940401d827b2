"""The SQL that reads memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import asyncpg

from services.agent_memory.memories.schemas import Confirmation, ListAgentMemoryInput, MemoryCursor
from shared.database.postgres import Connection
from shared.provenance import utc

_LISTED = (
    "id, agent_name, content, memory_type, created_at, updated_at, access_count, confirmed_count, outcome,"
    " task_description, skills_used, mission_namespace, private, occurred_at, session_id, seq, speaker, user_id,"
    " written_by, source_kind, dispatch_id, recalled_from"
)
LIST = f"""
select {_LISTED} from memory.agent_memory
where tenant = $1 and agent_name = $2 and ($3::text is null or memory_type = $3)
  and ($4::text[] is null or user_id is null or user_id = any($4))
  and ($5::timestamptz is null or created_at >= $5) and ($6::timestamptz is null or created_at < $6)
  and (created_at, id) < (coalesce($7, 'infinity'::timestamptz), coalesce($8, 9223372036854775807))
order by created_at desc, id desc limit $9
"""


async def list_memories(
    connection: Connection,
    tenant: str,
    request: ListAgentMemoryInput,
    users: Sequence[str] | None,
    *,
    before: MemoryCursor | None,
    limit: int,
) -> list[asyncpg.Record]:
    """Newest first, from the one older than `before` on."""
    rows: list[asyncpg.Record] = await connection.fetch(
        LIST,
        tenant,
        request.agent_name,
        request.memory_type,
        users,
        utc(request.since, "since"),
        utc(request.until, "until"),
        None if before is None else before.created_at,
        None if before is None else before.id,
        limit,
    )
    return rows


# The id of an absorbed memory leads to the memory that absorbed it.
FIND = f"""
select {_LISTED} from memory.agent_memory
where tenant = $1 and id = coalesce(
    (select m.id from memory.agent_memory m where m.tenant = $1 and m.id = $2),
    (select c.memory_id from memory.confirmations c where c.tenant = $1 and c.absorbed_id = $2 limit 1))
  and ($3::text[] is null or user_id is null or user_id = any($3))
"""
LATEST_CONFIRMATIONS = """
select written_by, source_kind, mission_namespace, dispatch_id, recalled_from, absorbed_id, count, first_at, last_at
from memory.confirmations where tenant = $1 and memory_id = $2 order by last_at desc, id desc limit 100
"""


async def find(
    connection: Connection, tenant: str, memory_id: int, users: Sequence[str] | None
) -> asyncpg.Record | None:
    return await connection.fetchrow(FIND, tenant, memory_id, users)


async def latest_confirmations(connection: Connection, tenant: str, memory_id: int) -> list[Confirmation]:
    rows = await connection.fetch(LATEST_CONFIRMATIONS, tenant, memory_id)
    return [Confirmation(**dict(row)) for row in rows]


COUNT_SINCE = """
select s.agent_name, count(m.id) as count
from unnest($2::text[], $3::timestamptz[]) s(agent_name, since)
left join memory.agent_memory m on m.tenant = $1 and m.agent_name = s.agent_name and m.created_at > s.since
    and (not m.private or coalesce($4, s.agent_name) = s.agent_name)
    and ($5::text[] is null or m.user_id is null or m.user_id = any($5))
group by s.agent_name
"""


async def count_since(
    connection: Connection,
    tenant: str,
    since: Mapping[str, datetime],
    reader: str | None,
    users: Sequence[str] | None,
) -> dict[str, int]:
    """Excludes what other agents keep private from `reader`. None reads everything."""
    rows = await connection.fetch(COUNT_SINCE, tenant, list(since), list(since.values()), reader, users)
    return {row["agent_name"]: row["count"] for row in rows}
