"""The SQL of the assembly log."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import asyncpg
import msgspec

from services.context.log.schemas import LogCursor
from shared.auth import Principal
from shared.database.postgres import Connection
from shared.database.tenancy import Look, of_every_tenant

RESERVE = "select nextval('context.assembly_id_seq') as id from generate_series(1, $1::int)"


async def reserve(connection: Connection, count: int) -> list[int]:
    return [row["id"] for row in await connection.fetch(RESERVE, count)]


_GIVEN = """
jsonb_to_recordset($1::jsonb) as g(
    tenant text, id bigint, caller text, mission_namespace text, session_id text, user_id text,
    dispatch_id bigint, scopes text[], query_hash text, token_budget int, budget_asked boolean,
    token_shares jsonb, as_of timestamptz, total_tokens int, retrieval_ms real, low_relevance boolean,
    degraded jsonb, candidates jsonb, taken text[], below_floor text[], created_at timestamptz, synthesis jsonb,
    waited float8)
"""
_LOG = """
with given as materialized (
    {given}
), logged as (
    insert into context.context_assembly_log (
        tenant, id, caller, mission_namespace, session_id, user_id, dispatch_id, scopes, query_hash, token_budget,
        budget_asked, token_shares, as_of, total_tokens, retrieval_ms, low_relevance, degraded, candidates,
        taken, below_floor, created_at, synthesis)
    select tenant, id, caller, mission_namespace, session_id, user_id, dispatch_id, scopes,
           decode(query_hash, 'hex'), token_budget, budget_asked, token_shares, as_of, total_tokens, retrieval_ms,
           low_relevance, degraded, candidates, taken, below_floor, created_at, synthesis
    from given
    where not timeline.was_erased(tenant, scopes || coalesce('user:' || user_id, ''), waited)
    on conflict do nothing
    returning tenant, id
)
insert into timeline.events (tenant, scope, kind, mission_id, agent_name, session_id, dispatch_id, payload)
select g.tenant, g.scopes[1], 'assemble', g.mission_namespace, g.caller, g.session_id, g.dispatch_id,
       jsonb_build_object('id', g.id, 'total_tokens', g.total_tokens)
from given g join logged l on l.tenant = g.tenant and l.id = g.id
"""
# $1 the rows. A row that is written again, because the first answer was lost, is not stored twice. One that a purge
# would have erased, had it been written in time, is not stored at all.
LOG_ASSEMBLIES = Look(
    _LOG.format(given=f"select g.* from {_GIVEN}"), _LOG.format(given=of_every_tenant(_GIVEN))
)


# The assemblies that a key may read: bound to an agent, and granted missions and users. Null is no bound. The scopes
# say what an assembly found, and `user_id` which user it was for.
_READABLE_BY = """
tenant = {tenant} and ({agent}::text is null or caller = {agent})
and ({users}::text[] is null or user_id is null or user_id = any({users}))
and not exists (
    select 1 from unnest(scopes) s
    where ({missions}::text[] is not null and s like 'mission:%' and substr(s, 9) <> all({missions}))
       or ({users}::text[] is not null and s like 'user:%' and substr(s, 6) <> all({users})))
"""
_READABLE = _READABLE_BY.format(tenant="$1", agent="$2", missions="$3", users="$4")
_ENTRY = """
id, caller, mission_namespace, session_id, user_id, dispatch_id, encode(query_hash, 'hex') as query_hash,
token_budget, total_tokens, retrieval_ms, low_relevance, degraded, used_source_ids, weak_source_ids, tokens_used,
feedback_kind, processed_at, created_at, as_of
"""


def _reach(principal: Principal) -> tuple[str, str | None, list[str] | None, list[str] | None]:
    return (
        principal.tenant,
        principal.agent,
        principal.seen_missions(),
        principal.seen_users(),
    )


class LogFilter(NamedTuple):
    """Which assemblies are listed; None narrows nothing. The fields stand in the order of LIST's parameters."""

    caller: str | None = None
    mission_namespace: str | None = None
    user_id: str | None = None
    session_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None


