"""Erasing what an agent committed, or what any agent knows of a user, with its SQL."""

from __future__ import annotations

from datetime import UTC, datetime

from services.agent_memory.memories.commits.queries import add_event, lock_agent
from services.agent_memory.memories.schemas import ForgetReceipt
from services.agent_memory.transactions import Transactions
from shared.auth import Principal
from shared.database.idempotency import Key
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.telemetry import tracing

# The rows that a deletion of the agent's memories takes with it, counted before.
COUNT_ROWS = """
select (select count(*) from memory.agent_memory where tenant = $1 and agent_name = $2) as agent_memory,
       (select count(*) from memory.agent_memory_chunks where tenant = $1 and scope = 'agent:' || $2)
           as agent_memory_chunks,
       (select count(*) from memory.agent_memory_vec where tenant = $1 and scope = 'agent:' || $2)
           as agent_memory_vec,
       (select count(*) from memory.confirmations c join memory.agent_memory m
            on m.tenant = c.tenant and m.id = c.memory_id where m.tenant = $1 and m.agent_name = $2)
           as confirmations,
       (select count(*) from memory.index_queue q join memory.agent_memory m
            on m.tenant = q.tenant and m.id = q.item_id
            where q.store = 'agent_memory' and m.tenant = $1 and m.agent_name = $2)
           as index_queue
"""
# The queue's rows go with the memories, after them: the indexer locks in that order.
PURGE_MEMORIES = """
with gone as (
    delete from memory.agent_memory where tenant = $1 and scope = $2 returning id
), unqueued as (
    delete from memory.index_queue q using gone
    where q.tenant = $1 and q.store = 'agent_memory' and q.item_id = gone.id
)
select count(*) from gone
"""
PURGE_RECORDS = """
with gone as (delete from memory.idempotency where tenant = $1 and scope = $2 returning 1) select count(*) from gone
"""
PURGE = {"agent_memory": PURGE_MEMORIES, "idempotency": PURGE_RECORDS}
AGENTS_OF_USER = "select distinct agent_name from memory.agent_memory where tenant = $1 and user_id = $2"
PURGE_USER = """
with gone as (
    delete from memory.agent_memory where tenant = $1 and user_id = $2 and agent_name = any($3) returning id
), unqueued as (
    delete from memory.index_queue q using gone
    where q.tenant = $1 and q.store = 'agent_memory' and q.item_id = gone.id
)
select count(*) from gone
"""


class Purge:
    def __init__(self, database: Database, transactions: Transactions) -> None:
        self._database = database
        self._transactions = transactions

    @tracing.memory("delete_memory", "agent_memory")
    async def forget(
        self, principal: Principal, agent_name: str, key: Key | None, deadline: Deadline
    ) -> ForgetReceipt:
        """Erases all that the agent committed; the timeline keeps that it happened, without content."""
        principal.require_agent(agent_name)
        principal.require_every_user()
        tenant = principal.tenant

        async def work(c: Connection) -> ForgetReceipt:
            await lock_agent(c, tenant, agent_name)
            rows = await count_rows(c, tenant, agent_name)
            erased = {**rows, **await purge_scope(c, tenant, f"agent:{agent_name}")}
            await add_event(c, tenant, agent_name, "memory_forget", {"erased": erased})
            return ForgetReceipt(agent_name, erased, datetime.now(UTC))

        # A record under the agent's own scope would be erased with it.
        return await self._transactions.once(
            principal, "shared", ForgetReceipt, work, key, deadline, status=200
        )

    @tracing.memory("delete_memory", "agent_memory")
    async def erase(
        self, principal: Principal, scope: str, user_id: str | None, deadline: Deadline
    ) -> dict[str, int]:
        """Erases every row of the scope, and what any agent knows of the user; counts rows by table."""

        async def work(c: Connection) -> dict[str, int]:
            erased = await purge_scope(c, principal.tenant, scope)
            if user_id is not None:
                erased["agent_memory"] += await purge_user(c, principal.tenant, user_id)
            return erased

        return await self._database.transaction(work, deadline)


async def count_rows(c: Connection, tenant: str, agent_name: str) -> dict[str, int]:
    row = await c.fetchrow(COUNT_ROWS, tenant, agent_name)
    assert row is not None
    return dict(row)


async def purge_scope(c: Connection, tenant: str, scope: str) -> dict[str, int]:
    return {table: await c.fetchval(statement, tenant, scope) for table, statement in PURGE.items()}


async def purge_user(c: Connection, tenant: str, user_id: str) -> int:
    """How many memories all agents had of the user. A concurrent commit of one of them comes first or waits."""
    erased = 0
    while rows := await c.fetch(AGENTS_OF_USER, tenant, user_id):
        agents = sorted(row["agent_name"] for row in rows)
        for agent in agents:
            await lock_agent(c, tenant, agent)
        erased += await c.fetchval(PURGE_USER, tenant, user_id, agents)
    return erased
