"""The SQL that puts the vectors of large tenants into the HNSW index. It holds the rows that are `large`."""

from __future__ import annotations

from datetime import timedelta

from shared.database.postgres import Connection

IS_COMPLETE = "select exists (select from memory.large_tenants where tenant = $1 and complete)"


async def is_complete(connection: Connection, tenant: str) -> bool:
    return bool(await connection.fetchval(IS_COMPLETE, tenant))


ADD = "insert into memory.large_tenants (tenant) values ($1) on conflict (tenant) do nothing"


async def add(connection: Connection, tenant: str) -> None:
    await connection.execute(ADD, tenant)


TENANTS = "select tenant from memory.large_tenants where $1 or not complete order by tenant"


async def tenants(connection: Connection, *, complete: bool) -> list[str]:
    """The large tenants whose vectors are not all in the index; with `complete`, the others too."""
    return [row["tenant"] for row in await connection.fetch(TENANTS, complete)]


# Skips locked rows: who deletes vectors locks them in another order.
INDEX = """
with next as (
    select item_id, chunk, model from memory.agent_memory_vec
    where tenant = $1 and item_id >= $2 and not large
    order by item_id limit $3 for update skip locked
), indexed as (
    update memory.agent_memory_vec v set large = true from next
    where v.tenant = $1 and v.item_id = next.item_id and v.chunk = next.chunk and v.model = next.model
    returning v.item_id
)
select max(item_id) from indexed
"""


async def index(connection: Connection, tenant: str, first: int, count: int) -> int | None:
    """Puts vectors of items from `first` on into the index. Returns the last item, or None if there was none."""
    last: int | None = await connection.fetchval(INDEX, tenant, first, count)
    return last


# A transaction that began before the tenant was large may store a vector outside of the index. $2 outlasts it.
COMPLETE = """
update memory.large_tenants set complete = true
where tenant = $1 and since < statement_timestamp() - $2::interval
  and not exists (select from memory.agent_memory_vec v where v.tenant = $1 and not v.large)
"""


async def complete(connection: Connection, tenant: str, after: timedelta) -> None:
    """Lets searches use the index, if it holds all vectors of the tenant."""
    await connection.execute(COMPLETE, tenant, after)
