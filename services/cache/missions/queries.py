"""The SQL of missions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import asyncpg

from services.cache.missions.schemas import MissionLimits
from shared.database.postgres import Connection
from shared.text import Language


class MissionKey(NamedTuple):
    tenant: str
    mission_id: str

    @property
    def scope(self) -> str:
        return f"mission:{self.mission_id}"


class DefaultLimits(NamedTuple):
    """The installation's limits for missions without their own."""

    token_budget: int
    entry_budget: int
    ttl_hours: float


LOCK_MISSION = "select 1 from cache.missions where tenant = $1 and mission_id = $2 for update"


async def lock_mission(connection: Connection, mission: MissionKey) -> bool:
    """Every change of a mission's entries locks the mission's row first, so that no two deadlock.

    False means that the mission does not exist, though a writer may be creating it.
    """
    return bool(await connection.fetchval(LOCK_MISSION, mission.tenant, mission.mission_id))


# The counters are exact unless an entry has expired since the last write or sweep.
MISSIONS = """
select m.mission_id, coalesce(m.token_budget, $5) as token_budget, coalesce(m.entry_budget, $6) as entry_budget,
       m.written_count, m.evicted_count, m.created_at, m.last_write_at,
       case when m.next_expiry > now() then m.tokens else e.tokens end as total_tokens,
       case when m.next_expiry > now() then m.entries else e.entries end as entry_count
from cache.missions m
left join lateral (
    select coalesce(sum(c.token_count), 0)::int as tokens, count(*)::int as entries from cache.psychic_cache c
    where m.next_expiry <= now() and c.tenant = m.tenant and c.mission_id = m.mission_id and c.expires_at > now()
) e on true
where m.tenant = $1 and ($2::text[] is null or m.mission_id = any($2)) and m.mission_id > coalesce($3, '')
order by m.mission_id limit $4
"""


async def missions(
    connection: Connection,
    tenant: str,
    granted: Sequence[str] | None,
    *,
    after: str | None,
    limit: int,
    defaults: DefaultLimits,
) -> list[asyncpg.Record]:
    """Missions by name after `after`. `granted` is None for a key that may read all."""
    rows: list[asyncpg.Record] = await connection.fetch(
        MISSIONS, tenant, granted, after, limit, defaults.token_budget, defaults.entry_budget
    )
    return rows


# Entries that have expired but are not yet swept count as expired.
STATS = """
select m.mission_id, coalesce(m.token_budget, $4) as token_budget, coalesce(m.entry_budget, $5) as entry_budget,
       coalesce(m.ttl_hours, $6::float8) as ttl_hours, m.written_count, m.evicted_count, m.cleared_count,
       m.expired_count + m.entries - e.live as expired_count, e.tokens as total_tokens, e.live as entry_count,
       e.by_type, e.tokens_by_type, e.by_agent, e.oldest_at, e.newest_at, e.next_expiry,
       q.waiting as unindexed_count, m.created_at, m.last_write_at
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
    where w.store = 'psychic_cache' and i.tenant = $1 and i.mission_id = $2 and i.expires_at > now() and w.model = $3
) q
where m.tenant = $1 and m.mission_id = $2
"""


async def stats(
    connection: Connection, mission: MissionKey, *, model: str, defaults: DefaultLimits
) -> asyncpg.Record | None:
    return await connection.fetchrow(
        STATS,
        mission.tenant,
        mission.mission_id,
        model,
        defaults.token_budget,
        defaults.entry_budget,
        defaults.ttl_hours,
    )


SET_LIMITS = """
insert into cache.missions (tenant, mission_id, token_budget, entry_budget, ttl_hours)
values ($1, $2, $3, $4, $5)
on conflict (tenant, mission_id) do update
set token_budget = excluded.token_budget, entry_budget = excluded.entry_budget, ttl_hours = excluded.ttl_hours
"""


async def set_limits(connection: Connection, mission: MissionKey, limits: MissionLimits) -> None:
    await connection.execute(
        SET_LIMITS,
        mission.tenant,
        mission.mission_id,
        limits.token_budget,
        limits.entry_budget,
        limits.ttl_hours,
    )


