"""The SQL that writes memories, with their words, vectors and events."""

from __future__ import annotations

from collections.abc import Sequence

from pgvector import HalfVector

from services.agent_memory.memories.commits.queries_vectors import LARGE
from services.agent_memory.memories.commits.rows import ChunkWords, MemoryRow
from shared.database.postgres import Connection

# The words of the memories `m`. A turn's context is the turns before it: as many as fill 300 characters, of which one
# takes four bytes at most.
_ADD_CHUNKS = """
insert into memory.agent_memory_chunks
    (tenant, scope, item_id, chunk, chunks, start, stop, words, private, tsv, scoped)
select m.tenant, m.scope, m.id, c.chunk, m.chunks, c.start, c.stop, c.words, m.private, c.tsv, c.scoped
from {memories} m
cross join jsonb_to_record({words}) as w(
    keys text[], starts int[], stops int[], chunks text[], configs text[], terms text[], head text)
cross join lateral memory.chunk_words(w.keys, w.starts, w.stops, w.chunks, w.configs, w.terms, w.head, array(
    select right(t.content, 300) from (
        select turn.content, turn.seq, turn.place, sum(octet_length(turn.content)) over (
                   order by turn.seq desc, turn.place desc rows between unbounded preceding and 1 preceding) as newer
        from ({turns}) turn
        order by turn.seq desc, turn.place desc limit 5
    ) t
    where t.newer is null or t.newer < 1200 order by t.seq desc, t.place desc)) c
"""
_STORED_TURNS = """
            select before.content, before.seq, 0::bigint as place
            from memory.agent_memory before
            where before.tenant = m.tenant and before.scope = m.scope and before.session_id = m.session_id
              and before.seq < m.seq and before.user_id is not distinct from m.user_id
              and (m.private or not before.private)
            order by before.seq desc limit 5
"""
# The statement does not see in the table what it inserts.
_ALL_TURNS = f"""({_STORED_TURNS})
            union all
            select before.content, before.seq, before.place
            from given before
            where before.scope = m.scope and before.session_id = m.session_id and before.place < m.place
              and before.seq < m.seq and before.user_id is not distinct from m.user_id
              and (m.private or not before.private)
"""
_SET_HERE = ("tenant", "id", "created_at", "updated_at")
_STATED = [column for column in MemoryRow.__struct_fields__ if column not in _SET_HERE]
# $1 tenant, $2 MemoryRows, $3 their ChunkWords, $4 their vectors (null: they wait for one), $5 model, $6 whether they
# are events of commits.
INSERT = f"""
with given as materialized (
    select g.place, g.words, g.embedding, $1::text as tenant, 'agent:' || r.agent_name as scope,
           coalesce(r.id, nextval('memory.agent_memory_id_seq')) as id,
           {", ".join(f"r.{column}" for column in _STATED)},
           coalesce(r.created_at, clock_timestamp()) as created_at,
           coalesce(r.updated_at, clock_timestamp()) as updated_at
    from rows from (jsonb_array_elements($2), jsonb_array_elements($3), unnest($4::halfvec[])) with ordinality
        g(body, words, embedding, place)
    cross join lateral jsonb_populate_record(null::memory.agent_memory, g.body) r
), written as (
    insert into memory.agent_memory (tenant, id, {", ".join(_STATED)}, created_at, updated_at)
    overriding system value
    select tenant, id, {", ".join(_STATED)}, created_at, updated_at from given order by place
), chunk as (
    {_ADD_CHUNKS.format(memories="given", words="m.words", turns=_ALL_TURNS)}
), vec as (
    insert into memory.agent_memory_vec (tenant, scope, item_id, chunk, model, private, large, embedding)
    select tenant, scope, id, 0, $5, private, {LARGE}, embedding from given where embedding is not null
), queued as (
    insert into memory.index_queue (tenant, store, scope, item_id, model)
    select tenant, 'agent_memory', scope, id, $5 from given where embedding is null
    on conflict (tenant, store, item_id, model) do update set due_at = excluded.due_at, attempts = 0
), told as (
    insert into timeline.events (tenant, scope, kind, mission_id, agent_name, session_id, dispatch_id, payload)
    select tenant, scope, 'memory_commit', mission_namespace, agent_name, session_id, dispatch_id,
           jsonb_build_object('id', id, 'memory_type', memory_type,
                              'status', case when pending then 'pending' else 'created' end)
    from given where $6 order by place
)
select id from given order by place
"""


async def insert(
    connection: Connection,
    tenant: str,
    memories: Sequence[MemoryRow],
    words: Sequence[ChunkWords],
    vectors: Sequence[HalfVector | None],
    *,
    model: str,
    events: bool,
) -> list[int]:
    """Writes them in this order, and returns their ids."""
    rows = await connection.fetch(INSERT, tenant, memories, words, list(vectors), model, events)
    return [row["id"] for row in rows]


# $1 is the MemoryRow, $2 its tenant.
RESTATE = """
update memory.agent_memory m set
    chunks = r.chunks, private = r.private, session_id = r.session_id, seq = r.seq, user_id = r.user_id,
    content = r.content, content_hash = r.content_hash, memory_type = r.memory_type,
    task_description = r.task_description, skills_used = r.skills_used, outcome = r.outcome,
    mission_namespace = r.mission_namespace, occurred_at = r.occurred_at, speaker = r.speaker,
    language = r.language, paths = r.paths, symbols = r.symbols, step = r.step,
    written_by = r.written_by, source_kind = r.source_kind, source_claim = r.source_claim,
    recalled_from = r.recalled_from, dispatch_id = r.dispatch_id, token_count = r.token_count,
    updated_at = statement_timestamp()
from jsonb_populate_record(null::memory.agent_memory, $1) r
where m.tenant = $2 and m.id = r.id
"""
DROP_CHUNKS = "delete from memory.agent_memory_chunks where tenant = $1 and item_id = $2"
REPLACE_CHUNKS = f"""
with given as (select * from memory.agent_memory where tenant = $1 and id = $3)
{_ADD_CHUNKS.format(memories="given", words="$2::jsonb", turns=_STORED_TURNS)}
"""
HIDE_VECTORS = """
update memory.agent_memory_vec set private = $3 where tenant = $1 and item_id = $2 and private <> $3
"""


async def restate(connection: Connection, row: MemoryRow, words: ChunkWords) -> None:
    """Replaces what the memory states, and its words for search."""
    await connection.execute(RESTATE, row, row.tenant)
    await connection.execute(DROP_CHUNKS, row.tenant, row.id)
    await connection.execute(REPLACE_CHUNKS, row.tenant, words, row.id)
    await connection.execute(HIDE_VECTORS, row.tenant, row.id, row.private)
