"""The SQL of the cache service. Functions take the connection first and never commit."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import asyncpg
import msgspec

from shared.database.postgres import Connection
from shared.search.sql import scope_key

PUT_ENTRIES = """
select entry_id, total_tokens, evicted, refused, token_budget
from cache.put_entries($1, $2, $3, $4, $5, $6, $7, $8, $9)
"""


class Limits(NamedTuple):
    """The installation's defaults, where a mission has none of its own."""

    token_budget: int
    entry_budget: int
    ttl_hours: float


async def put_entries(
    connection: Connection,
    tenant: str,
    mission_id: str,
    entries: Sequence[dict[str, Any]],
    tokens: Sequence[int],
    model: str,
    limits: Limits,
) -> list[asyncpg.Record]:
    """One mission's writes, with a row for each in order; `refused` says why one was not made."""
    rows: list[asyncpg.Record] = await connection.fetch(
        PUT_ENTRIES,
        tenant,
        mission_id,
        entries,
        tokens,
        scope_key(tenant, f"mission:{mission_id}"),
        model,
        *limits,
    )
    return rows


# An entry about nobody, or about one of the users that a key may see; null is everybody.
_SEEN = "({0}::text[] is null or user_id is null or user_id = any({0}))"
_ENTRY = """
select id, mission_id, context_type, content, metadata, agent_name, tags, source_turn, dispatch_id, token_count,
       created_at, expires_at, session_id, seq, speaker, user_id, occurred_at
from cache.psychic_cache
"""

CHECKPOINT = f"""{_ENTRY}
where tenant = $1 and context_type = 'thread_checkpoint' and session_id = $2 and expires_at > now()
  and ($3::text[] is null or mission_id = any($3)) and {_SEEN.format("$4")}
order by id desc limit 1
"""


async def latest_checkpoint(
    connection: Connection,
    tenant: str,
    session_id: str,
    missions: Sequence[str] | None,
    users: Sequence[str] | None,
) -> asyncpg.Record | None:
    return await connection.fetchrow(CHECKPOINT, tenant, session_id, missions, users)


BY_ID = f"""{_ENTRY}
where tenant = $1 and id = $2 and expires_at > now() and ($3::text[] is null or mission_id = any($3))
  and {_SEEN.format("$4")}
"""


async def by_id(
    connection: Connection,
    tenant: str,
    entry_id: int,
    missions: Sequence[str] | None,
    users: Sequence[str] | None,
) -> asyncpg.Record | None:
    return await connection.fetchrow(BY_ID, tenant, entry_id, missions, users)


LOCK_MISSION = "select 1 from cache.missions where tenant = $1 and mission_id = $2 for update"


async def lock_mission(connection: Connection, tenant: str, mission_id: str) -> None:
    """Whatever changes a mission's entries locks its row first, as writers do: no two wait for each other."""
    await connection.execute(LOCK_MISSION, tenant, mission_id)


# The words of tags stand at weight B; the others stay as they are.
SET_TAGS = """
with entry as (
    update cache.psychic_cache set tags = $3 where tenant = $1 and id = $2 and expires_at > clock_timestamp()
    returning tenant, id, mission_id, agent_name
), words as (
    select c.chunk, ts_filter(c.tsv, '{a,c}') || setweight(to_tsvector('english', $4), 'B') as tsv
    from cache.psychic_chunks c join entry e on e.tenant = c.tenant and e.id = c.item_id
), retagged as (
    update cache.psychic_chunks c
    set tsv = w.tsv, scoped = array_to_tsvector(array(select $5 || ':' || t from unnest(tsvector_to_array(w.tsv)) t))
    from words w where c.tenant = $1 and c.item_id = $2 and c.chunk = w.chunk
), event as (
    insert into timeline.events (tenant, scope, kind, mission_id, agent_name, payload)
    select $1, 'mission:' || mission_id, 'cache_tag', mission_id, $6,
           jsonb_build_object('id', id, 'tags', cardinality($3))
    from entry
)
select 1 from entry
"""


async def set_tags(
    connection: Connection,
    tenant: str,
    entry_id: int,
    tags: Sequence[str],
    head: str,
    key: str,
    agent: str | None,
) -> bool:
    """`head` is the entry's new one; false when the entry is gone. Lock its mission first."""
    return bool(await connection.fetchval(SET_TAGS, tenant, entry_id, list(tags), head, key, agent))


