"""The SQL of costs."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

import asyncpg

from shared.auth import Principal
from shared.database.postgres import Connection

# What a key may see: $2 its agent, $3 its missions, $4 its users. A row does not say whom its session is with.
_SEEN = """
tenant = $1 and ($2::text is null or agent_name = $2) and ($3::text[] is null or mission_id = any($3))
  and ($4::text[] is null or scope not like 'user:%' or substr(scope, 6) = any($4))
  and ($5::text is null or agent_name = $5) and ($6::text is null or mission_id = $6)
  and ($7::text is null or session_id = $7 and $4::text[] is null) and ($8::text is null or model = $8)
"""
_ADDED = {
    **{name: f"coalesce(sum({name}) filter (where {{span}}), 0)" for name in (
        "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"
    )},
    "calls": "coalesce(sum(calls) filter (where {span}), 0)",
    "cost_usd": "trim_scale(coalesce(sum(cost_usd) filter (where {span}), 0))::text",
    "unpriced_calls": "coalesce(sum(unpriced_calls) filter (where {span}), 0)",
    "estimated_usd": "trim_scale(coalesce(sum(estimated_usd) filter (where {span}), 0))::text",
}  # fmt: skip
_DAY = "(now() at time zone 'utc')::date"
_SPANS = {"today": f"day = {_DAY}", "week": f"day >= {_DAY} - 6", "all": "true"}


def _amount(span: str) -> str:
    pairs = ", ".join(f"'{name}', {sql.format(span=span)}" for name, sql in _ADDED.items())
    return f"jsonb_build_object({pairs})"


_AMOUNTS = ", ".join(f'{_amount(span)} as "{name}"' for name, span in _SPANS.items())
# All together first, then the groups by name. $9 what they are grouped by, $10 the last name of the page before.
TOTALS = f"""
with seen as materialized (
    select *, coalesce(case $9 when 'agent' then agent_name when 'mission' then mission_id
        when 'session' then case when $4::text[] is null then session_id end when 'model' then model
        when 'kind' then kind when 'key' then key when 'service' then service when 'day' then day::text end, '')
        collate "C" as name
    from timeline.costs_by_day where {_SEEN}
)
select grouping(name) = 1 as everything, name, {_AMOUNTS},
       case when grouping(name) = 1 then array(
           select distinct model from seen where unpriced_answers > 0 order by model limit 20) end as unpriced_models
from seen
group by grouping sets ((), (name))
having grouping(name) = 1 or $9::text is not null and ($10::text is null or name > $10 collate "C")
order by grouping(name) desc, name limit $11 + 1
"""
LIST = f"""
select id, created_at, service, kind, model, outcome, agent_name, mission_id,
       case when $4::text[] is null then session_id end as session_id, key,
       input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
       trim_scale(cost_usd)::text as cost_usd, trim_scale(estimated_usd)::text as estimated_usd
