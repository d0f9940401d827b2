"""The SQL that changes objects. Its callers hold the session."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import asyncpg
import msgspec

from services.cache.sessions.objects.batching import Placement
from services.cache.sessions.objects.queries import PRESSURE
from services.cache.sessions.paging.fidelity import Fidelity, Zone
from shared.database.postgres import Connection

TOUCH = """
update sessions.semantic_objects o
set last_accessed = statement_timestamp(), last_accessed_turn = $4, access_count = o.access_count + 1
where o.tenant = $1 and o.session_id = $2 and o.id = any($3)
"""


async def touch(
    connection: Connection, tenant: str, session_id: UUID, objects: Sequence[UUID], turn: int
) -> None:
    await connection.execute(TOUCH, tenant, session_id, list(objects), turn)


class Move(msgspec.Struct, frozen=True):
    """A change of an object's fidelity."""

    id: UUID
    to: Fidelity
    trigger: str
    rises: bool = False
    """It shows behind everything else until the next batch."""


# $3 Moves, $4 turn, $5 zone, $6 tokens, $7 the last place that is taken. Objects that have the fidelity are left out.
MOVE = """
with moved as materialized (
    select r.id, r."to", r.trigger, r.rises, o.current_fidelity as "from", g.place
    from jsonb_array_elements($3) with ordinality g(body, place)
    cross join lateral jsonb_to_record(g.body) r(id uuid, "to" smallint, trigger text, rises boolean)
    join sessions.semantic_objects o on o.tenant = $1 and o.id = r.id
    where o.session_id = $2 and o.current_fidelity <> r."to"
), kept as (
    insert into sessions.fidelity_transitions
        (tenant, session_id, object_id, from_fidelity, to_fidelity, trigger, turn_number, pressure_zone, token_count)
    select $1, $2, m.id, m."from", m."to", m.trigger, $4, $5, $6 from moved m order by m.place
)
update sessions.semantic_objects o
set current_fidelity = m."to",
    risen_place = case when m.rises then coalesce(o.risen_place, $7 + m.place) else o.risen_place end,
    risen_fidelity = case when m.rises then m."to" else o.risen_fidelity end
from moved m where o.tenant = $1 and o.session_id = $2 and o.id = m.id
returning o.id
"""
TAKE_PLACES = "update sessions.sessions set last_place = last_place + $3 where tenant = $1 and id = $2"


async def move(
    connection: Connection,
    tenant: str,
    session_id: UUID,
    moves: Sequence[Move],
    *,
    turn: int,
    zone: Zone,
    tokens: int,
    last_place: int,
) -> list[UUID]:
    """Records a transition for each object whose fidelity changes. Returns these."""
    if not moves:
        return []
    rows = await connection.fetch(MOVE, tenant, session_id, moves, turn, zone, tokens, last_place)
    if any(each.rises for each in moves):
        await connection.execute(TAKE_PLACES, tenant, session_id, len(moves))
    return [row["id"] for row in rows]


# $3 pairs of an older and a newer object.
SUPERSEDE = """
with pair as materialized (
    select r.older, r.newer from jsonb_to_recordset($3) r(older uuid, newer uuid)
), related as (
    insert into sessions.object_relationships (tenant, session_id, source_id, target_id, relationship)
    select $1, $2, p.newer, p.older, 'supersedes' from pair p
)
update sessions.semantic_objects o
set superseded_by = p.newer, pinned = false, pinned_until = null
from pair p where o.tenant = $1 and o.session_id = $2 and o.id = p.older
"""


class Pair(msgspec.Struct, frozen=True):
    older: UUID
    newer: UUID


async def supersede(connection: Connection, tenant: str, session_id: UUID, pairs: Sequence[Pair]) -> None:
    if pairs:
        await connection.execute(SUPERSEDE, tenant, session_id, pairs)


PIN = """
update sessions.semantic_objects o set pinned = $4, pinned_until = $5, pin_reason = $6
where o.tenant = $1 and o.session_id = $2 and o.id = $3
"""