DELETE_ENTRY = """
with gone as (
    delete from cache.psychic_cache where tenant = $1 and id = $2 and expires_at > clock_timestamp()
    returning id, mission_id, token_count
), unqueued as (
    delete from cache.index_queue q using gone where q.tenant = $1 and q.item_id = gone.id
), counters as (
    update cache.missions m
    set tokens = m.tokens - gone.token_count, entries = m.entries - 1, cleared_count = m.cleared_count + 1
    from gone where m.tenant = $1 and m.mission_id = gone.mission_id
), event as (
    insert into timeline.events (tenant, scope, kind, mission_id, agent_name, payload)
    select $1, 'mission:' || mission_id, 'cache_delete', mission_id, $3,
           jsonb_build_object('id', id, 'freed_tokens', token_count)
    from gone
)
select token_count from gone
"""


async def delete_entry(connection: Connection, tenant: str, entry_id: int, agent: str | None) -> int | None:
    """Its tokens; None when it is gone already. Lock its mission first."""
    tokens: int | None = await connection.fetchval(DELETE_ENTRY, tenant, entry_id, agent)
    return tokens


RECENT = f"""{_ENTRY}
where tenant = $1 and expires_at > now() and ($2::text[] is null or mission_id = any($2))
  and {_SEEN.format("$3")}
order by id desc limit 100
"""


async def recent(
    connection: Connection, tenant: str, missions: Sequence[str] | None, users: Sequence[str] | None
) -> list[asyncpg.Record]:
    rows: list[asyncpg.Record] = await connection.fetch(RECENT, tenant, missions, users)
    return rows


OF_MISSION = f"""{_ENTRY}
where tenant = $1 and mission_id = $2 and expires_at > now() and {_SEEN.format("$3")}
order by id desc limit 1000
"""


async def of_mission(
    connection: Connection, tenant: str, mission_id: str, users: Sequence[str] | None
) -> list[asyncpg.Record]:
    rows: list[asyncpg.Record] = await connection.fetch(OF_MISSION, tenant, mission_id, users)
    return rows


# The index of (tenant, scope, session_id, seq) finds numbered turns; the others are compared with every unnumbered
# entry of the session.
STORED_TURNS = """
with turn as materialized (
    select speaker, seq, content_sha256
    from jsonb_to_recordset($5) t(speaker text, seq bigint, content_sha256 text)
), unnumbered as materialized (
    select id, speaker, encode(sha256(convert_to(content, 'UTF8')), 'hex') as content_sha256
    from cache.psychic_cache
    where tenant = $1 and mission_id = $2 and session_id = $3 and user_id is not distinct from $4 and seq is null
      and expires_at > now() and exists (select from turn where seq is null)
), stored as (
    select t.speaker, t.seq, t.content_sha256, e.id
    from turn t
    join cache.psychic_cache e on e.seq = t.seq and e.speaker is not distinct from t.speaker
     and encode(sha256(convert_to(e.content, 'UTF8')), 'hex') = t.content_sha256
    where e.tenant = $1 and e.scope = 'mission:' || $2 and e.session_id = $3
      and e.user_id is not distinct from $4 and e.expires_at > now()
    union all
    select t.speaker, t.seq, t.content_sha256, e.id
    from turn t
    join unnumbered e on e.content_sha256 = t.content_sha256 and e.speaker is not distinct from t.speaker
    where t.seq is null
)
select min(id) as id, content_sha256, speaker, seq from stored group by content_sha256, speaker, seq
"""


async def stored_turns(
    connection: Connection,
    tenant: str,
    mission_id: str,
    session_id: str,
    user_id: str | None,
    turns: Sequence[dict[str, Any]],
) -> list[asyncpg.Record]:
    """Which of these turns a mission's live entries hold; a turn is known by speaker, seq and content_sha256."""
    rows: list[asyncpg.Record] = await connection.fetch(
        STORED_TURNS, tenant, mission_id, session_id, user_id, turns
    )
    return rows


CLEAR_ENTRIES = """
with gone as (
    delete from cache.psychic_cache where tenant = $1 and mission_id = $2 returning id, token_count, expires_at
), unqueued as (
    delete from cache.index_queue q using gone where q.tenant = $1 and q.item_id = gone.id
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
    await lock_mission(connection, tenant, mission_id)
    row = await connection.fetchrow(CLEAR_ENTRIES, tenant, mission_id, reason, agent)
    assert row is not None
    return row


# What expired and was not swept yet counts as expired.
STATS = """
select m.token_budget, m.entry_budget, m.ttl_hours, m.written_count, m.evicted_count, m.cleared_count,
       m.expired_count + m.entries - e.live as expired_count,
       e.tokens, e.live as entries, e.by_type, e.tokens_by_type, e.by_agent, e.oldest_at, e.newest_at, e.next_expiry,
       q.waiting, m.created_at, m.last_write_at
