"""The SQL that writes long-term memories, with their words, queue rows and events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import asyncpg

from services.agent_memory.chunk_words import ChunkWords
from services.agent_memory.long_term.content import LongTermContent, LongTermRow
from shared.database.postgres import Connection
from shared.provenance import TRUSTED

# The turns before `m` in its session that are about the same user.
_BEFORE = """
            select before.content, before.seq, 0::bigint as place
            from memory.long_term before
            where before.tenant = m.tenant and before.scope = m.scope and before.session_id = m.session_id
              and before.seq < m.seq and before.user_id is not distinct from m.user_id
            order by before.seq desc limit 5
"""
# The statement does not see in the table what it inserts.
_ALL_BEFORE = f"""({_BEFORE})
            union all
            select before.content, before.seq, before.place
            from given before
            where before.scope = m.scope and before.session_id = m.session_id and before.place < m.place
              and before.seq < m.seq and before.user_id is not distinct from m.user_id
"""
# The words of the memories `m`. A turn's context is the turns before it: as many as fill 300 characters, of which one
# takes four bytes at most.
_ADD_CHUNKS = """
insert into memory.long_term_chunks (tenant, scope, item_id, chunk, chunks, start, stop, words, tsv, body)
select m.tenant, m.scope, m.id, c.chunk, m.chunks, c.start, c.stop, c.words, c.tsv, w.bodies[c.chunk + 1]
from {memories} m
cross join jsonb_to_record({words}) as w(
    starts int[], stops int[], chunks text[], configs text[], terms text[], head text, bodies text[])
cross join lateral memory.chunk_words(null, w.starts, w.stops, w.chunks, w.configs, w.terms, w.head, array(
    select right(t.content, 300) from (
        select turn.content, turn.seq, turn.place, sum(octet_length(turn.content)) over (
                   order by turn.seq desc, turn.place desc rows between unbounded preceding and 1 preceding) as newer
        from ({turns}) turn
        order by turn.seq desc, turn.place desc limit 5
    ) t
    where t.newer is null or t.newer < 1200 order by t.seq desc, t.place desc)) c
"""
_STATED = [name for name in LongTermRow.__struct_fields__ if name not in ("tenant", "id")]
_QUEUED = "on conflict (tenant, store, item_id, model) do update set due_at = excluded.due_at, attempts = 0"
# $1 tenant, $2 LongTermRows, $3 their ChunkWords, $4 model. What the scope has already is left as it is.
INSERT = f"""
with given as materialized (
    select g.place, g.words, $1::text as tenant, nextval('memory.long_term_id_seq') as id,
           {", ".join(f"r.{column}" for column in _STATED)}
    from rows from (jsonb_array_elements($2), jsonb_array_elements($3)) with ordinality g(body, words, place)
    cross join lateral jsonb_populate_record(null::memory.long_term, g.body) r
), written as (
    insert into memory.long_term (tenant, id, {", ".join(_STATED)})
    overriding system value
    select tenant, id, {", ".join(_STATED)} from given order by place
    on conflict (tenant, scope, kind, content_hash) do nothing
    returning id
), fresh as (
    select given.* from given join written on written.id = given.id
), chunk as (
    {_ADD_CHUNKS.format(memories="fresh", words="m.words", turns=_ALL_BEFORE)}
), queued as (
    insert into memory.index_queue (tenant, store, scope, item_id, model)
    select tenant, 'memory', scope, id, $4 from fresh {_QUEUED}
), told as (
    insert into timeline.events (tenant, scope, kind, mission_id, agent_name, session_id, payload)
    select tenant, scope, 'long_term_write', case when scope like 'mission:%' then substr(scope, 9) end, agent_name,
           session_id, jsonb_build_object('id', id, 'memory_kind', kind)
    from fresh order by place
)
select given.place - 1 as place, given.id from given join written on written.id = given.id
"""


async def insert(
    connection: Connection,
    tenant: str,
    memories: Sequence[LongTermRow],
    words: Sequence[ChunkWords],
    model: str,
) -> dict[int, int]:
    """The ids of new memories by their place. Those that are missing are known."""
    rows = await connection.fetch(INSERT, tenant, memories, words, model)
    return {row["place"]: row["id"] for row in rows}


# $1 tenant, $2 LongTermRows.
KNOWN = """
select g.place - 1 as place, m.id
from jsonb_array_elements($2) with ordinality g(body, place)
cross join lateral jsonb_populate_record(null::memory.long_term, g.body) r
join memory.long_term m
    on m.tenant = $1 and m.scope = r.scope and m.kind = r.kind and m.content_hash = r.content_hash
"""


async def known(connection: Connection, tenant: str, memories: Sequence[LongTermRow]) -> dict[int, int]:
    rows = await connection.fetch(KNOWN, tenant, memories)
    return {row["place"]: row["id"] for row in rows}


_CONTENT = ", ".join(name for name in LongTermContent.__struct_fields__ if name != "status")


def status_now(row: str) -> str:
    """Of a memory's `row`. The sweep may not have marked a commitment that is expired."""
    overdue = f"{row}.status = 'open' and {row}.due_at <= statement_timestamp()"
    return f"case when {overdue} then 'expired' else {row}.status end"


