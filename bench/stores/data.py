"""One tenant with 100,000 rows in all five stores and the graph, made of the texts that `bench.growth` multiplies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import asyncpg
from pgvector import HalfVector
from pgvector.asyncpg import register_vector

from bench.growth import loading
from bench.growth.data import Layout, Place, Pool
from shared.search.sql import scope_key

TENANT, CALLER, USER = "tenant-0", "asked-0", "ann"
# Rows by table. Of the memories, a fifteenth is the caller's own; of the entries, a third is of its mission.
_MEMORIES, _ENTRIES, _LONG_TERM, _FILES, _FACTS = 30_000, 18_000, 15_000, 5_000, 12_000
_PASSAGES = 5  # of each file
_SCOPES = ("shared", "shared", "shared", f"agent:{CALLER}", f"user:{USER}")
_ENTITIES = ("orders database", "payment worker", "ledger replica", "webhook queue", "search index")

_POOL = """
create unlogged table public.pool as
select u.n::int - 1 as n, u.content, u.embedding, w.words, w.tsv, tsvector_to_array(w.tsv) as lexemes
from unnest($1::text[], $2::halfvec[]) with ordinality u(content, embedding, n)
cross join lateral memory.chunk_words(
    array[]::text[], array[0], array[length(u.content)], array[u.content], array['english'], array[''], '', null) w
"""
_SCOPED = "array_to_tsvector(array(select k.key || ':' || w from unnest(p.lexemes) w))"
_NOISY = "l2_normalize(p.embedding + o.embedding)"
_LONG_TERM_ITEMS = """
insert into memory.long_term
    (tenant, scope, user_id, kind, content, content_hash, token_count, chunks, written_by, source_kind)
select $1, s.scope, case when s.scope like 'user:%' then substr(s.scope, 6) end, 'knowledge', p.content,
       sha256(convert_to(i || p.content, 'utf8')), length(p.content) / 4, 1, 'k', 'agent'
from generate_series(0, $2::int - 1) i join public.pool p on p.n = i % $3
cross join lateral (select ($4::text[])[1 + i % cardinality($4::text[])] as scope) s
"""
_LONG_TERM_CHUNKS = f"""
insert into memory.long_term_chunks (tenant, scope, item_id, chunk, chunks, start, stop, words, tsv, scoped)
select i.tenant, i.scope, i.id, 0, 1, 0, length(p.content), p.words, p.tsv, {_SCOPED}
from memory.long_term i join public.pool p on p.content = i.content
join jsonb_each_text($1) k(scope, key) on k.scope = i.scope
"""
_LONG_TERM_VECTORS = f"""
insert into memory.long_term_vec (tenant, scope, item_id, chunk, model, embedding)
select i.tenant, i.scope, i.id, 0, $1, {_NOISY}
from memory.long_term i join public.pool p on p.content = i.content join public.noise o on o.n = i.id % $2
"""
_FILE_ITEMS = """
insert into memory.files
    (tenant, path, part, piece, pieces, origin, hash, scope, format, title, characters, first_line, last_line,
     next_line, chunks, written_by, source_kind)
select $1, 'shared/note-' || i || '.md', 0, 1, 1, 'folder', sha256(convert_to(i::text, 'utf8')), 'shared', 'markdown',
       'Note ' || i, 1, 1, $3, $3 + 1, $3, 'k', 'document'
from generate_series(0, $2::int - 1) i
"""
_FILE_CHUNKS = f"""
insert into memory.file_chunks
    (tenant, scope, item_id, chunk, chunks, start, stop, words, tsv, scoped, body, first_line, last_line)
