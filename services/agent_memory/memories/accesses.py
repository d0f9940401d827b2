"""Counts how often agents read their own memories, in batches, so that no reader waits. Includes the SQL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from shared.concurrency.batching import Batcher
from shared.database.postgres import EVERY_TENANT, Connection, Database
from shared.deadline import Deadline

_LINGER_SECONDS = 0.5
_WRITE_SECONDS = 5.0
_BATCH = 5_000
# When the database is unavailable, the oldest reads are lost first.
_MOST_WAITING = 100_000


class Access(msgspec.Struct, frozen=True):
    tenant: str
    memory_id: int
    count: int = 1


# $1 holds Accesses. It returns the accesses of rows that another transaction has locked, so that replicas never wait
# for each other or for a commit.
COUNT_ACCESSES = """
with access as (
    select * from jsonb_to_recordset($1) as a(tenant text, memory_id bigint, count bigint)
), free as (
    select m.tenant, m.id, a.count
    from access a join memory.agent_memory m on m.tenant = a.tenant and m.id = a.memory_id
    for no key update of m skip locked
), counted as (
    update memory.agent_memory m set access_count = m.access_count + free.count
    from free where m.tenant = free.tenant and m.id = free.id
    returning m.tenant, m.id
)
select a.tenant, a.memory_id, a.count
from access a join memory.agent_memory m on m.tenant = a.tenant and m.id = a.memory_id
where not exists (select from counted where counted.tenant = a.tenant and counted.id = a.memory_id)
"""


async def count_accesses(c: Connection, accesses: Sequence[Access]) -> list[Access]:
    """Counts the accesses of each memory, and returns those of locked rows."""
    return [Access(**dict(row)) for row in await c.fetch(COUNT_ACCESSES, accesses)]


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
