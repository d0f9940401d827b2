"""The SQL that changes memories. Functions take the connection first and never commit.

Callers hold the lock of the agent whose memories they change.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import asyncpg
import msgspec
from pgvector import HalfVector

from services.agent_memory.memories.merging import Statement
from shared.database.postgres import Connection

LOCK_AGENT = "select pg_advisory_xact_lock(hashtextextended($1 || chr(31) || $2, 3))"


async def lock_agent(connection: Connection, tenant: str, agent_name: str) -> None:
    """One agent's writes go one after the other: of two identical ones, the second finds the first."""
    await connection.execute(LOCK_AGENT, tenant, agent_name)


SAME_FACT = "select id from memory.agent_memory where tenant = $1 and agent_name = $2 and content_hash = $3"


async def same_fact(connection: Connection, tenant: str, agent_name: str, content_hash: bytes) -> int | None:
    found: int | None = await connection.fetchval(SAME_FACT, tenant, agent_name, content_hash)
    return found


# The sum keeps the planner from HNSW, which could pass over the one that matters.
NEAREST = """
select m.id, m.content
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
# Of a user there are few, among many that say the same of others.
NEAREST_OF_USER = """
select m.id, m.content
from memory.agent_memory m
join memory.agent_memory_vec v on v.tenant = m.tenant and v.item_id = m.id and v.chunk = 0 and v.model = $3
where m.tenant = $1 and m.user_id = $8 and m.agent_name = $2 and m.chunks = 1 and m.private = $6 and m.id <> $7
  and v.embedding <=> $4 < $5
order by (v.embedding <=> $4) + 0.0, m.id limit 50
"""


async def nearest(
    connection: Connection,
    tenant: str,
    agent_name: str,
    model: str,
    vector: HalfVector,
    distance: float,
    *,
    private: bool,
    user_id: str | None = None,
    but: int = 0,
) -> list[tuple[int, str]]:
    """Of what the agent knows of the user, or of nobody."""
    values = (tenant, agent_name, model, vector, distance, private, but)
    if user_id is None:
        rows = await connection.fetch(NEAREST, *values)
    else:
        rows = await connection.fetch(NEAREST_OF_USER, *values, user_id)
    return [(row["id"], row["content"]) for row in rows]


_STATED = ", ".join(Statement.__struct_fields__)
READ = f"""
select id, agent_name, pending, chunks, content_hash, {_STATED}
from memory.agent_memory where tenant = $1 and id = $2
"""


async def read(connection: Connection, tenant: str, memory_id: int) -> asyncpg.Record | None:
    return await connection.fetchrow(READ, tenant, memory_id)


def statement_of(row: asyncpg.Record) -> Statement:
    return Statement(**{field: row[field] for field in Statement.__struct_fields__})


# $1 tenant, $2 agent, $3 id, then the chunks: $4 starts, $5 stops, $6 texts, $7 head, $8 keys, $9 private,
# $10 session, $11 seq, $12 user.
_CHUNKS = """memory.agent_memory_chunks
        (tenant, scope, item_id, chunk, chunks, start, stop, words, private, tsv, scoped)
    select $1, 'agent:' || $2, item.id, c.chunk, cardinality($4::int[]), c.start, c.stop, c.words, $9, c.tsv, c.scoped
    from item, memory.chunk_words($8, $4, $5, $6, $7, (
        select p.content from memory.agent_memory p
        where $11::bigint is not null and p.tenant = $1 and p.scope = 'agent:' || $2 and p.session_id = $10
          and p.seq < $11 and p.user_id is not distinct from $12
        order by p.seq desc limit 1)) c
"""
INSERT = f"""
with item as (
    insert into memory.agent_memory (
        tenant, agent_name, id, private, session_id, seq, user_id, content, content_hash, memory_type,
        task_description, skills_used, outcome, mission_namespace, occurred_at, speaker, written_by, source_kind,
        recalled_from, dispatch_id, token_count, chunks, pending, access_count, confirmed_count, created_at,
        updated_at)
    overriding system value
    values ($1, $2, coalesce($3, nextval('memory.agent_memory_id_seq')), $9, $10, $11, $12, $13, $14, $15,
        $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, cardinality($4::int[]), $27, $28, $29,
        coalesce($30, clock_timestamp()), coalesce($31, clock_timestamp()))
    returning id
), chunk as (insert into {_CHUNKS})
select id from item
"""
RESTATE = """
update memory.agent_memory set
    chunks = $3, private = $4, session_id = $5, seq = $6, user_id = $7, content = $8, content_hash = $9,
    memory_type = $10, task_description = $11, skills_used = $12, outcome = $13, mission_namespace = $14,
    occurred_at = $15, speaker = $16, written_by = $17, source_kind = $18, recalled_from = $19, dispatch_id = $20,
    token_count = $21, updated_at = clock_timestamp()
