"""The SQL of the cache service. Functions take the connection first and never commit."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import asyncpg
from pgvector import HalfVector

from shared.errors import Conflict, Unprocessable
from shared.postgres import Connection
from shared.search.sql import scope_key, search_sql

_LARGER_THAN_BUDGET = "SJ001"
_ONLY_CHECKPOINTS_LEFT = "SJ002"

PUT_ENTRY = """
select entry_id, total_tokens, evicted
from cache.put_entry($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20,
                     $21, $22, $23, $24, $25, $26, $27)
"""


async def put_entry(connection: Connection, *values: Any) -> asyncpg.Record:
    """`values` are the function's parameters in its order. Raises Unprocessable or Conflict by budget."""
    try:
        row = await connection.fetchrow(PUT_ENTRY, *values)
    except asyncpg.PostgresError as error:
        if error.sqlstate == _LARGER_THAN_BUDGET:
            raise Unprocessable(str(error), errors=[{"field": "content", "message": str(error)}]) from error
        if error.sqlstate == _ONLY_CHECKPOINTS_LEFT:
            raise Conflict(str(error)) from error
        raise
    assert row is not None
    return row


SEARCH = search_sql(
    items="cache.psychic_cache",
    chunks="cache.psychic_chunks",
    vectors="cache.psychic_vec",
    columns="i.context_type as kind, i.agent_name, i.content, i.metadata, i.tags, i.token_count, i.expires_at,"
    " i.mission_id, i.source_turn, i.dispatch_id",
    narrow="{0}.scope = any($8) and {0}.expires_at > now() and ($9::bigint[] is null or {0}.item_id = any($9))",
    count="c.tenant = $1 and c.scope = any($8)",
)


async def search(
    connection: Connection,
    tenant: str,
    query: str,
    vector: HalfVector | None,
    model: str,
    depth: int,
    scopes: Sequence[str],
    only: Sequence[int] | None = None,
    documents: int | None = None,
) -> list[asyncpg.Record]:
    rows: list[asyncpg.Record] = await connection.fetch(
        SEARCH,
        tenant,
        query,
        vector,
        model,
        depth,
        [scope_key(tenant, scope) for scope in scopes],
        documents,
        list(scopes),
        None if only is None else list(only),
    )
    return rows


IDS_WITH = """
select id from cache.psychic_cache
where tenant = $1 and scope = any($2) and expires_at > now()
  and ($3::text[] is null or context_type = any($3)) and ($4::text[] is null or tags && $4)
"""


async def ids_with(
    connection: Connection,
    tenant: str,
    scopes: Sequence[str],
    context_types: Sequence[str] | None,
    tags: Sequence[str] | None,
) -> list[int]:
    rows = await connection.fetch(IDS_WITH, tenant, list(scopes), context_types, tags)
    return [row["id"] for row in rows]


_ENTRY = """
select id, mission_id, context_type, content, metadata, agent_name, tags, source_turn, dispatch_id, token_count,
       created_at, expires_at, session_id, seq, speaker, occurred_at
from cache.psychic_cache
"""

CHECKPOINT = f"""{_ENTRY}
where tenant = $1 and context_type = 'thread_checkpoint' and session_id = $2 and expires_at > now()
  and ($3::text[] is null or mission_id = any($3))
order by id desc limit 1
"""


async def latest_checkpoint(
    connection: Connection, tenant: str, session_id: str, missions: Sequence[str] | None
) -> asyncpg.Record | None:
    return await connection.fetchrow(CHECKPOINT, tenant, session_id, missions)


RECENT = f"""{_ENTRY}
where tenant = $1 and expires_at > now() and ($2::text[] is null or mission_id = any($2))
order by id desc limit 100
"""


async def recent(connection: Connection, tenant: str, missions: Sequence[str] | None) -> list[asyncpg.Record]:
    rows: list[asyncpg.Record] = await connection.fetch(RECENT, tenant, missions)
    return rows


OF_MISSION = f"""{_ENTRY}
where tenant = $1 and mission_id = $2 and expires_at > now()
order by id desc limit 1000
"""


async def of_mission(connection: Connection, tenant: str, mission_id: str) -> list[asyncpg.Record]:
    rows: list[asyncpg.Record] = await connection.fetch(OF_MISSION, tenant, mission_id)
    return rows


MISSION_IDS = """
select mission_id from cache.missions
where tenant = $1 and entries > 0 and ($2::text[] is null or mission_id = any($2))
order by last_write_at desc limit 200
"""


async def mission_ids(connection: Connection, tenant: str, granted: Sequence[str] | None) -> list[str]:
    return [row["mission_id"] for row in await connection.fetch(MISSION_IDS, tenant, granted)]


