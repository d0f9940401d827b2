"""The SQL of memories' vectors: store them, and queue the memories that lack them."""

from __future__ import annotations

from collections.abc import Sequence

from pgvector import HalfVector

from shared.database.postgres import Connection

# The place in the array is the chunk.
PUT_VECTORS = """
insert into memory.agent_memory_vec (tenant, scope, item_id, chunk, model, private, large, embedding)
select m.tenant, m.scope, m.id, g.place - 1, $3, m.private,
       exists (select from memory.large_tenants l where l.tenant = $1), g.embedding
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
delete from memory.index_queue where tenant = $1 and store = 'agent_memory' and item_id = $2
  and model is not distinct from $3
"""
SETTLE = "update memory.agent_memory set pending = false where tenant = $1 and id = $2 and pending"


async def settle(connection: Connection, tenant: str, memory_id: int, model: str) -> None:
    """Marks that the memory has its vectors: removes it from the queue and ends the wait for its duplicates."""
    await connection.execute(DEQUEUE, tenant, memory_id, model)
    await connection.execute(SETTLE, tenant, memory_id)