select i.tenant, i.scope, i.id, c, $2, c, c + 1, p.words, p.tsv, {_SCOPED}, p.content, c + 1, c + 1
from memory.files i cross join generate_series(0, $2::int - 1) c
join public.pool p on p.n = (i.id * $2 + c) % $3
join jsonb_each_text($1) k(scope, key) on k.scope = i.scope
"""
_FILE_VECTORS = f"""
insert into memory.file_vec (tenant, scope, item_id, chunk, model, embedding)
select c.tenant, c.scope, c.item_id, c.chunk, $1, {_NOISY}
from memory.file_chunks c join public.pool p on p.content = c.body
join public.noise o on o.n = (c.item_id + c.chunk) % $2
"""
_FACT_ROWS = """
insert into memory.facts
    (tenant, scope, subject, predicate, object, subject_key, predicate_key, object_key, valid_from, recorded_at,
     written_by, source_kind)
select $1, 'shared', s.name, 'depends on', 'part ' || i, lower(s.name), 'depends on', 'part ' || i,
       now() - interval '1 day', now(), 'k', 'agent'
from generate_series(0, $2::int - 1) i
cross join lateral (
    select case when i % 20 = 0 then ($3::text[])[1 + i / 20 % cardinality($3::text[])] else 'Entity ' || i end as name
) s
"""
_ALIASES = """
insert into memory.entity_aliases
    (tenant, scope, alias_key, alias, entity, entity_key, written_by, source_kind)
select $1, 'shared', 'the ' || name, 'the ' || name, name, name, 'k', 'agent' from unnest($2::text[]) name
"""
_COUNTS = {
    "own": "select count(*) from memory.agent_memory_chunks where scope = 'agent:' || $1",
    "peers": "select count(*) from memory.agent_memory_chunks where scope <> 'agent:' || $1",
    "entries": "select count(*) from cache.psychic_chunks where $1 <> ''",
    "memory": "select count(*) from memory.long_term_chunks where $1 <> ''",
    "vault": "select count(*) from memory.file_chunks where $1 <> ''",
    "graph": "select count(*) from memory.facts where $1 <> ''",
}


async def load(dsn: str, pool: Pool, share: float) -> Mapping[str, int]:
    """`share` of 100,000 rows. Returns how many each store has."""
    await loading.load(dsn, _layout(share), pool)
    c = await asyncpg.connect(dsn)
    try:
        await register_vector(c)
        await c.execute("set session_replication_role = replica")
        await c.execute(_POOL, pool.texts, [HalfVector(vector) for vector in pool.vectors])
        await c.execute("create table public.noise (n int primary key, embedding halfvec(512) not null)")
        await c.copy_records_to_table(
            "noise", records=[(n, HalfVector(noise)) for n, noise in enumerate(pool.noises)]
        )
        await _fill(c, pool, share)
        await c.execute("drop table public.pool, public.noise")
        await c.execute("vacuum analyze")
        return {name: await c.fetchval(count, CALLER) for name, count in _COUNTS.items()}
    finally:
        await c.close()


def _layout(share: float) -> Layout:
    memories, entries = int(_MEMORIES * share), int(_ENTRIES * share)
    own = Place(TENANT, CALLER, memories // 15, entries // 3)
    others = [
        Place(TENANT, f"peer-{n}", (memories - own.memories) // 28, (entries - own.entries) // 28)
        for n in range(28)
    ]
    return Layout([own, *others], [own])


async def _fill(c: asyncpg.Connection[Any], pool: Pool, share: float) -> None:
    texts, noises = len(pool.texts), len(pool.noises)
    encoded = json.dumps({scope: scope_key(TENANT, scope) for scope in _SCOPES})
    await c.execute(_LONG_TERM_ITEMS, TENANT, int(_LONG_TERM * share), texts, list(_SCOPES))
    await c.execute(_LONG_TERM_CHUNKS, encoded)
    await c.execute(_LONG_TERM_VECTORS, pool.model, noises)
    await c.execute(_FILE_ITEMS, TENANT, int(_FILES * share), _PASSAGES)
    await c.execute(_FILE_CHUNKS, encoded, _PASSAGES, texts)
    await c.execute(_FILE_VECTORS, pool.model, noises)
    await c.execute(_FACT_ROWS, TENANT, int(_FACTS * share), list(_ENTITIES))
    await c.execute(_ALIASES, TENANT, list(_ENTITIES))
