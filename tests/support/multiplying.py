"""Multiplies all that a tenant holds: copies with names, ids and keys of their own, in every table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from shared.database.postgres import Connection

_TABLES = """
select c.oid, n.nspname || '.' || c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'p') and not c.relispartition
  and n.nspname in ('cache', 'memory', 'context', 'timeline', 'sessions')
  and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant' and not a.attisdropped)
order by name
"""
_COLUMNS = """
select a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
       exists (select from pg_index i where i.indrelid = $1 and i.indisunique and a.attnum = any(i.indkey)) as keyed
from pg_attribute a where a.attrelid = $1 and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
order by a.attnum
"""
# Beyond the ids of what a test writes.
_APART = 100_000
# Of webhooks a tenant may have few, and what waits in a queue would be worked on.
_ONCE = {"context.webhooks", "cache.index_queue", "memory.index_queue"}
# A thread has a number that is its own in its tenant.
_NUMBERS = {"id", "number", "seq", "superseded_by", "stated_hash", "thread"}


class _Column(NamedTuple):
    name: str
    type: str
    keyed: bool

    def copied(self) -> str:
        """$2 is the word in all names, `i` the number of the copy."""
        own = f'r."{self.name}"'
        if self.name == "tenant":
            return own
        if self.type in ("text", "jsonb", "text[]"):
            return f"replace({own}::text, $2, $2 || 'x' || i)::{self.type}"
        if self.type == "uuid":
            return f"md5({own}::text || i)::uuid"
        if self.type == "bigint" and (self.name in _NUMBERS or self.name.endswith("_id")):
            return f"{own} + i::bigint * {_APART}"
        if self.name == "created_at":
            # No list has so many rows of one instant.
            return f"{own} - i * interval '1 ms'"
        if self.type == "bytea" and (self.keyed or self.name.endswith("hash")):
            return f"sha256({own} || convert_to(i::text, 'utf8'))"
        return own


async def multiply(admin: Connection, tenant: str, word: str, copies: int) -> None:
    """Copies every row of the tenant, but for those that all of its agents share. Triggers do not run."""
    async with admin.transaction():
        await admin.execute("set local session_replication_role = replica")
        for table in await admin.fetch(_TABLES):
            if table["name"] not in _ONCE:
                columns = [_Column(**row) for row in await admin.fetch(_COLUMNS, table["oid"])]
                await admin.execute(_statement(table["name"], columns), tenant, word, copies)
    await admin.execute("vacuum analyze")


def _statement(table: str, columns: Sequence[_Column]) -> str:
    names = ", ".join(f'"{column.name}"' for column in columns)
    return f"""
insert into {table} ({names}) overriding system value
select {", ".join(column.copied() for column in columns)}
from {table} r cross join generate_series(1, $3::int) i
where r.tenant = $1 and $2::text <> '' and coalesce(to_jsonb(r) ->> 'scope', '') <> 'shared'
on conflict do nothing
"""
