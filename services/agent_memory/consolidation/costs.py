"""What calls of the helper model take, and the ceilings of whoever asked for the run."""

from __future__ import annotations

from uuid import UUID

from shared.costs import Ledger
from shared.llm import Spent
from shared.spending import charged_to, payer_of


class ExtractionCosts:
    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def record(self, spent: Spent) -> None:
        with charged_to(payer_of(spent.tenant)):
            self._ledger.note(spent.purpose, spent.model, spent.tokens, spent.outcome, spent.sent)

    async def reached(self, tenant: str, _: UUID | None) -> str | None:
        return await self._ledger.reached_by(payer_of(tenant))
