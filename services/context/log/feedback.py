"""Explicit feedback: which sources of an assembly its caller used."""

from __future__ import annotations

from services.context.log import queries
from services.context.log.journal import Journal
from services.context.log.schemas import ContextFeedback
from shared.auth import Principal
from shared.database.idempotency import Key
from shared.database.postgres import Database
from shared.deadline import Deadline


class Feedback:
    def __init__(self, database: Database, journal: Journal) -> None:
        self._database = database
        self._journal = journal

    async def note(
        self, principal: Principal, feedback: ContextFeedback, key: Key | None, deadline: Deadline
    ) -> None:
        """Raises NotFound for an assembly that the key cannot read."""

        async def write() -> bool | None:
            """True, or None when the key cannot read the assembly."""
            noted = await self._database.run(
                lambda c: queries.feedback(
                    c, principal, feedback.assembly_id, feedback.used_source_ids, feedback.tokens_used
                ),
                deadline,
            )
            return noted or None

        # Writing the same feedback twice changes nothing, so the key is not needed.
        await self._journal.find(write, feedback.assembly_id, deadline)
