"""Fills the real tables: Postgres multiplies a pool of texts into scopes, as its administrator and without triggers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import asyncpg
from pgvector import HalfVector
from pgvector.asyncpg import register_vector

from bench.growth.data import Layout, Pool
from shared.search.counts import EXACT_UP_TO

_SCHEMA = """
set session_replication_role = replica;
set maintenance_work_mem = '1GB';
create unlogged table public.pool (
    n int primary key, content text not null, hash bytea not null, embedding halfvec(512) not null,
    words int, tsv tsvector);
create unlogged table public.noise (n int primary key, embedding halfvec(512) not null);
create unlogged table public.places (
    tenant text, name text, memories int, entries int, large bool, first int)
"""
_POOL = """
insert into public.pool
select u.n - 1, u.content, sha256(convert_to(u.content, 'utf8')), u.embedding, w.words, w.tsv
from unnest($1::text[], $2::halfvec[]) with ordinality u(content, embedding, n)
cross join lateral memory.chunk_words(
    null, array[0], array[length(u.content)], array[u.content], array['english'], array[''], '', null) w
"""
_MEMORIES = """
insert into memory.agent_memory
    (tenant, agent_name, content, content_hash, memory_type, token_count, chunks, written_by, source_kind)
select s.tenant, s.name, p.content, p.hash, 'lesson_learned', length(p.content) / 4, 1, 'k', 'agent'
from public.places s cross join lateral generate_series(0, s.memories - 1) i
join public.pool p on p.n = (s.first + i) % $1
"""
_MEMORY_CHUNKS = """
insert into memory.agent_memory_chunks
    (tenant, scope, item_id, chunk, chunks, start, stop, words, private, tsv)
select m.tenant, m.scope, m.id, 0, 1, 0, length(p.content), p.words, false, p.tsv
from memory.agent_memory m join public.pool p on p.hash = m.content_hash
"""
_MEMORY_VECTORS = """
insert into memory.agent_memory_vec (tenant, scope, item_id, chunk, model, embedding, large)
select m.tenant, m.scope, m.id, 0, $1, l2_normalize(p.embedding + o.embedding), s.large
from memory.agent_memory m join public.pool p on p.hash = m.content_hash
join public.noise o on o.n = m.id % $2
join public.places s on s.tenant = m.tenant and s.name = m.agent_name
"""
# As where each memory was read before: a table that was empty when it was analyzed has other plans.
_ACCESSES = """
insert into memory.accesses (tenant, memory_id, agent_name, access_count)
select tenant, id, agent_name, 1 + id % 7 from memory.agent_memory
"""
_LARGE = """
insert into memory.large_tenants (tenant, complete)
select distinct tenant, true from public.places where large
"""
_MISSIONS = """
insert into cache.missions (tenant, mission_id, token_budget, entry_budget, entries, tokens, next_expiry)
select s.tenant, s.name, 2147483647, 1000000, s.entries, 64 * s.entries, now() + interval '1 year'
from public.places s
"""
_ENTRIES = """
insert into cache.psychic_cache
    (tenant, mission_id, context_type, content, token_count, written_by, source_kind, created_at, expires_at, metadata,
     source_turn)
select s.tenant, s.name, 'intel', p.content, length(p.content) / 4, 'k', 'agent', now(), now() + interval '1 year',
       '{"intel_source": "bench"}', p.n
from public.places s cross join lateral generate_series(0, s.entries - 1) i
join public.pool p on p.n = (s.first + s.memories + i) % $1
"""
_ENTRY_CHUNKS = """
insert into cache.psychic_chunks
    (tenant, scope, item_id, chunk, chunks, start, stop, words, expires_at, tsv)
select e.tenant, e.scope, e.id, 0, 1, 0, length(p.content), p.words, e.expires_at, p.tsv
from cache.psychic_cache e join public.pool p on p.n = e.source_turn
"""
_ENTRY_VECTORS = """
insert into cache.psychic_vec (tenant, scope, item_id, chunk, model, expires_at, embedding)
select e.tenant, e.scope, e.id, 0, $1, e.expires_at, l2_normalize(p.embedding + o.embedding)
from cache.psychic_cache e join public.pool p on p.n = e.source_turn
join public.noise o on o.n = e.id % $2
"""
_EVENTS = """
insert into timeline.events (seq, tenant, scope, kind, mission_id, payload, created_at)
select row_number() over (partition by tenant order by id), tenant, scope, 'cache.written', mission_id,
       jsonb_build_object('entry_id', id), created_at
from cache.psychic_cache
"""
_TABLES = (
    "cache.psychic_cache",
    "cache.psychic_chunks",
    "cache.psychic_vec",
    "memory.accesses",
    "memory.agent_memory",
    "memory.agent_memory_chunks",
    "memory.agent_memory_vec",
)
# Indexes of constraints stay.
_INDEXES = """
select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition
from pg_index i where i.indrelid = any($1::text[]::regclass[]) and not i.indisunique
"""


async def load(dsn: str, layout: Layout, pool: Pool) -> int:
    """The bytes of the tables and indexes of memories and entries."""
    c = await asyncpg.connect(dsn)
    try:
        await register_vector(c)
        await c.execute(_SCHEMA)
        await _stage(c, layout, pool)
        indexes = await c.fetch(_INDEXES, list(_TABLES))
        for index in indexes:
            await c.execute(f"drop index {index['name']}")
        await _multiply(c, pool)
        for index in indexes:
            await c.execute(index["definition"])
        await c.execute("drop table public.pool, public.noise, public.places")
        await c.execute("vacuum analyze")
        await c.execute("checkpoint")
        return int(await c.fetchval(_BYTES, list(_TABLES)))
    finally:
        await c.close()


_BYTES = "select sum(pg_total_relation_size(t::regclass)) from unnest($1::text[]) t"


async def _stage(c: asyncpg.Connection[Any], layout: Layout, pool: Pool) -> None:
    await c.execute(_POOL, pool.texts, [HalfVector(vector) for vector in pool.vectors])
    await c.copy_records_to_table(
        "noise", records=[(n, HalfVector(noise)) for n, noise in enumerate(pool.noises)]
    )
    await c.copy_records_to_table("places", records=_rows(layout))
    await c.execute("create unique index on public.pool (hash)")
    await c.execute("analyze public.pool, public.noise, public.places")


def _rows(layout: Layout) -> Iterator[tuple[Any, ...]]:
    memories: dict[str, int] = {}
    for place in layout.places:
        memories[place.tenant] = memories.get(place.tenant, 0) + place.memories
    first = 0
    for place in layout.places:
        yield *place, memories[place.tenant] > EXACT_UP_TO, first
        first += place.memories


async def _multiply(c: asyncpg.Connection[Any], pool: Pool) -> None:
    texts, noises = len(pool.texts), len(pool.noises)
    await c.execute(_MEMORIES, texts)
    await c.execute(_MISSIONS)
    await c.execute(_ENTRIES, texts)
    await c.execute("analyze memory.agent_memory, cache.psychic_cache")
    await c.execute(_MEMORY_CHUNKS)
    await c.execute(_MEMORY_VECTORS, pool.model, noises)
    await c.execute(_ACCESSES)
    await c.execute(_LARGE)
    await c.execute(_ENTRY_CHUNKS)
    await c.execute(_ENTRY_VECTORS, pool.model, noises)
    await c.execute(_EVENTS)
