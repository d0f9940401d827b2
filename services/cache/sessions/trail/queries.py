"""The SQL of trails. Whoever adds an event holds the session, so numbers have no gaps."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg
import msgspec

from services.cache.sessions.access import VISIBLE, Reach
from services.cache.sessions.trail.messages import Kind, Role
from services.cache.sessions.trail.state import Compacted, Event, State
from shared.database.postgres import Connection

_FIELDS = "through, since, summary, messages, token_count"
# Damage shows by it: a restore that mixed two times or two sessions, an edit by hand.
_DIGEST = """sha256(convert_to(
    jsonb_build_array($1::text, $2::uuid, {0}.through, {0}.since, {0}.summary, {0}.messages, {0}.token_count)::text,
    'UTF8'))"""
# One statement, so that no event comes between the two rows.
SNAPSHOT = f"""
select {_FIELDS} from sessions.snapshots n
join sessions.sessions s on s.tenant = $1 and s.id = n.session_id
where n.tenant = $1 and n.session_id = $2 and n.through = s.last_seq and n.digest = {_DIGEST.format("n")}
"""


async def snapshot(connection: Connection, tenant: str, session_id: UUID) -> State | None:
    """None if there is none that says what the trail says up to its last event."""
    row = await connection.fetchrow(SNAPSHOT, tenant, session_id)
    if row is None:
        return None
    return State(row["through"], row["since"], row["summary"], row["messages"], row["token_count"])


# $3 a State.
PUT_SNAPSHOT = f"""
insert into sessions.snapshots (tenant, session_id, {_FIELDS}, digest, updated_at)
select $1, $2, r.through, r.since, r.summary, r.messages, r.token_count, {_DIGEST.format("r")}, statement_timestamp()
from jsonb_to_record($3) r(through bigint, since bigint, summary text, messages int, token_count bigint)
on conflict (tenant, session_id) do update set
    through = excluded.through, since = excluded.since, summary = excluded.summary, messages = excluded.messages,
    token_count = excluded.token_count, digest = excluded.digest, updated_at = excluded.updated_at
