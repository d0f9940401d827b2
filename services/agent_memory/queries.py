"""The SQL of the agent-memory service. Functions take the connection first and never commit."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any

import asyncpg
import msgspec
from pgvector import HalfVector

from shared.postgres import Connection
from shared.search.sql import scope_key, search_sql


class Look(msgspec.Struct, frozen=True):
    """One search: `only` narrows it to these ids; `documents` is how many chunks there are, where known."""

    tenant: str
    query: str
    vector: HalfVector | None
    model: str
    depth: int
    only: list[int] | None = None
    documents: int | None = None


LOCK_AGENT = "select pg_advisory_xact_lock(hashtextextended($1 || chr(31) || $2, 3))"


async def lock_agent(connection: Connection, tenant: str, agent_name: str) -> None:
    """One agent's commits go one after the other: of two identical ones, the second finds the first."""
    await connection.execute(LOCK_AGENT, tenant, agent_name)


SAME_CONTENT = (
    "select id from memory.agent_memory where tenant = $1 and agent_name = $2 and content_hash = $3"
)


async def same_content(
    connection: Connection, tenant: str, agent_name: str, content_hash: bytes
) -> int | None:
    found: int | None = await connection.fetchval(SAME_CONTENT, tenant, agent_name, content_hash)
    return found


NEAREST = """
select m.id, m.content
from (
    select v.item_id, v.embedding <=> $4 as distance
    from memory.agent_memory_vec v
    where v.tenant = $1 and v.scope = 'agent:' || $2 and v.model = $3 and v.private = $6
    order by v.embedding <=> $4 limit 5
) near
join memory.agent_memory m on m.tenant = $1 and m.id = near.item_id
where near.distance < $5 and m.chunks = 1
order by near.distance, near.item_id
"""


async def nearest(
    connection: Connection,
    tenant: str,
    agent_name: str,
    model: str,
    vector: HalfVector,
    distance: float,
    private: bool,
) -> list[tuple[int, str]]:
    rows = await connection.fetch(NEAREST, tenant, agent_name, model, vector, distance, private)
    return [(row["id"], row["content"]) for row in rows]


CONFIRM = """
update memory.agent_memory set
    confirmed_count = confirmed_count + 1, updated_at = clock_timestamp(), outcome = coalesce($3, outcome)
where tenant = $1 and id = $2
"""


async def confirm(connection: Connection, tenant: str, memory_id: int, outcome: str | None) -> None:
    await connection.execute(CONFIRM, tenant, memory_id, outcome)


INSERT = """
with item as (
    insert into memory.agent_memory (
        tenant, agent_name, content, content_hash, memory_type, task_description, skills_used, outcome,
        mission_namespace, private, token_count, chunks, occurred_at, session_id, seq, speaker,
        written_by, source_kind, recalled_from)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, cardinality($19::int[]), $12, $13, $14, $15, $16, $17, $18)
    returning id
), previous as (
    select p.content from memory.agent_memory p
    where $14::bigint is not null and p.tenant = $1 and p.scope = 'agent:' || $2 and p.session_id = $13
      and p.seq < $14
    order by p.seq desc limit 1
), chunk as (
    insert into memory.agent_memory_chunks
        (tenant, scope, item_id, chunk, chunks, start, stop, words, private, tsv, scoped)
    select $1, 'agent:' || $2, item.id, c.chunk, cardinality($19::int[]), c.start, c.stop, c.words, $10, c.tsv, c.scoped
    from item, memory.chunk_words($23, $19, $20, $21, $22, (select content from previous)) c
)
select id from item
"""
INSERT_VECTOR = """
insert into memory.agent_memory_vec (tenant, scope, item_id, chunk, model, private, embedding)
values ($1, 'agent:' || $2, $3, 0, $4, $5, $6)
"""
QUEUE = "insert into memory.index_queue (tenant, scope, item_id, model) values ($1, 'agent:' || $2, $3, $4)"


async def insert(connection: Connection, *values: Any) -> int:
    return int(await connection.fetchval(INSERT, *values))


async def insert_vector(
    connection: Connection,
    tenant: str,
    agent_name: str,
    memory_id: int,
    model: str,
    private: bool,
    vector: HalfVector,
) -> None:
    await connection.execute(INSERT_VECTOR, tenant, agent_name, memory_id, model, private, vector)


async def queue(connection: Connection, tenant: str, agent_name: str, memory_id: int, model: str) -> None:
    await connection.execute(QUEUE, tenant, agent_name, memory_id, model)


COMMITTED = """
insert into timeline.events (tenant, scope, kind, mission_id, agent_name, session_id, payload)
values ($1, 'agent:' || $2, 'memory_commit', $3, $2, $4,
        jsonb_build_object('id', $5::bigint, 'memory_type', $6::text, 'status', $7::text))
"""


async def committed(connection: Connection, *values: Any) -> None:
    await connection.execute(COMMITTED, *values)


