"""The SQL of memories' vectors: find near ones, store them, and queue the memories that lack them."""

from __future__ import annotations

from collections.abc import Sequence

import asyncpg
from pgvector import HalfVector

from shared.database.postgres import Connection

# The sum keeps the planner off the HNSW index, which could miss the duplicate.
NEAREST = """
select m.id, m.content, m.written_by, m.mission_namespace
from (
    select v.item_id, (v.embedding <=> $4) + 0.0 as distance
    from memory.agent_memory_vec v
    where v.tenant = $1 and v.scope = 'agent:' || $2 and v.model = $3 and v.private = $6 and v.item_id <> $7
    order by (v.embedding <=> $4) + 0.0 limit 50
) near
join memory.agent_memory m on m.tenant = $1 and m.id = near.item_id
where near.distance < $5 and m.chunks = 1 and m.user_id is null
order by near.distance, near.item_id
"""
# A user has few memories, among many that say the same about other users.
NEAREST_OF_USER = """
select m.id, m.content, m.written_by, m.mission_namespace
from memory.agent_memory m
join memory.agent_memory_vec v on v.tenant = m.tenant and v.item_id = m.id and v.chunk = 0 and v.model = $3
where m.tenant = $1 and m.user_id = $8 and m.agent_name = $2 and m.chunks = 1 and m.private = $6 and m.id <> $7
  and v.embedding <=> $4 < $5
order by (v.embedding <=> $4) + 0.0, m.id limit 50
"""


async def nearest(
    connection: Connection,
    *,
    tenant: str,
    agent_name: str,
    model: str,
    vector: HalfVector,
    distance: float,
    private: bool,
    user_id: str | None,
    other_than: int,
) -> list[asyncpg.Record]:
    """The agent's memories about this user, or about no user, nearest first."""
    near = (tenant, agent_name, model, vector, distance, private, other_than)
    rows: list[asyncpg.Record]
    if user_id is None:
        rows = await connection.fetch(NEAREST, *near)
    else:
        rows = await connection.fetch(NEAREST_OF_USER, *near, user_id)
    return rows


# The place in the array is the chunk.
PUT_VECTORS = """
insert into memory.agent_memory_vec (tenant, scope, item_id, chunk, model, private, embedding)
select m.tenant, m.scope, m.id, g.place - 1, $3, m.private, g.embedding
from memory.agent_memory m, unnest($4::halfvec[]) with ordinality g(embedding, place)
where m.tenant = $1 and m.id = $2
on conflict (tenant, item_id, chunk, model) do update set embedding = excluded.embedding
"""


async def put_vectors(
    connection: Connection, tenant: str, memory_id: int, model: str, vectors: Sequence[HalfVector]
) -> None:
    """Stores one vector per chunk, in the order of the chunks."""
    await connection.execute(PUT_VECTORS, tenant, memory_id, model, list(vectors))


DROP_VECTORS = "delete from memory.agent_memory_vec where tenant = $1 and item_id = $2"


async def drop_vectors(connection: Connection, tenant: str, memory_id: int) -> None:
    await connection.execute(DROP_VECTORS, tenant, memory_id)


QUEUE = """
insert into memory.index_queue (tenant, store, scope, item_id, model)
values ($1, 'agent_memory', 'agent:' || $2, $3, $4)
on conflict (tenant, store, item_id, model) do update set due_at = excluded.due_at, attempts = 0
"""


async def queue(connection: Connection, tenant: str, agent_name: str, memory_id: int, model: str) -> None:
    await connection.execute(QUEUE, tenant, agent_name, memory_id, model)


DEQUEUE = """
delete from memory.index_queue where tenant = $1 and store = 'agent_memory' and item_id = $2 and model = $3
"""
SETTLE = "update memory.agent_memory set pending = false where tenant = $1 and id = $2 and pending"


async def settle(connection: Connection, tenant: str, memory_id: int, model: str) -> None:
    """Marks that the memory has its vectors: removes it from the queue and ends the wait for its duplicates."""
    await connection.execute(DEQUEUE, tenant, memory_id, model)
    await connection.execute(SETTLE, tenant, memory_id)