def status_of(row: str) -> str:
    """The column `status`."""
    return f"{status_now(row)} as status"


HOLD = f"""
select id, {_CONTENT}, {status_of("m")} from memory.long_term m where tenant = $1 and id = $2 for update
"""


async def hold(connection: Connection, tenant: str, memory_id: int) -> asyncpg.Record | None:
    """Keeps the memory until the transaction ends."""
    return await connection.fetchrow(HOLD, tenant, memory_id)


def content_of(row: asyncpg.Record) -> LongTermContent:
    return LongTermContent(**{name: row[name] for name in LongTermContent.__struct_fields__})


# $1 is the LongTermRow, $2 its tenant.
RESTATE = """
update memory.long_term m set
    content = r.content, content_hash = r.content_hash, topics = r.topics, tone = r.tone, ended_at = r.ended_at,
    owed_by = r.owed_by, owed_to = r.owed_to, due_at = r.due_at, status = r.status, language = r.language,
    written_by = r.written_by, source_kind = r.source_kind, source_claim = r.source_claim,
    token_count = r.token_count, chunks = r.chunks, updated_at = statement_timestamp()
from jsonb_populate_record(null::memory.long_term, $1) r
where m.tenant = $2 and m.id = r.id
"""
DROP_CHUNKS = "delete from memory.long_term_chunks where tenant = $1 and item_id = $2"
REPLACE_CHUNKS = f"""
with given as (select * from memory.long_term where tenant = $1 and id = $3)
{_ADD_CHUNKS.format(memories="given", words="$2::jsonb", turns=_BEFORE)}
"""


async def restate(connection: Connection, row: LongTermRow, words: ChunkWords) -> None:
    """Replaces what the memory states, and its words for search."""
    await connection.execute(RESTATE, row, row.tenant)
    await connection.execute(DROP_CHUNKS, row.tenant, row.id)
    await connection.execute(REPLACE_CHUNKS, row.tenant, words, row.id)


DROP_VECTORS = "delete from memory.long_term_vec where tenant = $1 and item_id = $2"
QUEUE = f"""
insert into memory.index_queue (tenant, store, scope, item_id, model) values ($1, 'memory', $2, $3, $4) {_QUEUED}
"""


async def embed_anew(connection: Connection, row: LongTermRow, model: str) -> None:
    await connection.execute(DROP_VECTORS, row.tenant, row.id)
    await connection.execute(QUEUE, row.tenant, row.scope, row.id, model)


# What is not trusted supersedes nothing that is. What supersedes is stated now, so it holds again.
SUPERSEDE = """
with done as (
    update memory.long_term older set superseded_by = newer.id
    from memory.long_term newer
    where older.tenant = $1 and older.id = $2 and newer.tenant = $1 and newer.id = $3 and older.id <> newer.id
      and older.scope = newer.scope and older.user_id is not distinct from newer.user_id
      and (older.source_kind <> all ($4) or newer.source_kind = any ($4))
    returning older.id, older.scope, older.agent_name, older.session_id
), held as (
    update memory.long_term newer set superseded_by = null
    from done where newer.tenant = $1 and newer.id = $3 and newer.superseded_by is not null
), told as (
    insert into timeline.events (tenant, scope, kind, mission_id, agent_name, session_id, payload)
    select $1, scope, 'long_term_supersede', case when scope like 'mission:%' then substr(scope, 9) end, agent_name,
           session_id, jsonb_build_object('id', id, 'superseded_by', $3::bigint)
    from done
)
select id from done
"""


async def supersede(connection: Connection, tenant: str, older: int, newer: int) -> bool:
    """False if the newer memory may not supersede the older one."""
    return await connection.fetchval(SUPERSEDE, tenant, older, newer, sorted(TRUSTED)) is not None


# Deletes the queue row after the memory: the indexer locks in that order.
DELETE = """
with gone as (
    delete from memory.long_term where tenant = $1 and id = $2 returning id
), unqueued as (
    delete from memory.index_queue q using gone
    where q.tenant = $1 and q.store = 'memory' and q.item_id = gone.id
)
select count(*) from gone
"""


async def delete(connection: Connection, tenant: str, memory_id: int) -> None:
    await connection.execute(DELETE, tenant, memory_id)


ADD_EVENT = """
insert into timeline.events (tenant, scope, kind, mission_id, agent_name, session_id, payload)
values ($1, $2, $3, case when $2 like 'mission:%' then substr($2, 9) end, $4, $5, $6)
"""


async def add_event(
    connection: Connection, tenant: str, kind: str, memory: LongTermContent, payload: dict[str, Any]
) -> None:
    await connection.execute(
        ADD_EVENT, tenant, memory.scope, kind, memory.agent_name, memory.session_id, payload
    )
