"""The SQL that reads memories."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import asyncpg

from services.agent_memory.memories.schemas import Confirmation, ListAgentMemoryInput, MemoryCursor
from shared.auth import Principal
from shared.database.postgres import Connection
from shared.provenance import utc

# How often a memory was read: a column of its row `{row}`, in a statement whose $1 is the tenant.
COUNTED = """
    greatest({row}.access_count, (
        select a.access_count from memory.accesses a where a.tenant = $1 and a.memory_id = {row}.id)) as access_count
"""
_LISTED = (
    f"id, agent_name, content, memory_type, created_at, updated_at, {COUNTED.format(row='agent_memory')},"
    " confirmed_count, confirmed_at, outcome, task_description, skills_used, mission_namespace, private,"
    " occurred_at, session_id, seq, speaker, user_id, language, written_by, source_kind, source_claim,"
    " dispatch_id, recalled_from, superseded_by, paths, symbols, step"
)
# A key sees memories about its users or no user, learned in its missions or outside of any, and its peers' unless they
# are private. Without an agent, a key of some missions sees what is private only of these missions.
VISIBLE = """
    ({users}::text[] is null or user_id is null or user_id = any({users}))
    and ({agent}::text is null or not private or agent_name = {agent})
    and ({missions}::text[] is null or mission_namespace = any({missions})
         or (mission_namespace is null and (not private or agent_name = {agent})))
"""


def bounds(principal: Principal) -> tuple[list[str] | None, list[str] | None, str | None]:
    """The users, missions and agent of VISIBLE."""
    return principal.seen_users(), principal.seen_missions(), principal.agent


LIST = f"""
select {_LISTED} from memory.agent_memory
where tenant = $1 and agent_name = $2 and ($3::text is null or memory_type = $3)
  and {VISIBLE.format(users="$4", missions="$5", agent="$6")}
  and ($7::timestamptz is null or created_at >= $7) and ($8::timestamptz is null or created_at < $8)
  and (created_at, id) < (coalesce($9, 'infinity'::timestamptz), coalesce($10, 9223372036854775807))
order by created_at desc, id desc limit $11
"""


async def list_memories(
    connection: Connection,
    principal: Principal,
    request: ListAgentMemoryInput,
    *,
    before: MemoryCursor | None,
    limit: int,
) -> list[asyncpg.Record]:
    """Newest first, from the one older than `before` on."""
    rows: list[asyncpg.Record] = await connection.fetch(
        LIST,
        principal.tenant,
        request.agent_name,
        request.memory_type,
        *bounds(principal),
        utc(request.since, "since"),
        utc(request.until, "until"),
        None if before is None else before.created_at,
        None if before is None else before.id,
        limit,
    )
    return rows


# The id of an absorbed memory leads to the memory that absorbed it. With `coalesce` in the condition, the policy of the
# table would keep it from its index; `offset 0` keeps the planner from putting it there.
FIND = f"""
select {_LISTED} from (
    select coalesce(
        (select m.id from memory.agent_memory m where m.tenant = $1 and m.id = $2),
        (select c.memory_id from memory.confirmations c where c.tenant = $1 and c.absorbed_id = $2 limit 1)
    ) as found_id offset 0
) f join memory.agent_memory on tenant = $1 and id = found_id
where {VISIBLE.format(users="$3", missions="$4", agent="$5")}
"""
# Confirmations of other missions than $3 stay hidden.
LATEST_CONFIRMATIONS = """
select written_by, source_kind, mission_namespace, dispatch_id, recalled_from, absorbed_id, count, first_at, last_at
from memory.confirmations
where tenant = $1 and memory_id = $2
  and ($3::text[] is null or mission_namespace is null or mission_namespace = any($3))
order by last_at desc, id desc limit 100
"""


async def find(connection: Connection, principal: Principal, memory_id: int) -> asyncpg.Record | None:
    return await connection.fetchrow(FIND, principal.tenant, memory_id, *bounds(principal))


async def latest_confirmations(
    connection: Connection, principal: Principal, memory_id: int
) -> list[Confirmation]:
    rows = await connection.fetch(
        LATEST_CONFIRMATIONS, principal.tenant, memory_id, principal.seen_missions()
    )
    return [Confirmation(**dict(row)) for row in rows]


COUNT_SINCE = f"""
with visible as (
    select agent_name, created_at from memory.agent_memory
    where tenant = $1 and agent_name = any($2) and {VISIBLE.format(users="$4", missions="$5", agent="$6")}
)
select s.agent_name, count(m.created_at) as count
from unnest($2::text[], $3::timestamptz[]) s(agent_name, since)
left join visible m on m.agent_name = s.agent_name and m.created_at > s.since
group by s.agent_name
"""


async def count_since(
    connection: Connection, principal: Principal, since: Mapping[str, datetime]
) -> dict[str, int]:
    """Counts what the key may see."""
    rows = await connection.fetch(
        COUNT_SINCE, principal.tenant, list(since), list(since.values()), *bounds(principal)
    )
    return {row["agent_name"]: row["count"] for row in rows}