async def pin(
    connection: Connection,
    tenant: str,
    session_id: UUID,
    object_id: UUID,
    *,
    pinned: bool,
    until: int | None = None,
    reason: str | None = None,
) -> None:
    await connection.execute(PIN, tenant, session_id, object_id, pinned, until, reason)


FAULTS_BEFORE = """
select count(*) from sessions.fault_history f
join sessions.semantic_objects o on o.tenant = $1 and o.id = $3
where f.tenant = $1 and f.session_id = $2 and f.content_hash = encode(o.content_hash, 'hex')
  and f.fault_type <> 'micro_fault'
"""


async def faults_before(connection: Connection, tenant: str, session_id: UUID, object_id: UUID) -> int:
    """How often this content was brought back before."""
    return int(await connection.fetchval(FAULTS_BEFORE, tenant, session_id, object_id))


# $3 object, $4 type, $5 turn, $6 milliseconds.
FAULT = """
with faulted as (
    update sessions.semantic_objects o
    set fault_count = o.fault_count + 1, access_count = o.access_count + 1, last_accessed_turn = $5,
        last_accessed = statement_timestamp()
    where o.tenant = $1 and o.session_id = $2 and o.id = $3
    returning o.id, o.content_hash
), kept as (
    insert into sessions.fault_history
        (tenant, session_id, object_id, fault_type, turn_number, content_hash, latency_ms)
    select $1, $2, f.id, $4, $5, encode(f.content_hash, 'hex'), $6 from faulted f
)
update sessions.sessions s set total_faults = s.total_faults + 1, last_active_at = statement_timestamp()
from faulted f where s.tenant = $1 and s.id = $2
"""


async def fault(
    connection: Connection,
    tenant: str,
    session_id: UUID,
    object_id: UUID,
    fault_type: str,
    *,
    turn: int,
    milliseconds: int,
) -> None:
    await connection.execute(FAULT, tenant, session_id, object_id, fault_type, turn, milliseconds)


# $3 the turn, $4 how many objects were released. The event and the count of turns do not wait for the pressure.
END_TURN = f"""
with ended as (
    update sessions.sessions s set total_turns = $3, last_active_at = statement_timestamp()
    where s.tenant = $1 and s.id = $2
    returning s.scope, s.mission_id, s.agent_name
), unpinned as (
    update sessions.semantic_objects o set pinned = false, pinned_until = null
    where o.tenant = $1 and o.session_id = $2 and o.pinned and o.pinned_until < $3
), told as (
    insert into timeline.events (tenant, scope, kind, mission_id, agent_name, session_id, payload)
    select $1, e.scope, 'session_turn', e.mission_id, e.agent_name, $2::text,
           jsonb_build_object('turn', $3::int, 'released', $4::int)
    from ended e
)
{PRESSURE}"""


async def end_turn(
    connection: Connection, tenant: str, session_id: UUID, turn: int, *, released: int
) -> asyncpg.Record:
    """`turn` is how many have ended. Pins that were for turns up to it end. Returns the pressure."""
    row = await connection.fetchrow(END_TURN, tenant, session_id, turn, released)
    assert row is not None
    return row


# $3 Placements.
SETTLE = """
update sessions.semantic_objects o
set place = p.place, sent_fidelity = p.sent_fidelity, risen_place = p.risen_place,
    risen_fidelity = p.risen_fidelity
from jsonb_to_recordset($3)
    p(id uuid, place bigint, sent_fidelity smallint, risen_place bigint, risen_fidelity smallint)
where o.tenant = $1 and o.session_id = $2 and o.id = p.id
"""


async def settle(
    connection: Connection, tenant: str, session_id: UUID, placements: Sequence[Placement]
) -> None:
    """Writes anew what the block shows behind what stays."""
    if placements:
        await connection.execute(SETTLE, tenant, session_id, placements)


SET_GOAL = """
update sessions.sessions s set goal = $3, last_active_at = statement_timestamp() where s.tenant = $1 and s.id = $2
"""


async def set_goal(connection: Connection, tenant: str, session_id: UUID, goal: str | None) -> None:
    await connection.execute(SET_GOAL, tenant, session_id, goal)
