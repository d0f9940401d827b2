"""What a caller says of an assembly that it got."""

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
        self, principal: Principal, given: ContextFeedback, key: Key | None, deadline: Deadline
    ) -> None:
        """Which sources of an assembly were used. Raises NotFound for an assembly that is not the caller's."""

        async def write() -> bool | None:
            """True, or None where the key cannot read the assembly."""
            noted = await self._database.run(
                lambda c: queries.feedback(
                    c, principal, given.assembly_id, given.used_source_ids, given.tokens_used
                ),
                deadline,
            )
            return noted or None

        # The same feedback twice is the same state: a key changes nothing.
        await self._journal.find(write, given.assembly_id, deadline)
