"""What a caller says of an assembly that it got."""

from __future__ import annotations

import asyncio

from services.context.log import queries
from services.context.log.journal import Journal
from services.context.log.schemas import ContextFeedback
from shared.auth import Principal
from shared.database.idempotency import Key
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.errors import NotFound

# A row of another replica's log may still be on its way.
_LOG_WAITS = (0.03, 0.1, 0.3)


class Feedback:
    def __init__(self, database: Database, journal: Journal) -> None:
        self._database = database
        self._journal = journal

    async def note(
        self, principal: Principal, given: ContextFeedback, key: Key | None, deadline: Deadline
    ) -> None:
        """Which sources of an assembly were used. Raises NotFound for an assembly that is not the caller's."""

        async def write(connection: Connection) -> bool:
            return await queries.feedback(
                connection, principal, given.assembly_id, given.used_source_ids, given.tokens_used
            )

        # The same feedback twice is the same state: a key changes nothing.
        await self._journal.settled(given.assembly_id, deadline)
        for wait in (*_LOG_WAITS, 0.0):
            if await self._database.run(write, deadline):
                return
            await asyncio.sleep(min(wait, deadline.left()))
        raise NotFound(f"no assembly {given.assembly_id}")
