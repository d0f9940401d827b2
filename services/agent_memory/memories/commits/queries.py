"""The SQL of commits, edits and deletions. Callers hold the lock of the agent whose memories they change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Self

import asyncpg
import msgspec

from services.agent_memory.memories.commits.content import MemoryContent
from shared.database.postgres import Connection
from shared.provenance import TRUSTED

LOCK_AGENTS = (
    "select pg_advisory_xact_lock(hashtextextended($1 || chr(31) || a, 3)) from unnest($2::text[]) a"
)


async def lock_agents(connection: Connection, tenant: str, agents: Iterable[str]) -> None:
    """Serializes the agents' writes, so that the second of two identical commits finds the first."""
    await connection.execute(LOCK_AGENTS, tenant, sorted(set(agents)))


_CONTENT = ", ".join(MemoryContent.__struct_fields__)
READ = f"""
select id, agent_name, pending, chunks, content_hash, stated_hash, created_at, {_CONTENT}
from memory.agent_memory where tenant = $1 and id = $2
"""


READ_HELD = f"{READ} for no key update"


async def read(connection: Connection, tenant: str, memory_id: int) -> asyncpg.Record | None:
    return await connection.fetchrow(READ, tenant, memory_id)


HOLD_ALL = f"{READ.replace('id = $2', 'id = any($2)')} order by id for no key update"


async def hold_all(
    connection: Connection, tenant: str, memory_ids: Iterable[int]
) -> dict[int, asyncpg.Record]:
    """As `hold`, by their ids."""
    rows = await connection.fetch(HOLD_ALL, tenant, sorted(set(memory_ids)))
    return {row["id"]: row for row in rows}


async def hold(connection: Connection, tenant: str, memory_id: int) -> asyncpg.Record | None:
    """Keeps the memory until the transaction ends. A purge, which takes no agent's lock, may have erased it."""
    return await connection.fetchrow(READ_HELD, tenant, memory_id)


def content_of(row: asyncpg.Record) -> MemoryContent:
    return MemoryContent(**{field: row[field] for field in MemoryContent.__struct_fields__})


class Confirmation(msgspec.Struct, frozen=True, kw_only=True):
    """A repetition of a memory. `absorbed_id` is its id from the time when it was a separate memory."""

    tenant: str
    memory_id: int
    written_by: str
    source_kind: str
    mission_namespace: str | None
    dispatch_id: int | None
    recalled_from: int | None
    absorbed_id: int | None
    stated_at: datetime | None
    """None: it is stated now."""


# $1 are Confirmations, $2 the kinds of trusted sources, $3 their tenant. Those that only repeat what an assembly
# recalled do not raise the count, and only a source that is trusted as much says when the memory was last stated.
CONFIRM = """
with given as (
    select g.place, r.memory_id, r.written_by, r.source_kind, r.mission_namespace, r.dispatch_id, r.recalled_from,
           r.absorbed_id, coalesce(stated.stated_at, statement_timestamp()) as stated_at
    from jsonb_array_elements($1) with ordinality g(body, place)
    cross join lateral jsonb_populate_record(null::memory.confirmations, g.body) r
    cross join lateral jsonb_to_record(g.body) as stated(stated_at timestamptz)
), noted as (
    insert into memory.confirmations (tenant, memory_id, written_by, source_kind, mission_namespace, dispatch_id,
        recalled_from, absorbed_id, count)
    select $3, memory_id, written_by, source_kind, mission_namespace, dispatch_id, recalled_from, absorbed_id, count(*)
    from given
    group by memory_id, written_by, source_kind, mission_namespace, dispatch_id, recalled_from, absorbed_id
    order by min(place)
    on conflict on constraint confirmations_origin
        do update set count = confirmations.count + excluded.count, last_at = excluded.last_at
)
update memory.agent_memory m set confirmed_count = m.confirmed_count + r.counted,
    confirmed_at = greatest(m.confirmed_at, case when m.source_kind = any ($2) then r.trusted_at else r.stated_at end),
    superseded_by = case when r.counted = 0 then m.superseded_by end,
    updated_at = statement_timestamp()
from (
    select memory_id, count(*) filter (where recalled_from is null) as counted,
           max(stated_at) filter (where recalled_from is null) as stated_at,
           max(stated_at) filter (where recalled_from is null and source_kind = any ($2)) as trusted_at
    from given group by memory_id
) r
where m.tenant = $3 and m.id = r.memory_id
"""


class Absorbed(NamedTuple):
    """What a repetition was while it was a separate memory."""

    id: int
    created_at: datetime


def confirmation(
    tenant: str, memory_id: int, repetition: MemoryContent, absorbed: Absorbed | None = None
) -> Confirmation:
    return Confirmation(
        tenant=tenant,
        memory_id=memory_id,
        written_by=repetition.written_by,
        source_kind=repetition.source_kind,
        mission_namespace=repetition.mission_namespace,
        dispatch_id=repetition.dispatch_id,
        recalled_from=repetition.recalled_from,
        absorbed_id=absorbed and absorbed.id,
        stated_at=repetition.occurred_at or (absorbed and absorbed.created_at),
    )


