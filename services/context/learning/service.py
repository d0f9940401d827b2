"""Operators read and set weights and budgets here."""

from __future__ import annotations

from datetime import datetime
from typing import Any, TypeVar

import asyncpg

from services.context.learning import queries
from services.context.learning.evaluation import LEAST_BUDGET, in_force
from services.context.learning.queries import PutBudget, PutWeight
from services.context.learning.schemas import (
    BudgetInput,
    CallerBudget,
    HistoryCursor,
    SourceWeight,
    WeightChange,
    WeightHistory,
    WeightInput,
)
from shared.auth import Principal
from shared.database import audit
from shared.database.audit import Action, Deed
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.errors import Invalid
from shared.paging.pages import page_of
from shared.provenance import utc

Row = TypeVar("Row", SourceWeight, WeightChange)


class Learning:
    def __init__(self, database: Database, max_budget: int) -> None:
        self._database = database
        self._max_budget = max_budget

    async def weights(
        self, principal: Principal, caller: str | None, deadline: Deadline
    ) -> list[SourceWeight]:
        rows = await self._database.run(
            principal.tenant,
            lambda c: queries.list_weights(c, principal.tenant, principal.agent or caller),
            deadline,
        )
        return [_rounded(SourceWeight(**dict(row))) for row in rows]

    async def history(
        self,
        principal: Principal,
        caller: str | None,
        since: datetime | None,
        cursor: str | None,
        limit: int,
        deadline: Deadline,
    ) -> WeightHistory:
        position = HistoryCursor.read(cursor)
        before = None if position is None else position.id
        whose, start = principal.agent or caller, utc(since, "since")
        rows = await self._database.run(
            principal.tenant,
            lambda c: queries.list_history(c, principal.tenant, whose, start, before=before, limit=limit + 1),
            deadline,
        )
        page = page_of(rows, limit, lambda row: HistoryCursor(id=row["id"]))
        return WeightHistory([_rounded(WeightChange(**dict(row))) for row in page.rows], page.next)

    async def budgets(
        self, principal: Principal, caller: str | None, deadline: Deadline
    ) -> list[CallerBudget]:
        rows = await self._database.run(
            principal.tenant,
            lambda c: queries.list_budgets(c, principal.tenant, principal.agent or caller),
            deadline,
        )
        return [CallerBudget(**dict(row)) for row in rows]

    async def set_weight(self, principal: Principal, given: WeightInput, deadline: Deadline) -> SourceWeight:
        tenant = principal.tenant
        _require_caller(principal, given.caller)

        async def work(connection: Connection) -> asyncpg.Record:
            await queries.lock(connection, tenant, given.caller)
            old = in_force(await queries.weights_of(connection, tenant, given.caller))[given.source]
            share = old.token_share if given.token_share is None else given.token_share
            row = await queries.put_weight(
                connection,
                tenant,
                PutWeight(
                    caller=given.caller,
                    source=given.source,
                    weight=given.weight,
                    token_share=share,
                    manual=given.manual,
                    old_weight=old.weight,
                    old_token_share=old.token_share,
                    cause="operator",
                ),
            )
            before = {"weight": old.weight, "token_share": old.token_share, "manual": old.manual}
            await _record(connection, principal, "weight_set", given.caller, before, given)
            return row

        return _rounded(SourceWeight(**dict(await self._database.transaction(tenant, work, deadline))))

    async def reset_weight(self, principal: Principal, caller: str, source: str, deadline: Deadline) -> None:
        _require_caller(principal, caller)

        async def work(connection: Connection) -> None:
            before = await queries.reset_weight(connection, principal.tenant, caller, source)
            await _record(connection, principal, "weight_reset", caller, before, {"source": source})

        await self._database.transaction(principal.tenant, work, deadline)

    async def set_budget(self, principal: Principal, given: BudgetInput, deadline: Deadline) -> CallerBudget:
        _require_caller(principal, given.caller)
        most = self._max_budget
        if given.default_budget > most:
            raise Invalid.field("default_budget", f"this installation allows {most} tokens")
        put = PutBudget(
            caller=given.caller,
            default_budget=given.default_budget,
            min_budget=given.min_budget or min(LEAST_BUDGET, given.default_budget),
            max_budget=min(given.max_budget or most, most),
            ceiling=given.ceiling,
            manual=given.manual,
        )

        async def work(connection: Connection) -> asyncpg.Record:
            before = await queries.own_budget(connection, principal.tenant, given.caller)
            row = await queries.put_budget(connection, principal.tenant, put)
            await _record(connection, principal, "budget_set", given.caller, before, put)
            return row

        return CallerBudget(**dict(await self._database.transaction(principal.tenant, work, deadline)))

    async def reset_budget(self, principal: Principal, caller: str, deadline: Deadline) -> None:
        _require_caller(principal, caller)

        async def work(connection: Connection) -> None:
            before = await queries.own_budget(connection, principal.tenant, caller)
            await queries.reset_budget(connection, principal.tenant, caller)
            await _record(connection, principal, "budget_reset", caller, before, None)

        await self._database.transaction(principal.tenant, work, deadline)


async def _record(
    connection: Connection, principal: Principal, action: Action, caller: str, before: Any, after: Any
) -> None:
    deed = Deed(action=action, target=f"agent:{caller}", before=before, after=after)
    await audit.record(connection, principal, deed)


def _require_caller(principal: Principal, caller: str) -> None:
    """A caller's settings act on all its missions and users. Raises Forbidden for a key that is bound to some."""
    principal.require_agent(caller)
    principal.require_every_mission()
    principal.require_every_user()


def _rounded(row: Row) -> Row:
    """Rounds away the digits that REAL columns add to the values written."""
    for name in row.__struct_fields__:
        if isinstance(value := getattr(row, name), float):
            setattr(row, name, round(value, 4))
    return row
