"""The SQL that reads files."""

from __future__ import annotations

from collections.abc import Sequence

import asyncpg

from shared.database.postgres import Connection

# The queue is read once for the page.
LIST = """
with page as materialized (
    select f.path, min(f.title) as title, min(f.format) as format, min(f.origin) as origin,
           sum(f.characters)::bigint as characters, max(f.last_line) as lines, sum(f.chunks)::bigint as chunks,
           array_agg(f.id order by f.part) as ids, max(f.created_at) as created_at,
           max(f.occurred_at) as occurred_at, min(f.agent_name) as agent_name, min(f.written_by) as written_by,
           max(f.piece) = max(f.pieces) as complete
    from memory.files f
    where f.tenant = $1 and ($2::text is null or f.path > $2) and ($3::text is null or starts_with(f.path, $3))
      and ($4::text[] is null or f.scope = any($4))
    group by f.path order by f.path limit $5
), waiting as materialized (
    select p.path
    from page p cross join unnest(p.ids) part(id)
    join memory.index_queue q on q.tenant = $1 and q.store = 'vault_index' and q.item_id = part.id
)
select page.*, page.path not in (select path from waiting) as indexed from page order by page.path
"""


async def list_files(
    connection: Connection,
    tenant: str,
    *,
    after: str | None,
    folder: str | None,
    scopes: Sequence[str] | None,
    limit: int,
) -> list[asyncpg.Record]:
    """By path, from the one behind `after` on."""
    rows: list[asyncpg.Record] = await connection.fetch(LIST, tenant, after, folder, scopes, limit)
    return rows


PART = """
select f.id, f.path, f.title, f.first_line, f.last_line, f.created_at, f.occurred_at,
       (select string_agg(c.body, '' order by c.chunk) from memory.file_chunks c
        where c.tenant = $1 and c.item_id = f.id) as text
from memory.files f
where f.tenant = $1 and f.id = $2 and ($3::text[] is null or f.scope = any($3))
"""


async def part(
    connection: Connection, tenant: str, file_id: int, scopes: Sequence[str] | None
) -> asyncpg.Record | None:
    return await connection.fetchrow(PART, tenant, file_id, scopes)


# The passages that hold some of the lines, the first of them first. $6 is how many.
LINES = """
select c.body, c.first_line, c.last_line
from memory.files f
join memory.file_chunks c on c.tenant = f.tenant and c.item_id = f.id
where f.tenant = $1 and f.path = $2 and ($3::text[] is null or f.scope = any($3))
  and f.last_line >= $4 and f.first_line <= $5 and c.last_line >= $4 and c.first_line <= $5
order by f.part, c.chunk limit $6
"""


async def passages(
    connection: Connection,
    tenant: str,
    path: str,
    scopes: Sequence[str] | None,
    *,
    first: int,
    last: int,
    limit: int,
) -> list[asyncpg.Record]:
    rows: list[asyncpg.Record] = await connection.fetch(LINES, tenant, path, scopes, first, last, limit)
    return rows


CHANGED_AT = """
select coalesce(occurred_at, created_at) as changed_at, origin from memory.files
where tenant = $1 and path = $2 and part = 0 and ($3::text[] is null or scope = any($3))
"""


async def changed_at(
    connection: Connection, tenant: str, path: str, scopes: Sequence[str] | None
) -> asyncpg.Record | None:
    return await connection.fetchrow(CHANGED_AT, tenant, path, scopes)
