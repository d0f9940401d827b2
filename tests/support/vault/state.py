"""What the index holds of a tenant's folder."""

from __future__ import annotations

from typing import Any

from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from tests.support.vault.notes import Stated

TENANT = "acme"
_FILES = """
select path, part, piece, pieces, origin, hash, scope, user_id, format, title, characters, first_line, last_line,
       next_line, chunks, occurred_at
from memory.files where tenant = $1
"""
_PASSAGES = """
select f.path, f.part, c.chunk, c.chunks, c.start, c.stop, c.words, c.tsv::text, c.body, c.first_line, c.last_line
from memory.files f join memory.file_chunks c on c.tenant = f.tenant and c.item_id = f.id where f.tenant = $1
"""
# Each part waits for its vectors once, and nothing else waits.
_QUEUED = """
select f.path, f.part from memory.index_queue q
left join memory.files f on f.tenant = q.tenant and f.id = q.item_id where q.tenant = $1 and q.store = 'vault_index'
"""


def patience() -> Deadline:
    return Deadline(60)


async def rows_of(pool: Database, statement: str, tenant: str = TENANT) -> list[tuple[Any, ...]]:
    async def work(c: Connection) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in await c.fetch(statement, tenant)]

    return await pool.run(tenant, work, patience())


async def snapshot(pool: Database, tenant: str = TENANT) -> dict[str, list[tuple[Any, ...]]]:
    """All that two indexes of the same folder have in common: everything but ids and times of writing."""
    tables = {"files": _FILES, "passages": _PASSAGES, "queued": _QUEUED}
    found = {name: sorted(await rows_of(pool, sql, tenant), key=repr) for name, sql in tables.items()}
    return {**found, "facts": sorted(await facts_of(pool, tenant))}


async def texts_of(pool: Database, tenant: str = TENANT) -> dict[str, str]:
    """The text of each file, as its passages hold it."""
    rows = await rows_of(
        pool,
        """select f.path, string_agg(c.body, '' order by f.part, c.chunk)
           from memory.files f join memory.file_chunks c on c.tenant = f.tenant and c.item_id = f.id
           where f.tenant = $1 group by f.path""",
        tenant,
    )
    return dict(rows)


async def facts_of(pool: Database, tenant: str = TENANT) -> set[Stated]:
    """What the files state, as far as it holds. No fact twice."""
    rows = await rows_of(
        pool,
        """select scope, source, line, subject, predicate, object from memory.facts
           where tenant = $1 and source is not null and superseded_at is null and valid_to is null
             and user_id is not distinct from case when scope like 'user:%' then substr(scope, 6) end""",
        tenant,
    )
    found = {Stated(*row) for row in rows}
    assert len(found) == len(rows)
    return found


async def versions(pool: Database, *tables: str) -> set[tuple[Any, ...]]:
    """Every version of a row that the tables hold, as Postgres tells them apart."""
    return {
        (table, *row)
        for table in tables
        for row in await rows_of(pool, f"select xmin::text, ctid::text from memory.{table} where tenant = $1")
    }


async def end_lease(pool: Database) -> None:
    """As if the last run had not shown itself for two minutes."""

    async def work(c: Connection) -> None:
        await c.execute("delete from memory.vault_runs where tenant = $1", TENANT)

    await pool.transaction(TENANT, work, patience())
