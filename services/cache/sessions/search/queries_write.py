"""The SQL that puts objects into the index of search, and takes them from its queue."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from services.cache.sessions.search.words import IndexedObject
from shared.database.postgres import Connection

# $3 IndexedObjects, $4 model. Their vectors follow from the queue.
INDEX = """
with given as materialized (
    select o.number, w.starts, w.stops, w.chunks, w.configs, w.terms, w.head
    from jsonb_array_elements($3) g(body)
    cross join lateral jsonb_to_record(g.body) w(
        id uuid, starts int[], stops int[], chunks text[], configs text[], terms text[], head text)
    join sessions.semantic_objects o on o.tenant = $1 and o.id = w.id
    where o.session_id = $2
), worded as (
    insert into sessions.object_chunks (tenant, scope, item_id, chunk, chunks, start, stop, words, tsv)
    select $1, 'session:' || $2::text, g.number, c.chunk, cardinality(g.chunks), c.start, c.stop, c.words, c.tsv
    from given g
    cross join lateral cache.chunk_words(null, g.starts, g.stops, g.chunks, g.configs, g.terms, g.head, null) c
)
insert into cache.index_queue (tenant, store, scope, item_id, model)
select $1, 'session_objects', 'session:' || $2::text, g.number, $4 from given g
returning item_id
"""


async def index(
    connection: Connection, tenant: str, session_id: UUID, objects: Sequence[IndexedObject], model: str
) -> list[int]:
    """Returns their numbers."""
    rows = await connection.fetch(INDEX, tenant, session_id, objects, model)
    return [row["item_id"] for row in rows]


NUMBERS = "select o.number from sessions.semantic_objects o where o.tenant = $1 and o.session_id = any($2)"
UNQUEUE = """
delete from cache.index_queue
where tenant = $1 and store in ('session_objects', 'object_summaries') and item_id = any($2::bigint[])
"""


async def numbers(connection: Connection, tenant: str, sessions: Sequence[UUID]) -> list[int]:
    """Those of the sessions' objects."""
    return [row["number"] for row in await connection.fetch(NUMBERS, tenant, list(sessions))]


async def unqueue(connection: Connection, tenant: str, objects: Sequence[int]) -> None:
    """After the objects are deleted: the indexer locks in that order."""
    await connection.execute(UNQUEUE, tenant, list(objects))
