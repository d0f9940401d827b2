"""Looks as superuser for rows of a tenant, and for words, in every table of the catalog, a new one too."""

from __future__ import annotations

from shared.database.postgres import Connection

TABLES = """
select c.oid::regclass::text as name,
       exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant') as of_tenant
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema') and n.nspname !~ '^pg_temp'
order by 1
"""


async def rows_of(sql: Connection, tenant: str) -> dict[str, int]:
    """The rows of a tenant by table, a partition counted with its table."""
    counts: dict[str, int] = {}
    for name, of_tenant in await sql.fetch(TABLES):
        if of_tenant:
            count = await sql.fetchval(f"select count(*) from {name} where tenant = $1", tenant)
            counts[_whole(name)] = counts.get(_whole(name), 0) + count
    assert len(counts) > 15
    return {table: count for table, count in counts.items() if count}


async def holding(sql: Connection, word: str) -> dict[str, int]:
    """Rows of any table that hold the word, as a text, a tag, a name or a word of an index."""
    found: dict[str, int] = {}
    for name, _ in await sql.fetch(TABLES):
        statement = f"select count(*) from {name} t where t::text ilike '%' || $1 || '%'"
        if count := await sql.fetchval(statement, word):
            found[_whole(name)] = found.get(_whole(name), 0) + count
    return found


def _whole(table: str) -> str:
    return table.removesuffix("_default").partition("_p20")[0]
