"""The SQL that finds what commits, edits and late vectors repeat. One statement serves any number of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import asyncpg
from pgvector import HalfVector

from services.agent_memory.memories.commits.content import MemoryContent
from shared.database.postgres import Connection


class Commit(NamedTuple):
    """A memory as an agent states it."""

    agent: str
    memory: MemoryContent
    fact: bytes | None
    """The memory's content hash. None: only near memories count as repeats."""
    vector: HalfVector | None
    """None when the embedder failed, and for memories of more than one chunk."""


# $1 tenant, $2 to $6 the commits' columns, $7 model, $8 distance, $9 the memory that is near itself. A row is a memory
# with the same fact (without a distance), a near memory, or `earlier`: the place of a near commit before it. A user
# has few memories, among many that say the same about other users. The sums keep the planner off the HNSW index, which
# could miss a repeat.
FIND_REPEATS = """
with given as (
    select * from unnest($2::text[], $3::bytea[], $4::halfvec[], $5::bool[], $6::text[]) with ordinality
        g(agent_name, content_hash, embedding, private, user_id, place)
), known as (
    select g.place, m.id
    from given g
    join memory.agent_memory m
        on m.tenant = $1 and m.agent_name = g.agent_name and m.content_hash = g.content_hash
), asked as (
    select * from given g
    where g.embedding is not null and not exists (select from known k where k.place = g.place)
)
select place, id, null::bigint as earlier, null::text as content, null::text as written_by,
       null::text as mission_namespace, null::float8 as distance
from known
union all
select a.place, m.id, null, m.content, m.written_by, m.mission_namespace, near.distance
from asked a
cross join lateral (
    select v.item_id, (v.embedding <=> a.embedding) + 0.0 as distance
    from memory.agent_memory_vec v
    where v.tenant = $1 and v.scope = 'agent:' || a.agent_name and v.model = $7 and v.private = a.private
      and v.item_id <> $9
    order by (v.embedding <=> a.embedding) + 0.0 limit 50
) near
join memory.agent_memory m on m.tenant = $1 and m.id = near.item_id
where a.user_id is null and near.distance < $8 and m.chunks = 1 and m.user_id is null
union all
select a.place, near.id, null, near.content, near.written_by, near.mission_namespace, near.distance
from asked a
cross join lateral (
    select m.id, m.content, m.written_by, m.mission_namespace, (v.embedding <=> a.embedding) + 0.0 as distance
    from memory.agent_memory m
    join memory.agent_memory_vec v on v.tenant = $1 and v.item_id = m.id and v.chunk = 0 and v.model = $7
    where m.tenant = $1 and m.user_id = a.user_id and m.agent_name = a.agent_name and m.chunks = 1
      and m.private = a.private and m.id <> $9 and v.embedding <=> a.embedding < $8
    order by distance, m.id limit 50
) near
where a.user_id is not null
union all
select a.place, null, b.place, null, null, null, a.embedding <=> b.embedding
from asked a
join given b on b.place < a.place and b.agent_name = a.agent_name and b.private = a.private
    and b.user_id is not distinct from a.user_id
where b.embedding <=> a.embedding < $8
order by place, distance nulls first, id, earlier
"""


async def find_repeats(
    connection: Connection,
    tenant: str,
    commits: Sequence[Commit],
    *,
    model: str,
    distance: float,
    other_than: int = 0,
) -> list[asyncpg.Record]:
    """What each commit may repeat, by its place from 1 on. The nearest come first, stored memories before commits."""
    rows: list[asyncpg.Record] = await connection.fetch(
        FIND_REPEATS,
        tenant,
        [commit.agent for commit in commits],
        [commit.fact for commit in commits],
        [commit.vector for commit in commits],
        [commit.memory.private for commit in commits],
        [commit.memory.user_id for commit in commits],
        model,
        distance,
        other_than,
    )
    return rows