LOCK_MISSION = "select 1 from cache.missions where tenant = $1 and mission_id = $2 for update"
CLEAR_ENTRIES = """
with gone as (
    delete from cache.psychic_cache where tenant = $1 and mission_id = $2 returning token_count, expires_at
), counted as (
    select count(*) filter (where expires_at > clock_timestamp()) as live, count(*) as every,
           coalesce(sum(token_count) filter (where expires_at > clock_timestamp()), 0) as tokens
    from gone
), counters as (
    update cache.missions m set
        tokens = 0, entries = 0, cleared_count = m.cleared_count + counted.live,
        expired_count = m.expired_count + counted.every - counted.live, next_expiry = 'infinity'
    from counted where m.tenant = $1 and m.mission_id = $2
), event as (
    insert into timeline.events (tenant, scope, kind, mission_id, agent_name, payload)
    select $1, 'mission:' || $2, 'cache_clear', $2, $4,
           jsonb_build_object('reason', $3::text, 'deleted_count', live, 'freed_tokens', tokens)
    from counted
)
select live, tokens from counted
"""


async def clear(
    connection: Connection, tenant: str, mission_id: str, reason: str, agent: str | None
) -> asyncpg.Record:
    """Call it in a transaction: the mission's row is locked first, as writers do."""
    await connection.execute(LOCK_MISSION, tenant, mission_id)
    row = await connection.fetchrow(CLEAR_ENTRIES, tenant, mission_id, reason, agent)
    assert row is not None
    return row


STATS = """
select m.token_budget, m.entry_budget, m.written_count, m.evicted_count, m.cleared_count,
       m.expired_count + m.entries - coalesce(e.live, 0)::bigint as expired_count,
       coalesce(e.tokens, 0)::bigint as tokens, coalesce(e.live, 0)::bigint as entries,
       coalesce(e.by_type, '{}') as by_type
from cache.missions m
left join lateral (
    select sum(tokens) as tokens, sum(n) as live, jsonb_object_agg(context_type, n) as by_type
    from (
        select context_type, count(*) as n, sum(token_count) as tokens
        from cache.psychic_cache
        where tenant = $1 and mission_id = $2 and expires_at > now()
        group by context_type
    ) t
) e on true
where m.tenant = $1 and m.mission_id = $2
"""


async def stats(connection: Connection, tenant: str, mission_id: str) -> asyncpg.Record | None:
    return await connection.fetchrow(STATS, tenant, mission_id)


SIZE = """
select count(*) from cache.psychic_cache where tenant = $1 and scope = any($2) and expires_at > now()
"""


async def size(connection: Connection, tenant: str, scopes: Sequence[str]) -> int:
    return int(await connection.fetchval(SIZE, tenant, list(scopes)))


SET_LIMITS = """
insert into cache.missions (tenant, mission_id, token_budget, entry_budget, ttl_hours)
values ($1, $2, $3, $4, $5)
on conflict (tenant, mission_id) do update
set token_budget = excluded.token_budget, entry_budget = excluded.entry_budget, ttl_hours = excluded.ttl_hours
"""


async def set_limits(
    connection: Connection,
    tenant: str,
    mission_id: str,
    token_budget: int | None,
    entry_budget: int | None,
    ttl_hours: float | None,
) -> None:
    await connection.execute(SET_LIMITS, tenant, mission_id, token_budget, entry_budget, ttl_hours)


EXPIRED_MISSIONS = """
select tenant, mission_id from cache.missions where next_expiry <= $1 order by tenant, mission_id limit 500
"""
EXPIRE_MISSION = "select cache.expire_mission($1, $2, $3)"
NOW = "select clock_timestamp()"


async def now(connection: Connection) -> datetime:
    value: datetime = await connection.fetchval(NOW)
    return value


async def expired_missions(connection: Connection, at: datetime) -> list[tuple[str, str]]:
    return [(row["tenant"], row["mission_id"]) for row in await connection.fetch(EXPIRED_MISSIONS, at)]


async def expire_mission(connection: Connection, tenant: str, mission_id: str, at: datetime) -> None:
    await connection.execute(EXPIRE_MISSION, tenant, mission_id, at)


TEXTS = """
select i.tenant, i.id as item_id, i.content, i.metadata, i.context_type,
       coalesce(i.speaker, i.agent_name) as who,
       array_agg(c.start order by c.chunk) as starts, array_agg(c.stop order by c.chunk) as stops
from cache.psychic_cache i
join unnest($1::text[], $2::bigint[]) w(tenant, id) on w.tenant = i.tenant and w.id = i.id
join cache.psychic_chunks c on c.tenant = i.tenant and c.item_id = i.id
group by i.tenant, i.id
"""

PURGE = (
    ("psychic_cache", "delete from cache.psychic_cache where tenant = $1 and scope = $2"),
    ("missions", "delete from cache.missions where tenant = $1 and scope = $2"),
    ("idempotency", "delete from cache.idempotency where tenant = $1 and scope = $2"),
)
