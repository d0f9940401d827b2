"""Marks commitments that nobody kept in time, which readers never see as open. Includes the SQL."""

from __future__ import annotations

from shared.concurrency.tasks import every
from shared.database.doorbell import Doorbell
from shared.database.postgres import EVERY_TENANT, Connection, Database
from shared.deadline import Deadline

_EVERY_SECONDS = 60.0
_SECONDS = 30.0
_BATCH = 500

OVERDUE_TENANTS = """
select distinct tenant from memory.long_term where status = 'open' and due_at <= statement_timestamp()
"""
# Several replicas may look at once; the one that locks a row marks it.
LOCK_OVERDUE = """
select id from memory.long_term
where tenant = $1 and status = 'open' and due_at <= statement_timestamp()
order by id limit $2 for no key update skip locked
"""
EXPIRE = """
with expired as (
    update memory.long_term set status = 'expired', updated_at = statement_timestamp()
    where tenant = $1 and id = any($2)
    returning id, scope, agent_name
)
insert into timeline.events (tenant, scope, kind, mission_id, agent_name, payload)
select $1, scope, 'commitment_expire', case when scope like 'mission:%' then substr(scope, 9) end, agent_name,
       jsonb_build_object('id', id)
from expired
"""


async def overdue_tenants(connection: Connection) -> list[str]:
    return [row["tenant"] for row in await connection.fetch(OVERDUE_TENANTS)]


async def expire(connection: Connection, tenant: str) -> int:
    ids = [row["id"] for row in await connection.fetch(LOCK_OVERDUE, tenant, _BATCH)]
    if ids:
        await connection.execute(EXPIRE, tenant, ids)
    return len(ids)


class CommitmentExpiry:
    def __init__(self, database: Database, doorbell: Doorbell) -> None:
        self._database = database
        self._doorbell = doorbell

    async def run_forever(self) -> None:
        await every(_EVERY_SECONDS, "expiry of commitments", self.sweep)

    async def sweep(self) -> int:
        """Returns how many commitments this replica marked as expired."""
        tenants = await self._database.run(EVERY_TENANT, overdue_tenants, Deadline(_SECONDS))
        return sum([await self._sweep(tenant) for tenant in tenants])

    async def _sweep(self, tenant: str) -> int:
        marked = 0
        while count := await self._database.transaction(
            tenant, lambda c: expire(c, tenant), Deadline(_SECONDS)
        ):
            marked += count
            self._doorbell.ring(tenant)
        return marked