# The plain bound on created_at leaves out partitions, which the comparison of rows does not.
LIST = f"""
select {_ENTRY} from context.context_assembly_log
where {_READABLE} and ($5::text is null or caller = $5) and ($6::text is null or mission_namespace = $6)
  and ($7::text is null or user_id = $7) and ($8::text is null or session_id = $8)
  and created_at >= coalesce($9, '-infinity'::timestamptz)
  and created_at < coalesce($10, 'infinity'::timestamptz)
  and created_at <= coalesce($11, 'infinity'::timestamptz)
  and (created_at, id) < (coalesce($11, 'infinity'::timestamptz), coalesce($12, 9223372036854775807))
order by created_at desc, id desc limit $13
"""


async def list_assemblies(
    connection: Connection, principal: Principal, wanted: LogFilter, *, before: LogCursor | None, limit: int
) -> list[asyncpg.Record]:
    """Newest first, from the one older than `before` on."""
    place = (None, None) if before is None else (before.created_at, before.id)
    rows: list[asyncpg.Record] = await connection.fetch(LIST, *_reach(principal), *wanted, *place, limit)
    return rows


GIVEN_LOOKED_AT = 20_000
"""Assemblies that one page looks at. No index knows what they gave: it would cost every assembly to serve this."""
# As LIST; $5 the handles of the item.
GIVEN = f"""
with looked as (
    select id, caller, mission_namespace, session_id, user_id, taken, used_source_ids, created_at
    from context.context_assembly_log
    where {_READABLE} and ($6::text is null or caller = $6) and ($7::text is null or mission_namespace = $7)
      and created_at >= coalesce($8, '-infinity'::timestamptz)
      and created_at < coalesce($9, 'infinity'::timestamptz)
      and created_at <= coalesce($10, 'infinity'::timestamptz)
      and (created_at, id) < (coalesce($10, 'infinity'::timestamptz), coalesce($11, 9223372036854775807))
    order by created_at desc, id desc limit {GIVEN_LOOKED_AT}
), found as (
    select l.*, t.handle
    from looked l
    cross join lateral (
        select taken.handle from unnest(l.taken) taken(handle)
        where split_part(taken.handle, '#', 1) = any ($5) limit 1
    ) t
    order by l.created_at desc, l.id desc limit $12
), last as (
    select created_at, id from looked order by created_at, id limit 1
)
select f.id as assembly_id, split_part(f.handle, '#', 1) as handle, f.caller, f.mission_namespace, f.session_id,
       f.user_id, f.created_at,
       case when f.used_source_ids is not null then exists (
           select from unnest(f.used_source_ids) u(handle) where split_part(u.handle, '#', 1) = any ($5)) end as used,
       b.looked, b.last_at, b.last_id
from (select count(*) as looked, (select created_at from last) as last_at, (select id from last) as last_id
      from looked) b
left join found f on true
order by f.created_at desc, f.id desc
"""


async def given(
    connection: Connection,
    principal: Principal,
    handles: Sequence[str],
    wanted: LogFilter,
    *,
    before: LogCursor | None,
    limit: int,
) -> list[asyncpg.Record]:
    """At least one row, whose `assembly_id` is null if none gave it. Each says how many it looked at, and to where."""
    place = (None, None) if before is None else (before.created_at, before.id)
    narrowed = (wanted.caller, wanted.mission_namespace, wanted.since, wanted.until)
    rows: list[asyncpg.Record] = await connection.fetch(
        GIVEN, *_reach(principal), list(handles), *narrowed, *place, limit
    )
    return rows


# One look into the index for each caller, instead of one at each assembly.
CALLERS = f"""
with recursive found as (
    (select caller from context.context_assembly_log
     where {_READABLE} and caller > coalesce($5, '') order by caller limit 1)
    union all
    select (select l.caller from context.context_assembly_log l
            where {_READABLE} and l.caller > found.caller order by l.caller limit 1)
    from found where found.caller is not null
)
select caller from found where caller is not null limit $6
"""


async def callers(
    connection: Connection, principal: Principal, *, after: str | None, limit: int
) -> list[str]:
    """By name, from the one behind `after` on."""
    return [row["caller"] for row in await connection.fetch(CALLERS, *_reach(principal), after, limit)]


