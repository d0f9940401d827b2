"""Erases what an agent committed, or what any agent knows about a user, from every package."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from services.agent_memory.memories.commits.queries import NewEvent, add_events, lock_agents
from services.agent_memory.memories.purge import count_rows
from services.agent_memory.memories.schemas import ForgetReceipt
from services.agent_memory.transactions import Transactions
from shared.auth import Principal
from shared.concurrency import clock
from shared.database import audit
from shared.database.audit import Deed
from shared.database.erasure import ROWS_AT_ONCE, Erasure, erase_agent, erase_scope, erase_user
from shared.database.idempotency import Key
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.review.reviews import Reviews
from shared.telemetry import tracing

PURGE_RECORDS = """
with gone as (
    delete from memory.idempotency where tenant = $1 and (scope = $2 or subjects @> array[$2]) returning 1
)
select count(*) from gone
"""
# Nobody knows whose text a vector is of, and all of them can be made again.
PURGE_VECTORS = """
with gone as (delete from memory.embedding_cache where tenant = $1 and $2::text is not null returning 1)
select count(*) from gone
"""
RECORDS = Erasure(scope={"idempotency": PURGE_RECORDS, "embedding_cache": PURGE_VECTORS})
_SHARED = "shared"
ERASE_TENANT = "select memory.erase_tenant($1, $2)"


class Purge:
    def __init__(self, database: Database, transactions: Transactions, rooms: Sequence[Erasure]) -> None:
        self._database = database
        self._rooms = [*rooms, RECORDS]
        self._transactions = transactions
        self._reviews = Reviews("memory")

    @tracing.memory("delete_memory", "agent_memory")
    async def forget(
        self, principal: Principal, agent_name: str, key: Key | None, deadline: Deadline
    ) -> ForgetReceipt:
        """Erases everything that the agent committed. The timeline keeps an event without content."""
        principal.require_agent(agent_name)
        principal.require_every_mission()
        principal.require_every_user()
        tenant = principal.tenant

        async def work(c: Connection) -> ForgetReceipt:
            reviews = await self._reviews.purge(c, tenant, [f"agent:{agent_name}"])
            await lock_agents(c, tenant, [agent_name])
            rows = await count_rows(c, tenant, agent_name)
            gone = await erase_scope(c, self._rooms, tenant, f"agent:{agent_name}")
            gone.update(await erase_agent(c, self._rooms, tenant, agent_name))
            erased = {**rows, **gone, "reviews": reviews}
            await add_events(c, tenant, "memory_forget", [NewEvent(agent_name, {"erased": erased})])
            await audit.record(
                c, principal, Deed(action="forget", target=f"agent:{agent_name}", after=erased)
            )
            if about is not None:
                # It names the agent, so it went with the rest. Without it, a retry would erase what came after.
                await self._transactions.records.renew(c, tenant, _SHARED, about)
            return ForgetReceipt(agent_name, erased, clock.now())

        about = None if key is None else key.about([agent_name])
        return await self._transactions.once(
            principal, _SHARED, ForgetReceipt, work, about, deadline, status=200
        )

    @tracing.memory("delete_memory", "agent_memory")
    async def erase(
        self,
        principal: Principal,
        scope: str,
        user_id: str | None,
        deadline: Deadline,
        *,
        agent: str | None = None,
    ) -> dict[str, int]:
        """Erases every row of the scope, what the agent wrote, and what any agent knows about the user.

        Returns rows by table.
        """

        async def work(c: Connection) -> dict[str, int]:
            scopes = [scope, *([] if user_id is None else [f"user:{user_id}"])]
            scopes += [] if agent is None else [f"agent:{agent}"]
            erased = Counter({"reviews": await self._reviews.purge(c, principal.tenant, scopes)})
            if agent is not None:
                erased.update(await erase_agent(c, self._rooms, principal.tenant, agent))
            if user_id is not None:
                erased.update(await erase_user(c, self._rooms, principal.tenant, user_id))
            # Last, because the scope's rows name the sessions that are forgotten with a user.
            erased.update(await erase_scope(c, self._rooms, principal.tenant, scope))
            return dict(erased)

        return await self._database.transaction(principal.tenant, work, deadline)

    async def erase_tenant(self, principal: Principal, deadline: Deadline) -> dict[str, int]:
        """Erases a part of the tenant. Returns rows by table, all 0 when nothing is left."""
        principal.require_unbounded()

        async def work(c: Connection) -> dict[str, int]:
            erased: dict[str, int] = await c.fetchval(ERASE_TENANT, principal.tenant, ROWS_AT_ONCE)
            return erased

        return await self._database.transaction(principal.tenant, work, deadline)
