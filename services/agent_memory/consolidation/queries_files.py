"""The SQL of the files that were learned from."""

from __future__ import annotations

from collections.abc import Sequence

import asyncpg

from shared.database.postgres import Connection

# The hash is that of all its pieces. A file that is uploaded in pieces may not be complete.
FIND = """
select min(f.scope) as scope, string_agg(f.hash, ''::bytea order by f.part) as hash,
       coalesce(max(f.occurred_at), max(f.created_at)) as changed_at, max(f.last_line)::bigint as lines
from memory.files f
where f.tenant = $1 and f.path = $2 and ($3::text[] is null or f.scope = any($3))
having count(*) > 0
"""


async def find(
    connection: Connection, tenant: str, path: str, scopes: Sequence[str] | None
) -> asyncpg.Record | None:
    return await connection.fetchrow(FIND, tenant, path, scopes)


# Waits for whoever writes the file or learns from it.
LOCK = "select pg_advisory_xact_lock(hashtextextended($1 || chr(31) || $2, 5))"
LEARNED = """
select hash, scope, run_id from memory.consolidation_file_hashes where tenant = $1 and path = $2
"""


async def learned(connection: Connection, tenant: str, path: str) -> asyncpg.Record | None:
    """What was last learned from the file. Keeps it until the transaction ends."""
    await connection.execute(LOCK, tenant, path)
    return await connection.fetchrow(LEARNED, tenant, path)


NOTE = """
insert into memory.consolidation_file_hashes (tenant, path, scope, user_id, hash, run_id)
values ($1, $2, $3, $4, $5, $6)
on conflict (tenant, path) do update set scope = excluded.scope, user_id = excluded.user_id, hash = excluded.hash,
    run_id = excluded.run_id, learned_at = excluded.learned_at
"""


async def note(
    connection: Connection,
    tenant: str,
    path: str,
    *,
    scope: str,
    user_id: str | None,
    digest: bytes,
    run_id: int,
) -> None:
    await connection.execute(NOTE, tenant, path, scope, user_id, digest, run_id)