async def confirm(connection: Connection, tenant: str, confirmations: Sequence[Confirmation]) -> None:
    """Adds what repeats memories of the tenant."""
    await connection.execute(CONFIRM, confirmations, sorted(TRUSTED), tenant)


# Both memories are of one agent and user, and what is not trusted supersedes nothing that is. What supersedes is stated
# now, so it holds again.
SUPERSEDE = """
with done as (
    update memory.agent_memory older set superseded_by = newer.id
    from memory.agent_memory newer
    where older.tenant = $1 and older.id = $2 and newer.tenant = $1 and newer.id = $3 and older.id <> newer.id
      and older.agent_name = newer.agent_name and older.user_id is not distinct from newer.user_id
      and (older.source_kind <> all ($4) or newer.source_kind = any ($4))
    returning older.id, older.mission_namespace, older.agent_name, older.session_id
), held as (
    update memory.agent_memory newer set superseded_by = null
    from done where newer.tenant = $1 and newer.id = $3 and newer.superseded_by is not null
), told as (
    insert into timeline.events (tenant, scope, kind, mission_id, agent_name, session_id, payload)
    select $1, 'agent:' || agent_name, 'memory_supersede', mission_namespace, agent_name, session_id,
           jsonb_build_object('id', id, 'superseded_by', $3::bigint)
    from done
)
select id from done
"""


async def supersede(connection: Connection, tenant: str, older: int, newer: int) -> bool:
    """False if the newer memory may not supersede the older one."""
    return await connection.fetchval(SUPERSEDE, tenant, older, newer, sorted(TRUSTED)) is not None


# The absorbed memory's confirmations and accesses move to the memory that absorbs it.
ABSORB = """
with moved as (
    insert into memory.confirmations (tenant, memory_id, written_by, source_kind, mission_namespace, dispatch_id,
        recalled_from, absorbed_id, count, first_at, last_at)
    select tenant, $2, written_by, source_kind, mission_namespace, dispatch_id, recalled_from, absorbed_id, count,
           first_at, last_at
    from memory.confirmations where tenant = $1 and memory_id = $3
    on conflict on constraint confirmations_origin do update set
        count = confirmations.count + excluded.count,
        first_at = least(confirmations.first_at, excluded.first_at),
        last_at = greatest(confirmations.last_at, excluded.last_at)
), gone as (
    delete from memory.agent_memory m where m.tenant = $1 and m.id = $3
    returning id, confirmed_count, confirmed_at, greatest(access_count, (
        select a.access_count from memory.accesses a where a.tenant = $1 and a.memory_id = $3)) as access_count
), counted as (
    update memory.accesses a set access_count = a.access_count + gone.access_count
    from gone where a.tenant = $1 and a.memory_id = $2
), unqueued as (
    delete from memory.index_queue q using gone
    where q.tenant = $1 and q.store = 'agent_memory' and q.item_id = gone.id
)
update memory.agent_memory m set access_count = m.access_count + gone.access_count,
    confirmed_count = m.confirmed_count + gone.confirmed_count,
    confirmed_at = greatest(m.confirmed_at, gone.confirmed_at)
from gone where m.tenant = $1 and m.id = $2
"""


async def absorb(connection: Connection, tenant: str, memory_id: int, absorbed_id: int) -> None:
    await connection.execute(ABSORB, tenant, memory_id, absorbed_id)


# A deletion also deletes the memories' queue rows, after the memories: the indexer locks in that order.
DELETE = """
with gone as (
    delete from memory.agent_memory where tenant = $1 and id = $2 and agent_name = $3 returning id
), unqueued as (
    delete from memory.index_queue q using gone
    where q.tenant = $1 and q.store = 'agent_memory' and q.item_id = gone.id
)
select count(*) from gone
"""


async def delete(connection: Connection, tenant: str, memory_id: int, agent_name: str) -> bool:
    return bool(await connection.fetchval(DELETE, tenant, memory_id, agent_name))


class NewEvent(msgspec.Struct, frozen=True):
    """What happened to a memory of the agent, for the timeline."""

    agent_name: str
    payload: dict[str, Any]
    mission_id: str | None = None
    session_id: str | None = None
    dispatch_id: int | None = None

    @classmethod
    def of(cls, agent: str, memory: MemoryContent, payload: dict[str, Any]) -> Self:
        """With the mission, session and dispatch of `memory`."""
        return cls(agent, payload, memory.mission_namespace, memory.session_id, memory.dispatch_id)


ADD_EVENTS = """
insert into timeline.events (tenant, scope, kind, mission_id, agent_name, session_id, dispatch_id, payload)
select $1, 'agent:' || e.agent_name, $2, e.mission_id, e.agent_name, e.session_id, e.dispatch_id, e.payload
from rows from (jsonb_to_recordset($3) as (
        agent_name text, payload jsonb, mission_id text, session_id text, dispatch_id bigint
    )) with ordinality e(agent_name, payload, mission_id, session_id, dispatch_id, place)
order by e.place
"""


async def add_events(connection: Connection, tenant: str, kind: str, events: Sequence[NewEvent]) -> None:
    await connection.execute(ADD_EVENTS, tenant, kind, events)