FIND = f"""
select {_ENTRY}, scopes, token_shares, candidates, below_floor, synthesis from context.context_assembly_log
where {_READABLE} and id = $5
"""


async def find(connection: Connection, principal: Principal, assembly_id: int) -> asyncpg.Record | None:
    return await connection.fetchrow(FIND, *_reach(principal), assembly_id)


# Explicit feedback outweighs signals: learning processes an assembly again that it evaluated on signals alone.
# The handle of an item stands for each of its chunks in the block.
FEEDBACK = f"""
with found as materialized (
    select taken from context.context_assembly_log where {_READABLE} and id = $5
), unknown as materialized (
    select array_agg(u.handle order by u.place) as handles
    from unnest($6::text[]) with ordinality u(handle, place)
    where not exists (
        select from found, unnest(found.taken) t(handle) where u.handle in (t.handle, split_part(t.handle, '#', 1)))
), noted as (
    update context.context_assembly_log
    set used_source_ids = $6, tokens_used = $7,
        processed_at = case when feedback_kind = 'explicit' then processed_at end, feedback_kind = 'explicit'
    where {_READABLE} and id = $5 and (select handles is null from unknown)
    returning caller, mission_namespace, session_id, dispatch_id, scopes
), event as (
    insert into timeline.events (tenant, scope, kind, mission_id, agent_name, session_id, dispatch_id, payload)
    select $1, scopes[1], 'context_feedback', mission_namespace, caller, session_id, dispatch_id,
           jsonb_build_object('id', $5::bigint, 'used', cardinality($6::text[]))
    from noted
)
select coalesce(handles, '{{}}') as unknown from unknown where exists (select from found)
"""


async def feedback(
    connection: Connection,
    principal: Principal,
    assembly_id: int,
    used: Sequence[str],
    tokens_used: int | None,
) -> list[str] | None:
    """The handles that were not in the block; then nothing is stored. None when the key cannot read the assembly."""
    values = (assembly_id, list(used), tokens_used)
    unknown: list[str] | None = await connection.fetchval(FEEDBACK, *_reach(principal), *values)
    return unknown


READABLE = f"select 1 from context.context_assembly_log where {_READABLE} and id = $5"


async def readable(connection: Connection, principal: Principal, assembly_id: int) -> bool | None:
    """True, or None when the key cannot read the assembly."""
    return await connection.fetchval(READABLE, *_reach(principal), assembly_id) and True


class Signal(msgspec.Struct, frozen=True, kw_only=True):
    """Handles of an assembly's block that a key read or cited; without handles, it cited the whole block."""

    of_tenant: str
    assembly_id: int
    by_agent: str | None
    by_missions: list[str] | None
    by_users: list[str] | None
    cited: list[str]


# $1 holds Signals. Those about an assembly that their key cannot read count for nothing.
SIGNAL = f"""
with named as materialized (
    select tenant, id, created_at,
           array(select distinct h from unnest(array_agg(taken_handle)) h where h is not null) as handles
    from jsonb_to_recordset($1::jsonb) as signal(
        of_tenant text, assembly_id bigint, by_agent text, by_missions text[], by_users text[], cited text[])
    join context.context_assembly_log on id = assembly_id
     and {_READABLE_BY.format(tenant="of_tenant", agent="by_agent", missions="by_missions", users="by_users")}
    left join lateral (
        select t.handle as taken_handle from unnest(taken) t(handle)
        where cardinality(cited) = 0 or t.handle = any(cited) or split_part(t.handle, '#', 1) = any(cited)
    ) in_block on true
    where processed_at is null and created_at > now() - interval '7 days'
    group by tenant, id, created_at
)
update context.context_assembly_log l
set weak_source_ids = array(
        select distinct h from unnest(l.weak_source_ids || named.handles) h),
    feedback_kind = coalesce(l.feedback_kind, 'implicit')
from named
where l.tenant = named.tenant and l.id = named.id and l.created_at = named.created_at and l.processed_at is null
"""


async def signal(connection: Connection, signals: Sequence[Signal]) -> None:
    await connection.execute(SIGNAL, signals)
