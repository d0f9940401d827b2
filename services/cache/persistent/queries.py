"""The SQL of persistent objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

import asyncpg

from services.cache.persistent.schemas import COLUMNS
from services.cache.sessions.search.words import ObjectWords
from shared.database.postgres import Connection


class Named(NamedTuple):
    """What a path names: an id, or the number of a handle."""

    id: UUID | None
    number: int | None


_COLUMNS = ", ".join(f"p.{name}" for name in COLUMNS)
# The clock, not the statement's start: a statement may have waited for another that reinforced the row.
_READ = f"{_COLUMNS}, p.written_by, p.scope, clock_timestamp() as now"

# $2 the session, $3 the object.
SOURCE = """
select o.content_full, o.object_type, s.user_id, s.agent_name, s.mission_id
from sessions.semantic_objects o join sessions.sessions s on s.tenant = $1 and s.id = o.session_id
where o.tenant = $1 and o.session_id = $2 and o.id = $3
"""


async def source(
    connection: Connection, tenant: str, session_id: UUID, object_id: UUID
) -> asyncpg.Record | None:
    """An object of a session, with the parties of the session."""
    return await connection.fetchrow(SOURCE, tenant, session_id, object_id)


# $2 the columns. Of several at once, one inserts and the others wait for it.
INSERT = f"""
with made as (
    insert into sessions.persistent_objects
        (tenant, user_id, source_object_id, source_session_id, object_type, content, content_hash, agent_name,
         source_kind, written_by, token_count)
    select $1, r.user_id, r.source_object_id, r.source_session_id, r.object_type, r.content,
           sha256(convert_to(r.content, 'UTF8')), r.agent_name, r.source_kind, r.written_by, r.token_count
    from jsonb_populate_record(null::sessions.persistent_objects, $2) r
    on conflict (tenant, user_id, content_hash) do nothing
    returning *
)
select {_READ} from made p
"""


async def insert(connection: Connection, tenant: str, columns: dict[str, Any]) -> asyncpg.Record | None:
    """None where the user has the same content already."""
    return await connection.fetchrow(INSERT, tenant, columns)


HOLD_SAME = f"""
select {_READ} from sessions.persistent_objects p
where p.tenant = $1 and p.user_id = $2 and p.content_hash = sha256(convert_to($3, 'UTF8'))
for no key update
"""


async def hold_same(connection: Connection, tenant: str, user_id: str, content: str) -> asyncpg.Record | None:
    """What the user has of this content, until the transaction ends."""
    return await connection.fetchrow(HOLD_SAME, tenant, user_id, content)


# By its id ($2) or its number ($3). A key of some users ($4) finds only what was kept for them.
FIND = f"""
select {_READ} from sessions.persistent_objects p
where p.tenant = $1 and (p.id = $2 or p.number = $3) and ($4::text[] is null or p.user_id = any($4))
"""
HOLD = f"{FIND} for no key update"


async def find(
    connection: Connection, tenant: str, named: Named, users: Sequence[str] | None
) -> asyncpg.Record | None:
    return await connection.fetchrow(FIND, tenant, *named, users)


async def hold(
    connection: Connection, tenant: str, named: Named, users: Sequence[str] | None
) -> asyncpg.Record | None:
    """Keeps it as it is until the transaction ends."""
    return await connection.fetchrow(HOLD, tenant, *named, users)


LIST = f"""
select {_READ} from sessions.persistent_objects p
where p.tenant = $1 and p.user_id = $2 and ($3::bigint is null or p.number < $3)
order by p.number desc limit $4
"""


async def list_objects(
    connection: Connection, tenant: str, user_id: str, before: int | None, limit: int
) -> list[asyncpg.Record]:
    """Newest first."""
    rows: list[asyncpg.Record] = await connection.fetch(LIST, tenant, user_id, before, limit)
    return rows


REINFORCE = f"""
with changed as (
    update sessions.persistent_objects
    set confidence = $3, last_reinforced = statement_timestamp(), reinforcements = reinforcements + 1
    where tenant = $1 and id = $2
    returning *
)
select {_READ} from changed p
"""


async def reinforce(
    connection: Connection, tenant: str, object_id: UUID, confidence: float
) -> asyncpg.Record:
    """Of one that is held."""
    row = await connection.fetchrow(REINFORCE, tenant, object_id, confidence)
    assert row is not None
    return row


# The queue's row goes after the object: the indexer locks in that order.
DELETE = """
with gone as (
    delete from sessions.persistent_objects where tenant = $1 and id = $2 returning number
), unqueued as (
    delete from cache.index_queue q using gone
    where q.tenant = $1 and q.store = 'persistent_objects' and q.item_id = gone.number
)
select count(*) from gone
"""


async def delete(connection: Connection, tenant: str, object_id: UUID) -> None:
    await connection.execute(DELETE, tenant, object_id)


# $3 its ObjectWords, $4 model. Its vectors follow from the queue.
INDEX = """
with given as materialized (
    select p.number, p.scope, w.starts, w.stops, w.chunks, w.configs, w.terms, w.head
    from sessions.persistent_objects p
    cross join jsonb_to_record($3) w(
        starts int[], stops int[], chunks text[], configs text[], terms text[], head text)
    where p.tenant = $1 and p.id = $2
), worded as (
    insert into sessions.persistent_chunks (tenant, scope, item_id, chunk, chunks, start, stop, words, tsv)
    select $1, g.scope, g.number, c.chunk, cardinality(g.chunks), c.start, c.stop, c.words, c.tsv
    from given g
    cross join lateral cache.chunk_words(null, g.starts, g.stops, g.chunks, g.configs, g.terms, g.head, null) c
)
insert into cache.index_queue (tenant, store, scope, item_id, model)
select $1, 'persistent_objects', g.scope, g.number, $4 from given g
"""


async def index(connection: Connection, tenant: str, object_id: UUID, words: ObjectWords, model: str) -> None:
    await connection.execute(INDEX, tenant, object_id, words, model)


TELL = """
insert into timeline.events (tenant, scope, kind, agent_name, session_id, payload)
values ($1, $2, $3, $4, $5, $6)
"""


async def tell(connection: Connection, tenant: str, kind: str, row: asyncpg.Record, **counts: Any) -> None:
    """Adds an event to the timeline: ids and counts, never content."""
    session_id = None if row["source_session_id"] is None else str(row["source_session_id"])
    payload = {
        "id": str(row["id"]),
        "number": row["number"],
        "reinforcements": row["reinforcements"],
        **counts,
    }
    await connection.execute(TELL, tenant, row["scope"], kind, row["agent_name"], session_id, payload)
