"""What a tenant has in every table, in figures that two tenants share when they did the same."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from shared.database.postgres import Connection

State = dict[str, float]

# Records of keys are what is under test; requests count however they end, and so do calls of models that a repeat makes
# again; what waits in a queue is waited for.
_BESIDE = ("accesses", "idempotency", "api_key_usage", "index_queue", "spending")
_WAITING = """
select (select count(*) from cache.index_queue where tenant = $1)
     + (select count(*) from memory.index_queue where tenant = $1)
"""
# Reading counts, and webhooks are told, in their own time. Handles of objects have gaps, by repeats.
# Where a chunk ends depends on how many digits an id in its text has.
_UNCOUNTED = ("access_count", "item_id", "last_used_at", "number", "position", "seq", "start", "stop")
# Sums of ids mean nothing. The few of three tenants may agree by chance: 1 and 6, 2 and 5, 3 and 4.
_IDS = ("id", "changed", "evicted_up_to", "recalled_from", "revision_of", "superseded_by")
# A retry may ask a model again, which costs again: only what callers record is a write.
_COSTS, _RECORDED = ("timeline.costs", "timeline.costs_by_day"), "caller"
_NUMBERS = ("smallint", "integer", "bigint", "real", "double precision", "numeric")
_COLUMNS = """
select c.table_schema || '.' || c.table_name as name, c.column_name as column, c.data_type as type
from information_schema.columns c
join information_schema.tables t using (table_schema, table_name)
where t.table_type = 'BASE TABLE' and c.table_schema !~ '^(pg_|information_schema|public)'
  and c.table_name <> all($1) and c.column_name <> all($2)
  and not exists (
      select from pg_inherits i where i.inhrelid = format('%I.%I', c.table_schema, c.table_name)::regclass)
  and exists (
      select from information_schema.columns o
      where o.table_schema = c.table_schema and o.table_name = c.table_name and o.column_name = 'tenant')
order by 1, 2
"""
_STILL_SECONDS = 0.5
_MOST_SECONDS = 60.0


class Tables:
    def __init__(self, connection: Connection, statement: str) -> None:
        self._connection, self._statement = connection, statement
        self._turn = asyncio.Lock()

    @classmethod
    async def read(cls, connection: Connection) -> Tables:
        columns: dict[str, list[tuple[str, str]]] = {}
        for row in await connection.fetch(_COLUMNS, list(_BESIDE), list(_UNCOUNTED)):
            columns.setdefault(row["name"], []).append((row["column"], row["type"]))
        return cls(connection, " union all ".join(counted(name, some) for name, some in columns.items()))

    async def of(self, tenant: str) -> State:
        """Once nothing waits for a vector and nothing changes: events and vectors follow a write."""
        last: State | None = None
        async with asyncio.timeout(_MOST_SECONDS):
            while (now := await self._now(tenant)) is None or now != last:
                last = now
                await asyncio.sleep(_STILL_SECONDS)
        return now

    async def _now(self, tenant: str) -> State | None:
        """None while an item waits in a queue, which it may do for long on a busy machine."""
        async with self._turn:
            if await self._connection.fetchval(_WAITING, tenant):
                return None
            rows = await self._connection.fetch(self._statement, tenant)
        return {f"{row['name']}.{figure}": value for row in rows for figure, value in row["told"].items()}


def counted(name: str, columns: Iterable[tuple[str, str]]) -> str:
    """Rows, values, and the sums of numbers that are no ids. Names of tables and columns are the database's own."""
    figures = ["'rows', count(*)"]
    for column, kind in columns:
        figures.append(f"""'{column}', count("{column}")""")
        if kind in _NUMBERS and not _is_id(column):
            figures.append(f"""'{column} sum', coalesce(round(sum("{column}")::numeric, 2), 0)""")
    # A function takes 100 arguments.
    parts = [f"jsonb_build_object({', '.join(figures[at : at + 40])})" for at in range(0, len(figures), 40)]
    rest = f" and service = '{_RECORDED}'" if name in _COSTS else ""
    return f"select '{name}' as name, {' || '.join(parts)} as told from {name} where tenant = $1{rest}"


def _is_id(column: str) -> bool:
    return column in _IDS or column.endswith("_id")


def stable(references: Iterable[State]) -> State:
    """The figures on which all of them agree: not sums of times or of measured durations."""
    first, *others = references
    return {name: value for name, value in first.items() if all(one.get(name) == value for one in others)}


def differences(wanted: State, found: State) -> list[str]:
    return [
        f"{name}: {found.get(name)} instead of {value}"
        for name, value in wanted.items()
        if found.get(name) != value
    ]