where tenant = $1 and id = $2
"""
DROP_CHUNKS = "delete from memory.agent_memory_chunks where tenant = $1 and item_id = $2"
ADD_CHUNKS = f"with item as (select $3::bigint as id) insert into {_CHUNKS}"
HIDE_VECTORS = """
update memory.agent_memory_vec set private = $3 where tenant = $1 and item_id = $2 and private <> $3
"""


class Restored(msgspec.Struct, frozen=True):
    """What an import keeps of a memory besides what was stated."""

    id: int | None = None
    pending: bool = False
    access_count: int = 0
    confirmed_count: int = 0
    created_at: datetime | None = None
    updated_at: datetime | None = None


async def insert(connection: Connection, values: Sequence[Any], restored: Restored) -> int:
    """`values` from $4 on up to the token count."""
    tenant, agent_name, *more = values
    kept = (restored.pending, restored.access_count, restored.confirmed_count)
    times = (restored.created_at, restored.updated_at)
    return int(await connection.fetchval(INSERT, tenant, agent_name, restored.id, *more, *kept, *times))


async def restate(connection: Connection, memory_id: int, values: Sequence[Any]) -> None:
    tenant, agent_name, *more = values
    await connection.execute(RESTATE, tenant, memory_id, len(more[0]), *more[5:])
    await connection.execute(DROP_CHUNKS, tenant, memory_id)
    await connection.execute(ADD_CHUNKS, tenant, agent_name, memory_id, *more[:9])
    await connection.execute(HIDE_VECTORS, tenant, memory_id, more[5])


# Chunks by their place in the array.
PUT_VECTORS = """
insert into memory.agent_memory_vec (tenant, scope, item_id, chunk, model, private, embedding)
select m.tenant, m.scope, m.id, g.place - 1, $3, m.private, g.embedding
from memory.agent_memory m, unnest($4::halfvec[]) with ordinality g(embedding, place)
where m.tenant = $1 and m.id = $2
on conflict (tenant, item_id, chunk, model) do update set embedding = excluded.embedding
"""
DROP_VECTORS = "delete from memory.agent_memory_vec where tenant = $1 and item_id = $2"
QUEUE = """
insert into memory.index_queue (tenant, scope, item_id, model) values ($1, 'agent:' || $2, $3, $4)
on conflict (tenant, item_id, model) do update set due_at = clock_timestamp(), attempts = 0
"""
DEQUEUE = "delete from memory.index_queue where tenant = $1 and item_id = $2 and model = $3"
SETTLE = "update memory.agent_memory set pending = false where tenant = $1 and id = $2 and pending"


async def put_vectors(
    connection: Connection, tenant: str, memory_id: int, model: str, vectors: Sequence[HalfVector]
) -> None:
    """Stores the vectors of all chunks; nothing waits for them any more."""
    await connection.execute(PUT_VECTORS, tenant, memory_id, model, list(vectors))


async def settle(connection: Connection, tenant: str, memory_id: int, model: str) -> None:
    await connection.execute(DEQUEUE, tenant, memory_id, model)
    await connection.execute(SETTLE, tenant, memory_id)


async def drop_vectors(connection: Connection, tenant: str, memory_id: int) -> None:
    await connection.execute(DROP_VECTORS, tenant, memory_id)


async def queue(connection: Connection, tenant: str, agent_name: str, memory_id: int, model: str) -> None:
    await connection.execute(QUEUE, tenant, agent_name, memory_id, model)


# An echo of what was recalled is noted, but it is no confirmation.
CONFIRM = """
with noted as (
    insert into memory.confirmations
        (tenant, memory_id, written_by, source_kind, mission_namespace, dispatch_id, recalled_from, absorbed_id)
    values ($1, $2, $3, $4, $5, $6, $7, $8)
    on conflict on constraint confirmations_origin
        do update set count = confirmations.count + 1, last_at = clock_timestamp()
)
update memory.agent_memory set confirmed_count = confirmed_count + ($7::bigint is null)::int,
    updated_at = clock_timestamp()
where tenant = $1 and id = $2
"""
# A repeat's own confirmations become those of the memory that absorbs it.
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
    delete from memory.agent_memory where tenant = $1 and id = $3 returning access_count, confirmed_count
)
update memory.agent_memory m set access_count = m.access_count + gone.access_count,
    confirmed_count = m.confirmed_count + gone.confirmed_count
from gone where m.tenant = $1 and m.id = $2
"""


async def confirm(
    connection: Connection, tenant: str, memory_id: int, repeat: Statement, absorbed_id: int | None = None
) -> None:
    await connection.execute(
        CONFIRM,
        tenant,
        memory_id,
        repeat.written_by,
        repeat.source_kind,
        repeat.mission_namespace,
        repeat.dispatch_id,
        repeat.recalled_from,
        absorbed_id,
    )