_COLUMNS = (
    "i.memory_type as kind, i.agent_name, i.content, i.updated_at, i.outcome, i.access_count, i.confirmed_count,"
    " i.task_description, i.skills_used, i.mission_namespace, i.private"
)
_search_sql = partial(
    search_sql,
    items="memory.agent_memory",
    chunks="memory.agent_memory_chunks",
    vectors="memory.agent_memory_vec",
)
SEARCH_OWN = _search_sql(
    columns=f"{_COLUMNS}, (select max(a.access_count) from memory.agent_memory a"
    " where a.tenant = $1 and a.scope = $8) as most_accessed",
    narrow="{0}.scope = $8 and ($9::bigint[] is null or {0}.item_id = any($9))",
    count="c.tenant = $1 and c.scope = $8",
)
SEARCH_PEER = _search_sql(
    columns=_COLUMNS,
    narrow="{0}.scope = $8 and not {0}.private and ($9::bigint[] is null or {0}.item_id = any($9))",
    count="c.tenant = $1 and c.scope = $8",
)
SEARCH_PEERS = _search_sql(
    columns=_COLUMNS, narrow="{0}.scope <> $8 and not {0}.private", count="c.tenant = $1"
)
SEARCH_PEERS_APPROXIMATE = _search_sql(
    columns=_COLUMNS,
    narrow="{0}.scope <> $8 and not {0}.private",
    count="c.tenant = $1",
    approximate=True,
)
# What the words of memories that peers may see are indexed under, beside their agent's scope.
EVERY_AGENT = "*"


async def search_own(connection: Connection, look: Look, agent: str) -> list[asyncpg.Record]:
    return await _search(connection, SEARCH_OWN, look, f"agent:{agent}", f"agent:{agent}", look.only)


async def search_peer(connection: Connection, look: Look, agent: str) -> list[asyncpg.Record]:
    """As `search_own`, without what the peer keeps private."""
    return await _search(connection, SEARCH_PEER, look, f"agent:{agent}", f"agent:{agent}", look.only)


async def search_peers(
    connection: Connection, look: Look, agent: str, *, approximate: bool = False
) -> list[asyncpg.Record]:
    """What all agents but this one share. `approximate` needs hnsw.iterative_scan in its transaction."""
    statement = SEARCH_PEERS_APPROXIMATE if approximate else SEARCH_PEERS
    return await _search(connection, statement, look, EVERY_AGENT, f"agent:{agent}")


async def _search(
    connection: Connection, statement: str, look: Look, key: str, *more: Any
) -> list[asyncpg.Record]:
    rows: list[asyncpg.Record] = await connection.fetch(
        statement,
        look.tenant,
        look.query,
        look.vector,
        look.model,
        look.depth,
        [scope_key(look.tenant, key)],
        look.documents,
        *more,
    )
    return rows


IDS_OF_TYPE = "select id from memory.agent_memory where tenant = $1 and agent_name = $2 and memory_type = $3"


async def ids_of_type(connection: Connection, tenant: str, agent_name: str, memory_type: str) -> list[int]:
    return [row["id"] for row in await connection.fetch(IDS_OF_TYPE, tenant, agent_name, memory_type)]


LIST = """
select id, agent_name, content, memory_type, created_at, updated_at, access_count, confirmed_count, outcome,
       task_description, skills_used, mission_namespace, private, occurred_at, session_id, seq, speaker
from memory.agent_memory
where tenant = $1 and agent_name = $2 and ($3::text is null or memory_type = $3)
order by created_at desc, id desc limit $4 offset $5
"""


async def list_memories(connection: Connection, *values: Any) -> list[asyncpg.Record]:
    rows: list[asyncpg.Record] = await connection.fetch(LIST, *values)
    return rows


COUNT_SINCE = """
select s.agent_name, count(m.id) as count
from unnest($2::text[], $3::timestamptz[]) s(agent_name, since)
left join memory.agent_memory m on m.tenant = $1 and m.agent_name = s.agent_name and m.created_at > s.since
group by s.agent_name
"""


async def count_since(
    connection: Connection, tenant: str, agents: Sequence[str], since: Sequence[datetime]
) -> dict[str, int]:
    rows = await connection.fetch(COUNT_SINCE, tenant, list(agents), list(since))
    return {row["agent_name"]: row["count"] for row in rows}


COUNT_ACCESSES = """
update memory.agent_memory m set access_count = m.access_count + a.count
from unnest($1::text[], $2::bigint[], $3::bigint[]) a(tenant, id, count)
where m.tenant = a.tenant and m.id = a.id
"""


async def count_accesses(connection: Connection, counts: dict[tuple[str, int], int]) -> None:
    """Rows in key order, so that two replicas never wait for each other."""
    keys = sorted(counts)
    await connection.execute(
        COUNT_ACCESSES, [t for t, _ in keys], [i for _, i in keys], [counts[key] for key in keys]
    )


TEXTS = """
select i.tenant, i.id as item_id, i.content, coalesce(i.speaker, '') as who,
       array_agg(c.start order by c.chunk) as starts, array_agg(c.stop order by c.chunk) as stops
from memory.agent_memory i
join unnest($1::text[], $2::bigint[]) w(tenant, id) on w.tenant = i.tenant and w.id = i.id
join memory.agent_memory_chunks c on c.tenant = i.tenant and c.item_id = i.id
group by i.tenant, i.id
"""

PURGE = (
    ("agent_memory", "delete from memory.agent_memory where tenant = $1 and scope = $2"),
    ("idempotency", "delete from memory.idempotency where tenant = $1 and scope = $2"),
)
