"""The SQL that reads objects, and what a session's context holds of them."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import asyncpg

from services.cache.sessions.access import Reach
from services.cache.sessions.objects.schemas import SemanticObject
from services.cache.sessions.queries import NAMED
from shared.database.postgres import Connection
from shared.database.tenancy import look

# At its fidelity. A summary that was never made leaves the stub.
_CONTENT = """case {level} when 0 then o.content_full when 1 then coalesce(o.summary_detailed, o.stub)
    when 2 then coalesce(o.summary_compact, o.stub) when 3 then o.stub end"""
_TOKENS = """case {level} when 0 then o.tokens_l0 when 1 then coalesce(o.tokens_l1, o.tokens_l3)
    when 2 then coalesce(o.tokens_l2, o.tokens_l3) when 3 then o.tokens_l3 else 0 end"""
TOKENS = _TOKENS.format(level="o.current_fidelity")
_SENT_TOKENS = f"""({_TOKENS.format(level="o.sent_fidelity")})
    + case when o.risen_place is null then 0 else {_TOKENS.format(level="o.risen_fidelity")} end"""
_COLUMNS = ", ".join(f"o.{name}" for name in SemanticObject.__struct_fields__ if name != "content")
COLUMNS = f"{_COLUMNS}, {_CONTENT.format(level='o.current_fidelity')} as content"

# $3 the object, $4 the fidelity to show it at; null: its own.
OBJECT = f"""
select {_COLUMNS}, {_CONTENT.format(level="coalesce($4::int, o.current_fidelity)")} as content
from sessions.semantic_objects o where o.tenant = $1 and o.session_id = $2 and o.id = $3
"""


async def find(
    connection: Connection, tenant: str, session_id: UUID, object_id: UUID, fidelity: int | None = None
) -> asyncpg.Record | None:
    return await connection.fetchrow(OBJECT, tenant, session_id, object_id, fidelity)


KNOWN = """
select o.id, o.segment, o.content_hash, o.tokens_l0 as tokens, o.last_accessed_turn as last_access
from sessions.semantic_objects o
where o.tenant = $1 and o.session_id = $2 and o.source_key = $3 and o.superseded_by is null
order by o.segment, o.place
"""


async def known(
    connection: Connection, tenant: str, session_id: UUID, source_key: str
) -> list[asyncpg.Record]:
    """The current parts of a source."""
    rows: list[asyncpg.Record] = await connection.fetch(KNOWN, tenant, session_id, source_key)
    return rows


TEXTS = """
select o.id, o.content_full from sessions.semantic_objects o
where o.tenant = $1 and o.session_id = $2 and o.id = any($3)
"""


async def texts(
    connection: Connection, tenant: str, session_id: UUID, objects: Sequence[UUID]
) -> list[asyncpg.Record]:
    rows: list[asyncpg.Record] = await connection.fetch(TEXTS, tenant, session_id, list(objects))
    return rows


PAGED = """
select o.id, o.object_type, o.source_key, o.place, o.sent_fidelity, o.risen_place, o.risen_fidelity,
       o.current_fidelity, o.tokens_l0, o.tokens_l1, o.tokens_l2, o.tokens_l3,
       o.pinned and coalesce(o.pinned_until >= $3, true) as pinned, o.superseded_by is not null as superseded,
       o.last_accessed_turn, o.access_count
from sessions.semantic_objects o where o.tenant = $1 and o.session_id = $2
  and (o.current_fidelity < 4 or o.sent_fidelity < 4 or o.risen_place is not null)