LIMITS = """
select mission_id, coalesce(token_budget, $3) as token_budget, coalesce(entry_budget, $4) as entry_budget,
       coalesce(ttl_hours, $5::float8) as ttl_hours, jsonb_build_object(
           'token_budget', case when token_budget is null then 'installation' else 'mission' end,
           'entry_budget', case when entry_budget is null then 'installation' else 'mission' end,
           'ttl_hours', case when ttl_hours is null then 'installation' else 'mission' end) as origins
from cache.missions where tenant = $1 and mission_id = $2
"""


async def limits(
    connection: Connection, mission: MissionKey, defaults: DefaultLimits
) -> asyncpg.Record | None:
    """Those in force, and whether each is the mission's own; None when there is no such mission."""
    return await connection.fetchrow(LIMITS, *mission, *defaults)


SET_LANGUAGE = """
insert into cache.missions (tenant, mission_id, language) values ($1, $2, $3)
on conflict (tenant, mission_id) do update set language = excluded.language
"""


async def set_language(connection: Connection, mission: MissionKey, language: Language | None) -> None:
    await connection.execute(SET_LANGUAGE, *mission, language)


LANGUAGES = "select mission_id, language from cache.missions where tenant = $1 and mission_id = any($2)"


async def languages(
    connection: Connection, tenant: str, missions: Sequence[str]
) -> dict[str, Language | None]:
    """Of those that exist; None for a mission without one."""
    return {
        row["mission_id"]: row["language"]
        for row in await connection.fetch(LANGUAGES, tenant, list(missions))
    }


HAS_LANGUAGES = "select exists (select from cache.missions where tenant = $1 and language is not null)"


async def has_languages(connection: Connection, tenant: str) -> bool:
    return bool(await connection.fetchval(HAS_LANGUAGES, tenant))


SHRINK_MISSION = "select cache.shrink_mission($1, $2, $3, $4)"


async def shrink_mission(connection: Connection, mission: MissionKey, defaults: DefaultLimits) -> int:
    """Evicts entries until the mission is within its limits. Returns how many."""
    evicted: int = await connection.fetchval(
        SHRINK_MISSION, mission.tenant, mission.mission_id, defaults.token_budget, defaults.entry_budget
    )
    return evicted


CLEAR_ENTRIES = """
with gone as (
    delete from cache.psychic_cache where tenant = $1 and mission_id = $2 returning id, token_count, expires_at
), unqueued as (
    delete from cache.index_queue q using gone
    where q.tenant = $1 and q.store = 'psychic_cache' and q.item_id = gone.id
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
select live as deleted_count, tokens as freed_tokens from counted
"""


async def clear(
    connection: Connection, mission: MissionKey, *, reason: str, agent: str | None
) -> asyncpg.Record:
    """Lock the mission first."""
    row = await connection.fetchrow(CLEAR_ENTRIES, mission.tenant, mission.mission_id, reason, agent)
    assert row is not None
    return row


CLEAR_NOTHING = """
insert into timeline.events (tenant, scope, kind, mission_id, agent_name, payload)
values ($1, 'mission:' || $2, 'cache_clear', $2, $4,
        jsonb_build_object('reason', $3::text, 'deleted_count', 0, 'freed_tokens', 0))
returning 0 as deleted_count, 0 as freed_tokens
"""


async def clear_nothing(
    connection: Connection, mission: MissionKey, *, reason: str, agent: str | None
) -> asyncpg.Record:
    """For a mission that does not exist: the timeline still keeps the reason."""
    row = await connection.fetchrow(CLEAR_NOTHING, mission.tenant, mission.mission_id, reason, agent)
    assert row is not None
    return row


NOW = "select clock_timestamp()"


async def now(connection: Connection) -> datetime:
    value: datetime = await connection.fetchval(NOW)
    return value


EXPIRED_MISSIONS = """
select tenant, mission_id from cache.missions
where next_expiry <= $1 and (tenant, mission_id) > ($2, $3) order by tenant, mission_id limit 500
"""


async def expired_missions(connection: Connection, at: datetime, after: MissionKey) -> list[MissionKey]:
    """The next 500 missions, at most, with entries that have expired by `at`."""
    rows = await connection.fetch(EXPIRED_MISSIONS, at, after.tenant, after.mission_id)
    return [MissionKey(**row) for row in rows]


EXPIRE_MISSION = "select cache.expire_mission($1, $2, $3)"


async def expire_mission(connection: Connection, mission: MissionKey, at: datetime) -> None:
    await connection.execute(EXPIRE_MISSION, mission.tenant, mission.mission_id, at)
