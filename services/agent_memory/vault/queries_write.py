"""The SQL that writes and removes files. Callers hold the lock of the path."""

from __future__ import annotations

from collections.abc import Iterator

import asyncpg

from services.agent_memory.vault.content import FileRow, Rows
from shared.database.postgres import Connection

STORE = "vault_index"
_CHARACTERS_AT_ONCE = 400_000

LOCK_PATH = "select pg_advisory_xact_lock(hashtextextended($1 || chr(31) || $2, 5))"


async def lock_path(connection: Connection, tenant: str, path: str) -> None:
    await connection.execute(LOCK_PATH, tenant, path)


# The last part of each piece.
PIECES = """
select distinct on (piece) piece, pieces, part, next_line, origin, hash, agent_name
from memory.files where tenant = $1 and path = $2 order by piece, part desc
"""


async def pieces(connection: Connection, tenant: str, path: str) -> list[asyncpg.Record]:
    rows: list[asyncpg.Record] = await connection.fetch(PIECES, tenant, path)
    return rows


_COLUMNS = ", ".join(FileRow.__struct_fields__)
# $1 tenant, $2 FileRows, $3 their ChunkWords, $4 model, $5 the kind of the event; null: none.
INSERT = f"""
with given as materialized (
    select g.place, g.words, $1::text as tenant, nextval('memory.files_id_seq') as id,
           {", ".join(f"r.{column}" for column in FileRow.__struct_fields__)}
    from rows from (jsonb_array_elements($2), jsonb_array_elements($3)) with ordinality g(body, words, place)
    cross join lateral jsonb_populate_record(null::memory.files, g.body) r
), written as (
    insert into memory.files (tenant, id, {_COLUMNS})
    overriding system value select tenant, id, {_COLUMNS} from given order by place
), chunk as (
    insert into memory.file_chunks (tenant, scope, item_id, chunk, chunks, start, stop, words, tsv, body,
        first_line, last_line)
    select m.tenant, m.scope, m.id, c.chunk, m.chunks, c.start, c.stop, c.words, c.tsv,
           w.bodies[c.chunk + 1], w.first_lines[c.chunk + 1], w.last_lines[c.chunk + 1]
    from given m
    cross join jsonb_to_record(m.words) as w(
        starts int[], stops int[], chunks text[], configs text[], terms text[], head text,
        bodies text[], first_lines int[], last_lines int[])
    cross join lateral memory.chunk_words(
        null, w.starts, w.stops, w.chunks, w.configs, w.terms, w.head, '{{}}'::text[]) c
), queued as (
    insert into memory.index_queue (tenant, store, scope, item_id, model)
    select tenant, '{STORE}', scope, id, $4 from given
), told as (
    insert into timeline.events (tenant, scope, kind, mission_id, agent_name, payload)
    select tenant, scope, $5, case when scope like 'mission:%' then substr(scope, 9) end, agent_name,
           jsonb_build_object('id', id, 'origin', origin, 'chunks', chunks)
    from given where $5::text is not null order by place
)
select id from given order by place
"""


async def insert(
    connection: Connection, tenant: str, rows: Rows, *, model: str, event: str | None
) -> list[int]:
    """Returns the ids of the parts, in order."""
    ids: list[int] = []
    for some in _by_size(rows):
        written = await connection.fetch(INSERT, tenant, some.files, some.words, model, event)
        ids += [row["id"] for row in written]
    return ids


def _by_size(rows: Rows) -> Iterator[Rows]:
    """As much at once as a statement writes well within its time, on a slow machine too."""
    some, size = Rows([], [], []), 0
    for file, words in zip(rows.files, rows.words, strict=True):
        some.files.append(file)
        some.words.append(words)
        size += file.characters
        if size >= _CHARACTERS_AT_ONCE:
            yield some
            some, size = Rows([], [], []), 0
    if some.files:
        yield some


# Deletes the queue rows after the files, because the indexer locks in that order.
REMOVE = f"""
with gone as (
    delete from memory.files where tenant = $1 and path = $2 and piece >= $3 returning id
), unqueued as (
    delete from memory.index_queue q using gone
    where q.tenant = $1 and q.store = '{STORE}' and q.item_id = gone.id
)
select count(*) from gone
"""


async def remove(connection: Connection, tenant: str, path: str, piece: int = 1) -> int:
    """Removes the file from this piece on. Answers how many parts it was."""
    return int(await connection.fetchval(REMOVE, tenant, path, piece))


ADD_EVENT = """
insert into timeline.events (tenant, scope, kind, mission_id, agent_name, payload)
values ($1, $2, $3, case when $2 like 'mission:%' then substr($2, 9) end, $4, $5)
"""


async def add_event(
    connection: Connection, tenant: str, scope: str, kind: str, agent: str | None, counts: dict[str, int]
) -> None:
    await connection.execute(ADD_EVENT, tenant, scope, kind, agent, counts)
