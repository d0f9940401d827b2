"""The SQL of runs over a tenant's folder, and of the files that they write."""

from __future__ import annotations

from collections.abc import Sequence

import asyncpg

from services.agent_memory.vault.folder_index.progress import Progress
from services.agent_memory.vault.queries_write import STORE
from shared.database.postgres import Connection

# Whoever began the last run and does not show itself for two minutes is taken to be gone. $3 is the age in seconds that
# the last run must have.
BEGIN = """
insert into memory.vault_runs as r (tenant, run) values ($1, $2)
on conflict (tenant) do update set run = $2, started_at = excluded.started_at, seen_at = excluded.seen_at,
    finished_at = null, files = 0, unchanged = 0, changed = 0, removed = 0, refused = '[]', refusals = 0
where (r.finished_at is not null or r.seen_at < excluded.seen_at - interval '2 minutes')
  and r.started_at <= excluded.started_at - $3 * interval '1 second'
returning 1
"""


async def begin(connection: Connection, tenant: str, run: str, age: float) -> bool:
    """Whether the run is the only one of the tenant."""
    return bool(await connection.fetchval(BEGIN, tenant, run, age))


NOTE = """
update memory.vault_runs set seen_at = statement_timestamp(), files = $3, unchanged = $4, changed = $5, removed = $6,
    refused = $7, refusals = $8, finished_at = case when $9 then statement_timestamp() end
where tenant = $1 and run = $2
returning 1
"""


async def note(
    connection: Connection, tenant: str, run: str, progress: Progress, *, finished: bool = False
) -> bool:
    """False: another run has begun."""
    return bool(
        await connection.fetchval(
            NOTE,
            tenant,
            run,
            progress.files,
            progress.unchanged,
            progress.changed,
            progress.removed,
            progress.refused,
            progress.refusals,
            finished,
        )
    )


LAST = """
select started_at, finished_at, files, unchanged, changed, removed, refused, refusals
from memory.vault_runs where tenant = $1
"""


async def last(connection: Connection, tenant: str) -> asyncpg.Record | None:
    return await connection.fetchrow(LAST, tenant)


KNOWN = "select path, hash from memory.files where tenant = $1 and part = 0 and origin = 'folder'"


async def known(connection: Connection, tenant: str) -> dict[str, bytes]:
    """The hashes of the tenant's files, by path."""
    return {row["path"]: row["hash"] for row in await connection.fetch(KNOWN, tenant)}


LOCK_PATHS = "select pg_advisory_xact_lock(hashtextextended($1 || chr(31) || p, 5)) from unnest($2::text[]) p"
UPLOADED = """
select distinct path from memory.files where tenant = $1 and path = any($2) and origin = 'upload'
"""


async def lock(connection: Connection, tenant: str, paths: Sequence[str]) -> set[str]:
    """Waits for other writers of these paths. Returns those that hold an uploaded file."""
    await connection.execute(LOCK_PATHS, tenant, sorted(paths))
    return {row["path"] for row in await connection.fetch(UPLOADED, tenant, list(paths))}


REMOVE = f"""
with gone as (
    delete from memory.files where tenant = $1 and path = any($2) and origin = 'folder' returning id, part
), unqueued as (
    delete from memory.index_queue q using gone
    where q.tenant = $1 and q.store = '{STORE}' and q.item_id = gone.id
)
select count(*) from gone where part = 0
"""


async def remove(connection: Connection, tenant: str, paths: Sequence[str]) -> int:
    """Answers how many files are gone."""
    return int(await connection.fetchval(REMOVE, tenant, list(paths)))
