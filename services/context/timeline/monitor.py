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

_DISPATCHES = "('dispatch_report', 'dispatch_progress', 'dispatch_complete', 'dispatch_stale')"
# A dispatch is open if its latest event is a report or progress, neither a completion nor a stale mark. A key of some
# users ($10) sees no sessions. Nothing is joined: the planner cannot know how many agents a moment has.
AGENTS = f"""
with recent as materialized (
    select seq, kind, mission_id, agent_name, session_id, dispatch_id, created_at,
           case when kind in ('session_events', 'session_turn') then payload end as payload
    from timeline.events
    where tenant = $1 and seq is not null and created_at > now() - $2 * interval '1 minute'
      and agent_name is not null and ($3::text is null or mission_id = $3)
      and ($4::text[] is null or mission_id = any($4)) and ($5::text is null or agent_name = $5)
      and ($10::text[] is null or scope not like 'user:%' or substr(scope, 6) = any($10))
    order by seq desc limit $6
), told as (
    select *, count(*) over of_kind as n, row_number() over (of_kind order by seq desc) = 1 as newest_of_kind,
           kind in ('dispatch_report', 'dispatch_progress') and row_number() over (
               partition by dispatch_id, kind in {_DISPATCHES} order by seq desc) = 1 as open
    from recent window of_kind as (partition by agent_name, kind)
), agents as (
    select agent_name, max(seq) as seq, jsonb_object_agg(kind, n) filter (where newest_of_kind) as events,
           (array_agg(kind order by seq desc))[1] as last_event, (array_agg(created_at order by seq desc))[1] as at,
           (array_agg(mission_id order by seq desc))[1] as mission_id,
           (array_agg(session_id order by seq desc))[1] as session_id,
           (array_agg(dispatch_id order by seq desc))[1] as dispatch_id,
           (array_agg(payload ->> 'doing' order by seq desc) filter (where payload ? 'doing'))[1] as doing,
           (array_agg((payload ->> 'turn')::int order by seq desc) filter (where payload ? 'turn'))[1] as turn,
           max(created_at) filter (where kind = 'assemble') as last_assembly_at,
           max(created_at) filter (where kind = any ($11)) as last_write_at,
           coalesce(array_agg(dispatch_id order by dispatch_id) filter (where open), '{{}}') as open_dispatches
    from told group by agent_name
)
select l.seq, l.agent_name, l.last_event, l.at, l.mission_id,
       case when $10::text[] is null then l.session_id end as session_id, l.dispatch_id, l.events,
       case when l.at > now() - $7 * interval '1 minute' then 'active' else 'idle' end as status,
       case when l.at > now() - $7 * interval '1 minute' then l.doing else 'idle' end as doing,
       l.turn, l.last_assembly_at, l.last_write_at, l.open_dispatches,
       (select trim_scale(coalesce(sum(k.cost_usd), 0))::text from timeline.costs_by_day k
        where k.tenant = $1 and k.agent_name = l.agent_name
          and k.day = (now() at time zone 'utc')::date
          and ($3::text is null or k.mission_id = $3) and ($4::text[] is null or k.mission_id = any($4))
          and ($10::text[] is null or k.scope not like 'user:%' or substr(k.scope, 6) = any($10))) as cost_today_usd
from agents l
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