from timeline.costs
where {_SEEN} and ($9::timestamptz is null or (created_at, id) < ($9, $10::bigint))
order by created_at desc, id desc limit $11
"""


# Days that a session had before count, too: it is taken as a whole. $9 in days.
SAVINGS = f"""
with sessions as (
    select kind, session_id, sum(calls) as calls, sum(cost_usd)::float8 as usd
    from timeline.costs_by_day
    where {_SEEN} and service = 'context' and kind in ('gateway_paged', 'gateway_control')
    group by kind, session_id, key
    having max(day) > {_DAY} - $9::int and sum(unpriced_calls) < sum(calls)
)
select kind, count(*) as sessions, sum(calls)::bigint as calls, avg(usd) as mean_usd, stddev_samp(usd) as deviation_usd
from sessions group by kind
"""


class CostFilter(NamedTuple):
    """Which calls are counted; None narrows nothing. The fields stand in the order of the parameters."""

    agent: str | None = None
    mission: str | None = None
    session: str | None = None
    model: str | None = None


def _bounds(principal: Principal, wanted: CostFilter) -> tuple[Any, ...]:
    return (
        principal.tenant,
        principal.agent,
        principal.seen_missions(),
        principal.seen_users(),
        *wanted,
    )


async def totals(
    c: Connection, principal: Principal, wanted: CostFilter, by: str | None, after: str | None, limit: int
) -> list[asyncpg.Record]:
    """The sum of all, and then groups by name."""
    rows: list[asyncpg.Record] = await c.fetch(TOTALS, *_bounds(principal, wanted), by, after, limit)
    return rows


async def savings(
    c: Connection, principal: Principal, wanted: CostFilter, days: int
) -> dict[str, asyncpg.Record]:
    """By kind."""
    rows = await c.fetch(SAVINGS, *_bounds(principal, wanted), days)
    return {row["kind"]: row for row in rows}


async def list_costs(
    c: Connection,
    principal: Principal,
    wanted: CostFilter,
    *,
    before: datetime | None,
    before_id: int | None,
    limit: int,
) -> list[asyncpg.Record]:
    """Newest first."""
    rows: list[asyncpg.Record] = await c.fetch(LIST, *_bounds(principal, wanted), before, before_id, limit)
    return rows


_STATE = """
c.subject, c.period, trim_scale(c.limit_usd)::text as limit_usd,
trim_scale(coalesce(sum(s.usd), 0))::text as spent_usd, coalesce(sum(s.calls), 0)::bigint as calls,
coalesce(sum(s.unpriced), 0)::bigint as unpriced_calls, coalesce(sum(s.usd), 0) >= c.limit_usd as reached
"""
CEILINGS = f"""
select {_STATE} from timeline.ceilings c
left join timeline.spending s on s.tenant = c.tenant and s.tenant = $1 and s.subject = c.subject
    and s.day >= case c.period when 'day' then (now() at time zone 'utc')::date
        when 'month' then date_trunc('month', now() at time zone 'utc')::date else '-infinity' end
where c.tenant = $1 and ($2::text is null or c.subject = $2) and ($3::text is null or c.period = $3)
  and ($4::text is null or (c.subject collate "C", c.period collate "C") > ($4, $5))
group by c.subject, c.period, c.limit_usd order by c.subject collate "C", c.period collate "C" limit $6
"""


async def ceilings(
    c: Connection,
    tenant: str,
    *,
    subject: str | None = None,
    period: str | None = None,
    after: tuple[str, str] | None = None,
    limit: int = 1,
) -> list[asyncpg.Record]:
    rows: list[asyncpg.Record] = await c.fetch(
        CEILINGS, tenant, subject, period, *(after or (None, None)), limit
    )
    return rows


OF_CALL = """
select subject, period, trim_scale(limit_usd)::text as limit_usd, trim_scale(spent_usd)::text as spent_usd, calls,
       unpriced as unpriced_calls, spent_usd >= limit_usd as reached
from timeline.ceilings_of($1, $2, $3)
"""


async def ceilings_of_call(c: Connection, tenant: str, key: str, mission: str | None) -> list[asyncpg.Record]:
    rows: list[asyncpg.Record] = await c.fetch(OF_CALL, tenant, key, mission)
    return rows


SET_CEILING = """
insert into timeline.ceilings (tenant, subject, period, limit_usd, set_by)
values ($1, $2, $3, $4::text::numeric, $5)
on conflict (tenant, subject, period) do update
set limit_usd = excluded.limit_usd, set_by = excluded.set_by, updated_at = excluded.updated_at
"""


async def set_ceiling(c: Connection, principal: Principal, subject: str, period: str, limit_usd: str) -> None:
    await c.execute(SET_CEILING, principal.tenant, subject, period, limit_usd, principal.key)


RESET_CEILING = "delete from timeline.ceilings where tenant = $1 and subject = $2 and period = $3"


async def reset_ceiling(c: Connection, tenant: str, subject: str, period: str) -> None:
    await c.execute(RESET_CEILING, tenant, subject, period)
