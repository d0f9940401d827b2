"""What each agent is doing now, derived from the timeline alone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from shared.auth import Principal
from shared.database.postgres import Database
from shared.deadline import Deadline
from shared.paging.cursors import Cursor
from shared.paging.pages import Page, page_of
from shared.text import BigId

# An agent that has been silent for longer is idle.
IDLE_MINUTES = 5
_MOST_EVENTS = 20_000
_WRITES = [
    *("cache_write", "memory_commit", "long_term_write", "kg_add", "kg_alias", "session_events"),
    *("session_objects", "dispatch_report", "dispatch_progress", "dispatch_complete"),
]

# A dispatch is open if its latest event is a report or progress, neither a completion nor a stale mark. A key of some
# users ($10) sees no sessions.
AGENTS = """
with recent as materialized (
    select seq, kind, mission_id, agent_name, session_id, dispatch_id, created_at,
           case when kind in ('session_events', 'session_turn') then payload end as payload
    from timeline.events
    where tenant = $1 and seq is not null and created_at > now() - $2 * interval '1 minute'
      and agent_name is not null and ($3::text is null or mission_id = $3)
      and ($4::text[] is null or mission_id = any($4)) and ($5::text is null or agent_name = $5)
      and ($10::text[] is null or scope not like 'user:%' or substr(scope, 6) = any($10))
    order by seq desc limit $6
), dispatches as (
    select distinct on (dispatch_id) dispatch_id, agent_name, kind from recent
    where kind in ('dispatch_report', 'dispatch_progress', 'dispatch_complete', 'dispatch_stale')
    order by dispatch_id, seq desc
), latest as (
    select distinct on (agent_name) * from recent order by agent_name, seq desc
), said as (
    select agent_name, (array_agg(payload ->> 'doing' order by seq desc) filter (where payload ? 'doing'))[1] as doing,
           (array_agg((payload ->> 'turn')::int order by seq desc) filter (where payload ? 'turn'))[1] as turn,
           max(created_at) filter (where kind = 'assemble') as last_assembly_at,
           max(created_at) filter (where kind = any ($11)) as last_write_at
    from recent group by agent_name
), counted as (
    select agent_name, jsonb_object_agg(kind, n) as events
    from (select agent_name, kind, count(*) as n from recent group by agent_name, kind) k group by agent_name
)
select l.seq, l.agent_name, l.kind as last_event, l.created_at as at, l.mission_id,
       case when $10::text[] is null then l.session_id end as session_id, l.dispatch_id, c.events,
       case when l.created_at > now() - $7 * interval '1 minute' then 'active' else 'idle' end as status,
       case when l.created_at > now() - $7 * interval '1 minute' then said.doing else 'idle' end as doing,
       said.turn, said.last_assembly_at, said.last_write_at,
       (select trim_scale(coalesce(sum(k.cost_usd), 0))::text from timeline.costs_by_day k
        where k.tenant = $1 and k.agent_name = l.agent_name
          and k.day = (now() at time zone 'utc')::date
          and ($3::text is null or k.mission_id = $3) and ($4::text[] is null or k.mission_id = any($4))
          and ($10::text[] is null or k.scope not like 'user:%' or substr(k.scope, 6) = any($10))) as cost_today_usd,
       array(select d.dispatch_id from dispatches d where d.agent_name = l.agent_name
             and d.kind in ('dispatch_report', 'dispatch_progress') order by 1) as open_dispatches
from latest l join counted c on c.agent_name = l.agent_name join said on said.agent_name = l.agent_name
where l.seq < coalesce($8::bigint, 9223372036854775807)
order by l.seq desc limit $9
"""


class MonitoredAgent(msgspec.Struct):
    seq: int
    """The number of its last event."""
    agent_name: str
    status: str
    """`active` if it did something in the last five minutes, or else `idle`."""
    doing: str | None
    """`thinking`, `tools` or `idle`, by the last message in the trail of its session. Null: it keeps no trail."""
    turn: int | None
    """The last turn that its session ended, in the requested time."""
    last_write_at: datetime | None
    """When it last wrote something that is remembered."""
    last_assembly_at: datetime | None
    """When it last asked for a context."""
    cost_today_usd: str
    """What its calls of models cost since midnight UTC, as far as their prices are known."""
    last_event: str
    """The kind of its last event, such as `cache_write`."""
    at: datetime
    """When it did that."""
    mission_id: str | None
    session_id: str | None
    dispatch_id: int | None
    open_dispatches: list[int]
    """Dispatches that it was given and has not closed."""
    events: dict[str, int]
    """How many events of each kind it caused in the requested time."""


class Monitored(Page[MonitoredAgent]):
    """A page of agents, the most recently active first."""


class MonitorCursor(Cursor, tag="monitor"):
    seq: BigId


async def monitored(
    database: Database,
    principal: Principal,
    mission: str | None,
    minutes: int,
    cursor: str | None,
    limit: int,
    deadline: Deadline,
) -> Monitored:
    """Raises Forbidden for a mission that the key has no grant for. A key bound to an agent sees only that agent."""
    if mission is not None:
        principal.require_mission(mission)
    position = MonitorCursor.read(cursor)
    before = None if position is None else position.seq
    bounds: Sequence[Any] = (principal.tenant, minutes, mission, principal.seen_missions(), principal.agent)
    users = principal.seen_users()
    rows = await database.run(
        principal.tenant,
        lambda c: c.fetch(AGENTS, *bounds, _MOST_EVENTS, IDLE_MINUTES, before, limit + 1, users, _WRITES),
        deadline,
    )
    page = page_of(rows, limit, lambda row: MonitorCursor(seq=row["seq"]))
    return Monitored([MonitoredAgent(**dict(row)) for row in page.rows], page.next)