"""


async def put_snapshot(connection: Connection, tenant: str, session_id: UUID, state: State) -> None:
    columns = {**msgspec.structs.asdict(state), "token_count": state.tokens}
    await connection.execute(PUT_SNAPSHOT, tenant, session_id, columns)


EVENTS = """
select seq, kind, token_count, case when kind = 'compaction' then content end as content
from sessions.trail where tenant = $1 and session_id = $2 order by seq
"""


async def events(connection: Connection, tenant: str, session_id: UUID) -> list[Event]:
    """All events of the trail, with what the state needs of each."""
    return [
        Event(
            row["seq"],
            row["kind"],
            row["token_count"],
            None if row["content"] is None else msgspec.convert(row["content"][0], Compacted),
        )
        for row in await connection.fetch(EVENTS, tenant, session_id)
    ]


class NewEvent(msgspec.Struct, kw_only=True):
    """The columns of an event."""

    seq: int
    kind: Kind
    role: Role
    content: list[Any]
    token_count: int
    turn: int
    written_by: str
    occurred_at: datetime | None = None


# $3 NewEvents.
APPEND = """
with added as (
    insert into sessions.trail
        (tenant, session_id, seq, kind, role, content, token_count, turn, written_by, occurred_at)
    select $1, $2, r.seq, r.kind, r.role, r.content, r.token_count, r.turn, r.written_by, r.occurred_at
    from jsonb_array_elements($3) g(body)
    cross join lateral jsonb_to_record(g.body) r(seq bigint, kind text, role text, content jsonb, token_count int,
        turn int, written_by text, occurred_at timestamptz)
    returning seq, token_count,
              case when kind = 'tool_call' then 'tools' when role = 'assistant' then 'idle' else 'thinking' end as doing
), counted as (
    select max(seq) as last, count(*) as events, sum(token_count) as tokens,
           (array_agg(doing order by seq desc))[1] as doing
    from added
), told as (
    insert into timeline.events (tenant, scope, kind, mission_id, agent_name, session_id, payload)
    select s.tenant, s.scope, 'session_events', s.mission_id, s.agent_name, s.id::text,
           jsonb_build_object('last', c.last, 'events', c.events, 'tokens', c.tokens, 'doing', c.doing)
    from counted c, sessions.sessions s where s.tenant = $1 and s.id = $2
)
update sessions.sessions s set last_seq = coalesce(c.last, s.last_seq), last_active_at = statement_timestamp()
from counted c where s.tenant = $1 and s.id = $2
"""


async def append(connection: Connection, tenant: str, session_id: UUID, rows: Sequence[NewEvent]) -> None:
    await connection.execute(APPEND, tenant, session_id, rows)


_COLUMNS = "seq, kind, role, content, token_count as tokens, turn, written_by, created_at, occurred_at"
# A page ends before its events hold more tokens than this, but holds one event at least.
MOST_TOKENS = 500_000
# $3 after, $4 limit, $5 without tools.
HISTORY = f"""
select * from (
    select {_COLUMNS}, sum(token_count) over (order by seq) - token_count as before
    from sessions.trail
    where tenant = $1 and session_id = $2 and seq > $3 and (not $5 or kind <> 'tool_result')
    order by seq limit $4
) page
where before < {MOST_TOKENS} order by seq
"""


async def history(
    connection: Connection, tenant: str, session_id: UUID, *, after: int, limit: int, is_brief: bool
) -> list[asyncpg.Record]:
    rows: list[asyncpg.Record] = await connection.fetch(HISTORY, tenant, session_id, after, limit, is_brief)
    return rows


# The newest messages of the conversation. $3 and $4 say where it begins and ends.
MESSAGES = f"""
select * from (
    select {_COLUMNS}, sum(token_count) over (order by seq desc) - token_count as newer
    from sessions.trail
    where tenant = $1 and session_id = $2 and seq > $3 and seq <= $4
      and kind in ('message', 'tool_call', 'tool_result')
) conversation
where newer < {MOST_TOKENS} order by seq
"""


async def messages(
    connection: Connection, tenant: str, session_id: UUID, since: int, through: int
) -> list[asyncpg.Record]:
    rows: list[asyncpg.Record] = await connection.fetch(MESSAGES, tenant, session_id, since, through)
    return rows


# The oldest messages of the conversation: what a compaction may summarise.
OLDEST = f"""
select * from (
    select {_COLUMNS}, sum(token_count) over (order by seq) - token_count as before
    from sessions.trail
    where tenant = $1 and session_id = $2 and seq > $3 and kind in ('message', 'tool_call', 'tool_result')
    order by seq limit $4
) conversation
where before < {MOST_TOKENS} order by seq
"""


async def oldest(
    connection: Connection, tenant: str, session_id: UUID, since: int, limit: int
) -> list[asyncpg.Record]:
    rows: list[asyncpg.Record] = await connection.fetch(OLDEST, tenant, session_id, since, limit)
    return rows


# $3 the last event that was read, $4 names of calls.
ANSWERED = """
select distinct block ->> 'tool_use_id' as call
from sessions.trail t cross join lateral jsonb_array_elements(t.content) g(block)
where t.tenant = $1 and t.session_id = $2 and t.seq > $3 and t.kind in ('tool_call', 'tool_result')
  and block ->> 'tool_use_id' = any($4)
"""


async def answered(
    connection: Connection, tenant: str, session_id: UUID, after: int, calls: Sequence[str]
) -> frozenset[str]:
    """Those of the calls whose results come after an event."""
    rows = await connection.fetch(ANSWERED, tenant, session_id, after, calls)
    return frozenset(row["call"] for row in rows)


MOST_AT_ONCE = 200
# $5 the agent, $6 the key, $7 whether it changes only sessions of its users and its own.
HOLD_THESE = f"""
select s.id, s.last_seq, s.total_turns from sessions.sessions s
where s.tenant = $1 and {VISIBLE} and s.status = 'active' and ($5::text is null or s.agent_name = $5)
  and (not $7 or s.user_id is not null or s.written_by = $6)
  and s.last_seq > 0 and not exists (
      select from sessions.trail t
      where t.tenant = s.tenant and t.session_id = s.id and t.seq = s.last_seq and t.kind = 'reset')
order by s.id limit {MOST_AT_ONCE + 1} for no key update of s
"""


async def hold_these(
    connection: Connection, tenant: str, reach: Reach, *, agent_name: str | None, key: str
) -> list[asyncpg.Record]:
    """Active sessions that have a conversation, in the order of their ids."""
    rows: list[asyncpg.Record] = await connection.fetch(
        HOLD_THESE, tenant, *reach, agent_name, key, reach.users is not None
    )
    return rows
