"""Counts how often agents read their own memories, in batches, so that no reader waits. Includes the SQL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from shared.concurrency.batching import Batcher
from shared.database.postgres import EVERY_TENANT, Connection, Database
from shared.deadline import Deadline

# Often enough for whoever looks, and seldom enough that an agent's next questions count the same memories together.
_LINGER_SECONDS = 2.0
_WRITE_SECONDS = 5.0
_BATCH = 5_000
# When the database is unavailable, the oldest reads are lost first.
_MOST_WAITING = 100_000


class Access(msgspec.Struct, frozen=True):
    tenant: str
    memory_id: int
    count: int = 1


# $1 holds Accesses. It returns those that it counted, and leaves out rows that another transaction has locked, so that
# replicas never wait for each other or for a purge. Replicas that count a memory for the first time do so in one order.
COUNT_ACCESSES = """
with access as materialized (
    select * from jsonb_to_recordset($1) as a(tenant text, memory_id bigint, count bigint)
), free as (
    select known.tenant, known.memory_id, a.count
    from access a join memory.accesses known on known.tenant = a.tenant and known.memory_id = a.memory_id
    for no key update of known skip locked
), counted as (
    update memory.accesses known set access_count = known.access_count + free.count
    from free where known.tenant = free.tenant and known.memory_id = free.memory_id
    returning known.tenant, known.memory_id
), added as (
    insert into memory.accesses (tenant, memory_id, agent_name, access_count)
    select m.tenant, m.id, m.agent_name, m.access_count + a.count
    from access a join memory.agent_memory m on m.tenant = a.tenant and m.id = a.memory_id
    where not exists (
        select from memory.accesses known where known.tenant = a.tenant and known.memory_id = a.memory_id)
    order by m.tenant, m.id
    for key share of m skip locked
    on conflict (tenant, memory_id) do nothing
    returning tenant, memory_id
)
select tenant, memory_id from counted union all select tenant, memory_id from added
"""
STILL_THERE = """
select m.tenant, m.id from unnest($1::text[], $2::bigint[]) a(tenant, memory_id)
join memory.agent_memory m on m.tenant = a.tenant and m.id = a.memory_id
"""


async def count_accesses(c: Connection, accesses: Sequence[Access]) -> list[Access]:
    """Counts at most one Access of each memory, and returns those whose rows are locked."""
    left = {(each.tenant, each.memory_id): each for each in accesses}
    for counted in await c.fetch(COUNT_ACCESSES, accesses):
        del left[tuple(counted)]
    if not left:
        return []
    tenants, ids = zip(*left, strict=True)
    return [left[tuple(row)] for row in await c.fetch(STILL_THERE, tenants, ids)]


class AccessCounts:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._accesses: Batcher[Access] = Batcher(
            "access counts", self._write, size=_BATCH, limit=_MOST_WAITING, linger=_LINGER_SECONDS
        )
        self.start = self._accesses.start
        self.stop = self._accesses.stop
        self.flush = self._accesses.flush

    def count(self, tenant: str, memory_ids: Iterable[int]) -> None:
        for memory_id in memory_ids:
            self._accesses.add(Access(tenant, memory_id))

    async def _write(self, accesses: list[Access]) -> list[Access]:
        merged = Counter[tuple[str, int]]()
        for access in accesses:
            merged[access.tenant, access.memory_id] += access.count
        distinct = [Access(tenant, memory_id, count) for (tenant, memory_id), count in merged.items()]
        return await self._database.run(
            EVERY_TENANT, lambda c: count_accesses(c, distinct), Deadline(_WRITE_SECONDS)
        )