"""


async def paged(connection: Connection, tenant: str, session_id: UUID, turn: int) -> list[asyncpg.Record]:
    """What the policy of paging reads of each object that stands in the context."""
    rows: list[asyncpg.Record] = await connection.fetch(PAGED, tenant, session_id, turn)
    return rows


# What the block shows, to be ordered by `place`. What rose stands twice: where it was sent, and behind everything else.
# A list without elements is null, so that nobody has to decode it. A session that shows nothing has one row.
BLOCK = look(f"""
select s.marks, shown.* from {NAMED} left join lateral (
    select o.id, o.object_type, o.source_key, o.current_fidelity, nullif(o.key_entities, '[]') as key_entities,
           nullif(o.tags, '{{}}') as tags, o.created_at,
           o.pinned and coalesce(o.pinned_until >= s.total_turns, true) as pinned, p.place, p.level as fidelity,
           {_CONTENT.format(level="p.level")} as content, {_TOKENS.format(level="p.level")} as tokens,
           nullif(case p.level when 1 then o.losses_l1 when 2 then o.losses_l2 end, '[]') as losses,
           nullif(case p.level when 1 then o.can_answer_l1 when 2 then o.can_answer_l2 end, '[]') as can_answer,
           nullif(case when p.level > 0 then o.fault_when end, '[]') as fault_when
    from sessions.semantic_objects o
    cross join lateral (values (o.place, o.sent_fidelity), (o.risen_place, o.risen_fidelity)) p(place, level)
    where o.tenant = $1 and o.session_id = s.id and p.level < 4
) shown on true
""")


async def block(connection: Connection, tenant: str, reach: Reach, session_id: UUID) -> list[asyncpg.Record]:
    rows: list[asyncpg.Record] = await connection.fetch(
        BLOCK.within, tenant, *reach, session_id, str(session_id)
    )
    return rows


_SUMS = f"""coalesce(sum({TOKENS}), 0)::bigint as total_context_tokens,
       coalesce(sum({_SENT_TOKENS}), 0)::bigint as block_tokens,
       count(*) filter (where o.current_fidelity = 0) as objects_at_l0,
       count(*) filter (where o.current_fidelity = 1) as objects_at_l1,
       count(*) filter (where o.current_fidelity = 2) as objects_at_l2,
       count(*) filter (where o.current_fidelity = 3) as objects_at_l3,
       count(*) filter (where o.current_fidelity = 4) as objects_evicted,
       count(*) filter (where o.pinned and coalesce(o.pinned_until >= {{turn}}, true)) as objects_pinned"""
PRESSURE = f"""
select {_SUMS.format(turn="$3")} from sessions.semantic_objects o where o.tenant = $1 and o.session_id = $2
"""
PRESSURE_NOW = look(f"""
select s.config, s.total_turns as turn, pressure.*
from {NAMED} cross join lateral (
    select {_SUMS.format(turn="s.total_turns")}
    from sessions.semantic_objects o where o.tenant = $1 and o.session_id = s.id
) pressure
""")


async def pressure(connection: Connection, tenant: str, session_id: UUID, turn: int) -> asyncpg.Record:
    row = await connection.fetchrow(PRESSURE, tenant, session_id, turn)
    assert row is not None
    return row


# $3 objects. Two hops along what an object needs; a circle ends, because no path has more.
RELATED = f"""
with recursive near as (
    select r.target_id as id, 1 as depth from sessions.object_relationships r
    where r.tenant = $1 and r.source_id = any($3) and r.relationship in ('depends_on', 'references', 'caused_by')
    union
    select r.target_id, n.depth + 1 from near n
    join sessions.object_relationships r on r.tenant = $1 and r.source_id = n.id
    where n.depth < 2 and r.relationship in ('depends_on', 'references', 'caused_by')
)
select o.id, o.current_fidelity, {TOKENS} as tokens, o.tokens_l0
from (select id, min(depth) as depth from near group by id) n
join sessions.semantic_objects o on o.tenant = $1 and o.id = n.id
where o.session_id = $2 and o.id <> all($3) and o.current_fidelity > 1 and o.superseded_by is null
order by n.depth, o.last_accessed desc, o.id limit 50
"""


async def related(
    connection: Connection, tenant: str, session_id: UUID, objects: Sequence[UUID]
) -> list[asyncpg.Record]:
    """What could come up with them, the nearest first."""
    rows: list[asyncpg.Record] = await connection.fetch(RELATED, tenant, session_id, list(objects))
    return rows
