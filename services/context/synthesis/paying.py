"""Opens the helper model of this service, whose calls the ledger keeps for whoever asks."""

from __future__ import annotations

from uuid import UUID

from shared.costs import Ledger
from shared.llm import Helper, HelperSettings, Spent, open_helper


def open_paid(settings: HelperSettings, ledger: Ledger) -> Helper | None:
    """None where no model is set."""

    async def record(spent: Spent) -> None:
        ledger.note(spent.purpose, spent.model, spent.tokens, spent.outcome, spent.sent)

    async def reached(_: str, __: UUID | None) -> str | None:
        return await ledger.reached()

    return open_helper(settings, record, reached)
