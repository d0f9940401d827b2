"""The eval cycle: it learns weights, token shares and budgets from new feedback."""

from __future__ import annotations

from collections.abc import Sequence

import asyncpg
import msgspec

from services.context import stores
from services.context.learning import queries, queries_feedback
from services.context.learning import rules as learning
from services.context.learning.queries import PutBudget, PutWeight
from services.context.learning.rules import BudgetSetting, Experience, Setting
from services.context.learning.schemas import BudgetAdjustment, Evaluated, WeightAdjustment
from services.context.log.replay import LoggedCandidate
from shared.auth import Principal
from shared.database import audit
from shared.database.audit import Deed
from shared.database.postgres import EVERY_TENANT, Connection, Database
from shared.deadline import Deadline

START = {store.name: Setting(store.weight, store.token_share) for store in stores.STORES}
LEAST_BUDGET = 500
# Assemblies of one caller in one cycle.
_BATCH = 1_000
_EVERYONE = "*"


class Evaluation:
    """Each caller has its own transaction, so a cycle that stops halfway loses no feedback."""

    def __init__(self, database: Database, default_budget: int, max_budget: int) -> None:
        self._database = database
        self._default_budget = default_budget
        self._max_budget = max_budget

    async def run(self, tenant: str | None, deadline: Deadline) -> Evaluated:
        """Learns from the new feedback of one tenant or all."""
        result = Evaluated([], [], 0, 0, 0)
        waiting = await self._database.run(
            tenant or EVERY_TENANT,
            lambda c: queries_feedback.waiting_callers(c, tenant, learning.EVAL_BATCH_SIZE),
            deadline,
        )
        for one, caller in waiting:
            await self._database.transaction(
                one,
                lambda c, t=one, name=caller: self._learn(c, t, name, result),  # type: ignore[misc]
                deadline,
            )
        result.weights_count, result.budgets_count = await self._database.run(
            tenant or EVERY_TENANT, lambda c: queries.counts(c, tenant), deadline
        )
        return result

    async def asked(self, principal: Principal, deadline: Deadline) -> Evaluated:
        """A cycle for the tenant of an admin, who stands in the audit before it begins: its parts commit alone."""
        deed = Deed(action="evaluate", target="tenant")
        await self._database.run(principal.tenant, lambda c: audit.record(c, principal, deed), deadline)
        return await self.run(principal.tenant, deadline)

    async def _learn(self, connection: Connection, tenant: str, caller: str, result: Evaluated) -> None:
        if not await queries.try_lock(connection, tenant, caller):
            return
        rows = await queries_feedback.take_batch(connection, tenant, caller, _BATCH)
        if len(rows) < learning.EVAL_BATCH_SIZE:
            return
        batch = [_experience(row) for row in rows]
        weights = await self._learn_weights(connection, tenant, caller, batch)
        budgets = await self._learn_budget(connection, tenant, caller, batch)
        await queries_feedback.mark_processed(
            connection, tenant, [row["id"] for row in rows], [row["created_at"] for row in rows]
        )
        await queries.note_evaluation(
            connection, tenant, caller, assemblies=len(rows), weights=len(weights), budgets=len(budgets)
        )
        result.weight_adjustments += weights
        result.budget_adjustments += budgets
        result.assemblies += len(rows)

    async def _learn_weights(
        self, connection: Connection, tenant: str, caller: str, batch: Sequence[Experience]
    ) -> list[WeightAdjustment]:
        settings = in_force(await queries.weights_of(connection, tenant, caller))
        seen = learning.measure(batch)
        adjustments = []
        for source, new in learning.adjust(settings, START, seen).items():
            old = settings[source]
            effect = seen.get(source)
            total = None if effect is None else round(effect.total, 4)
            await queries.put_weight(
                connection,
                tenant,
                PutWeight(
                    caller=caller,
                    source=source,
                    weight=new.weight,
                    token_share=new.token_share,
                    manual=False,
                    old_weight=old.weight,
                    old_token_share=old.token_share,
                    cause="eval",
                    effectiveness=total,
                    assemblies=len(batch),
                ),
            )
            adjustments.append(
                WeightAdjustment(
                    caller, source, old.weight, new.weight, old.token_share, new.token_share, total
                )
            )
        return adjustments

    async def _learn_budget(
        self, connection: Connection, tenant: str, caller: str, batch: Sequence[Experience]
    ) -> list[BudgetAdjustment]:
        row = await queries.budget_of(connection, tenant, caller)
        most = self._max_budget
        setting = (
            BudgetSetting(self._default_budget, min(LEAST_BUDGET, most), most)
            if row is None
            else BudgetSetting(row["default_budget"], row["min_budget"], row["max_budget"], row["manual"])
        )
        new = learning.adjust_budget(setting, batch)
        if new == setting.default_budget:
            return []
        ceiling = row["ceiling"] if row is not None and row["caller"] != _EVERYONE else None
        await queries.put_budget(
            connection,
            tenant,
            PutBudget(
                caller=caller,
                default_budget=new,
                min_budget=setting.min_budget,
                max_budget=setting.max_budget,
                ceiling=ceiling,
                manual=False,
            ),
        )
        return [BudgetAdjustment(caller, setting.default_budget, new)]


def in_force(rows: Sequence[asyncpg.Record]) -> dict[str, Setting]:
    """Each source's setting: the caller's row, the tenant's `*` row, or the start value."""
    return {
        **START,
        **{
            row["source"]: Setting(round(row["weight"], 4), round(row["token_share"], 4), row["manual"])
            for row in rows
        },
    }


def _experience(row: asyncpg.Record) -> Experience:
    explicit = row["feedback_kind"] == "explicit"
    return Experience(
        candidates=msgspec.convert(row["candidates"], list[LoggedCandidate]),
        used=frozenset(row["used_source_ids"] if explicit else row["weak_source_ids"]),
        explicit=explicit,
        token_budget=row["token_budget"],
        total_tokens=row["total_tokens"],
        tokens_used=row["tokens_used"],
        budget_asked=row["budget_asked"],
    )
