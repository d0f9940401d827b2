"""The SQL of the files that were learned from."""

from __future__ import annotations

from collections.abc import Sequence

import asyncpg

from services.agent_memory.facts.writes.queries import CURRENT_OF_FACT
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


# $2 scope, $3 user, $4 path, $5 the run. What another source states, too, is not among them.
VANISHED = f"""
with known as materialized (
    select c.item_id, r.id as run_id, c.action, r.path is not distinct from $4 as here
    from memory.consolidation_changes c
    join memory.consolidation_runs r on r.tenant = c.tenant and r.id = c.run_id
    where c.tenant = $1 and r.tenant = $1 and c.kind = 'fact' and c.action in ('opened', 'confirmed')
      and r.undone_at is null and c.item_id in (
        select o.item_id from memory.consolidation_changes o
        where o.tenant = $1 and o.kind = 'fact' and o.run_id = (
            select max(b.id) from memory.consolidation_runs b
            where b.tenant = $1 and b.scope = $2 and b.path = $4 and b.id < $5 and b.undone_at is null))
), gone as (
    select item_id from known group by item_id
    having bool_and(here) and bool_or(action = 'opened') and max(run_id) < $5
)
select {CURRENT_OF_FACT} from memory.facts f
where f.tenant = $1 and f.id in (select item_id from gone) and f.scope = $2 and f.user_id is not distinct from $3
  and f.superseded_at is null and f.valid_to is null
order by f.id
"""


async def vanished(
    connection: Connection, tenant: str, scope: str, user_id: str | None, path: str, run_id: int
) -> list[asyncpg.Record]:
    """The facts that only this file taught, when it was last learned from, and no longer does in this run."""
    rows: list[asyncpg.Record] = await connection.fetch(VANISHED, tenant, scope, user_id, path, run_id)
    return rows


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