from cache.missions m
cross join lateral (
    with live as materialized (
        select context_type, token_count, agent_name, created_at, expires_at from cache.psychic_cache
        where tenant = $1 and mission_id = $2 and expires_at > now()
    ), types as (
        select context_type, count(*) as n, sum(token_count) as tokens from live group by context_type
    ), agents as (
        select agent_name, count(*) as n from live where agent_name is not null group by agent_name
        order by n desc, agent_name limit 100
    )
    select coalesce(sum(token_count), 0)::bigint as tokens, count(*) as live,
           coalesce((select jsonb_object_agg(context_type, n) from types), '{}') as by_type,
           coalesce((select jsonb_object_agg(context_type, tokens) from types), '{}') as tokens_by_type,
           coalesce((select jsonb_object_agg(agent_name, n) from agents), '{}') as by_agent,
           min(created_at) as oldest_at, max(created_at) as newest_at, min(expires_at) as next_expiry
    from live
) e
cross join lateral (
    select count(*) as waiting from cache.index_queue w
    join cache.psychic_cache i on i.tenant = w.tenant and i.id = w.item_id
    where i.tenant = $1 and i.mission_id = $2 and i.expires_at > now() and w.model = $3
) q
where m.tenant = $1 and m.mission_id = $2
"""


async def stats(connection: Connection, tenant: str, mission_id: str, model: str) -> asyncpg.Record | None:
    return await connection.fetchrow(STATS, tenant, mission_id, model)


# The counters are exact until something has expired since the last write or sweep.
MISSIONS = """
select m.mission_id, m.token_budget, m.entry_budget, m.written_count, m.evicted_count, m.created_at, m.last_write_at,
       case when m.next_expiry > now() then m.tokens else e.tokens end as tokens,
       case when m.next_expiry > now() then m.entries else e.entries end as entries
from cache.missions m
left join lateral (
    select coalesce(sum(c.token_count), 0)::int as tokens, count(*)::int as entries from cache.psychic_cache c
    where m.next_expiry <= now() and c.tenant = m.tenant and c.mission_id = m.mission_id and c.expires_at > now()
) e on true
where m.tenant = $1 and ($2::text[] is null or m.mission_id = any($2)) and ($3::text is null or m.mission_id > $3)
order by m.mission_id limit $4
"""


async def missions(
    connection: Connection, tenant: str, granted: Sequence[str] | None, after: str | None, limit: int
) -> list[asyncpg.Record]:
    rows: list[asyncpg.Record] = await connection.fetch(MISSIONS, tenant, granted, after, limit)
    return rows


SET_LIMITS = """
insert into cache.missions (tenant, mission_id, token_budget, entry_budget, ttl_hours)
values ($1, $2, $3, $4, $5)
on conflict (tenant, mission_id) do update
set token_budget = excluded.token_budget, entry_budget = excluded.entry_budget, ttl_hours = excluded.ttl_hours
"""
SHRINK_MISSION = "select cache.shrink_mission($1, $2, $3, $4)"


async def set_limits(
    connection: Connection,
    tenant: str,
    mission_id: str,
    token_budget: int | None,
    entry_budget: int | None,
    ttl_hours: float | None,
    defaults: Limits,
) -> int:
    """How many entries had to go for the new budgets. Call it in a transaction."""
    await connection.execute(SET_LIMITS, tenant, mission_id, token_budget, entry_budget, ttl_hours)
    evicted: int = await connection.fetchval(
        SHRINK_MISSION, tenant, mission_id, defaults.token_budget, defaults.entry_budget
    )
    return evicted


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

# Queries are noted in batches: a row a query, one statement for many.
NOTE_QUERIES = """
insert into timeline.events (tenant, scope, kind, mission_id, agent_name, payload)
select tenant, 'mission:' || coalesce(mission_id, '*'), 'cache_query', mission_id, agent_name, payload
from jsonb_to_recordset($1::jsonb) as note(tenant text, mission_id text, agent_name text, payload jsonb)
"""


async def note_queries(connection: Connection, notes: Sequence[msgspec.Struct]) -> None:
    await connection.execute(NOTE_QUERIES, notes)