async def absorb(connection: Connection, tenant: str, memory_id: int, absorbed_id: int) -> None:
    await connection.execute(ABSORB, tenant, memory_id, absorbed_id)


COMMITTED = """
insert into timeline.events (tenant, scope, kind, mission_id, agent_name, session_id, dispatch_id, payload)
values ($1, 'agent:' || $2, $3, $4, $2, $5, $6, $7)
"""


async def event(
    connection: Connection,
    tenant: str,
    agent_name: str,
    kind: str,
    payload: dict[str, Any],
    said: Statement | None = None,
) -> None:
    await connection.execute(
        COMMITTED,
        tenant,
        agent_name,
        kind,
        said.mission_namespace if said else None,
        said.session_id if said else None,
        said.dispatch_id if said else None,
        payload,
    )


DELETE = "delete from memory.agent_memory where tenant = $1 and id = $2 and agent_name = $3"


async def delete(connection: Connection, tenant: str, memory_id: int, agent_name: str) -> bool:
    return str(await connection.execute(DELETE, tenant, memory_id, agent_name)).endswith(" 1")


# What a deletion of the agent's memories takes with it, counted before.
HELD = """
select (select count(*) from memory.agent_memory where tenant = $1 and agent_name = $2) as agent_memory,
       (select count(*) from memory.agent_memory_chunks where tenant = $1 and scope = 'agent:' || $2)
           as agent_memory_chunks,
       (select count(*) from memory.agent_memory_vec where tenant = $1 and scope = 'agent:' || $2)
           as agent_memory_vec,
       (select count(*) from memory.confirmations c join memory.agent_memory m
            on m.tenant = c.tenant and m.id = c.memory_id where m.tenant = $1 and m.agent_name = $2)
           as confirmations,
       (select count(*) from memory.index_queue q join memory.agent_memory m
            on m.tenant = q.tenant and m.id = q.item_id where m.tenant = $1 and m.agent_name = $2)
           as index_queue
"""
PURGE = (
    ("agent_memory", "delete from memory.agent_memory where tenant = $1 and scope = $2"),
    ("idempotency", "delete from memory.idempotency where tenant = $1 and scope = $2"),
)


async def held(connection: Connection, tenant: str, agent_name: str) -> dict[str, int]:
    row = await connection.fetchrow(HELD, tenant, agent_name)
    assert row is not None
    return dict(row)


async def purge(connection: Connection, tenant: str, scope: str) -> dict[str, int]:
    counts = {}
    for table, statement in PURGE:
        done = await connection.execute(statement, tenant, scope)
        counts[table] = int(done.rsplit(" ", 1)[-1])
    return counts


AGENTS_OF_USER = "select distinct agent_name from memory.agent_memory where tenant = $1 and user_id = $2"
PURGE_USER = "delete from memory.agent_memory where tenant = $1 and user_id = $2 and agent_name = any($3)"


async def purge_user(connection: Connection, tenant: str, user_id: str) -> int:
    """How many memories there were of the user, over all agents; a commit of one of them waits or comes first."""
    erased = 0
    while rows := await connection.fetch(AGENTS_OF_USER, tenant, user_id):
        agents = sorted(row["agent_name"] for row in rows)
        for agent in agents:
            await lock_agent(connection, tenant, agent)
        done = await connection.execute(PURGE_USER, tenant, user_id, agents)
        erased += int(done.rsplit(" ", 1)[-1])
    return erased


# Replicas never wait for each other or for a commit: rows that are being written are counted the next time.
COUNT_ACCESSES = """
with free as (
    select m.tenant, m.id, a.count
    from unnest($1::text[], $2::bigint[], $3::bigint[]) a(tenant, id, count)
    join memory.agent_memory m on m.tenant = a.tenant and m.id = a.id
    for no key update of m skip locked
)
update memory.agent_memory m set access_count = m.access_count + free.count
from free where m.tenant = free.tenant and m.id = free.id
returning m.tenant, m.id
"""
STILL_THERE = """
select tenant, id from memory.agent_memory
where (tenant, id) in (select * from unnest($1::text[], $2::bigint[]))
"""


async def count_accesses(
    connection: Connection, counts: dict[tuple[str, int], int]
) -> dict[tuple[str, int], int]:
    """What could not be counted now."""
    keys = sorted(counts)
    tenants, ids = [tenant for tenant, _ in keys], [id_ for _, id_ in keys]
    done = await connection.fetch(COUNT_ACCESSES, tenants, ids, [counts[key] for key in keys])
    if len(done) == len(keys):
        return {}
    left = set(keys) - {(row["tenant"], row["id"]) for row in done}
    tenants, ids = [tenant for tenant, _ in left], [id_ for _, id_ in left]
    there = await connection.fetch(STILL_THERE, tenants, ids)
    return {(row["tenant"], row["id"]): counts[row["tenant"], row["id"]] for row in there}
