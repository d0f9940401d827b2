"""Explicit feedback: which sources of an assembly its caller used."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from services.context.log import queries
from services.context.log.journal import Journal
from services.context.log.schemas import ContextFeedback, FeedbackTaken
from shared.auth import Principal
from shared.database.idempotency import Key, Records
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.errors import FieldError, Invalid, NotFound


class Feedback:
    def __init__(self, database: Database, records: Records, journal: Journal) -> None:
        self._database = database
        self._records = records
        self._journal = journal

    async def note(
        self, principal: Principal, feedback: ContextFeedback, key: Key | None, deadline: Deadline
    ) -> FeedbackTaken:
        """Raises NotFound for an assembly that the key cannot read, Invalid for a source that was not in its block."""
        handles = [one if isinstance(one, str) else one.handle for one in feedback.used_source_ids]
        used = list(dict.fromkeys(handles))
        tenant = principal.tenant

        async def write(c: Connection) -> FeedbackTaken:
            unknown = await queries.feedback(c, principal, feedback.assembly_id, used, feedback.tokens_used)
            if unknown is None:
                raise NotFound(f"no assembly {feedback.assembly_id}")
            if unknown:
                raise _not_in_block(handles, frozenset(unknown))
            return FeedbackTaken(len(used))

        async def once(c: Connection) -> FeedbackTaken:
            if key is None:
                return await write(c)
            # Each feedback is an event, too.
            return await self._records.once(c, tenant, "shared", key, FeedbackTaken, lambda: write(c), 200)

        async def noted() -> FeedbackTaken | None:
            """None when the key cannot read the assembly."""
            try:
                return await self._database.transaction(tenant, once, deadline)
            except NotFound:
                return None

        return await self._journal.find(noted, feedback.assembly_id, deadline)


def _not_in_block(handles: Sequence[str], unknown: Collection[str]) -> Invalid:
    return Invalid.of(
        FieldError(
            field=f"used_source_ids[{place}]", message=f"{handle!r} was not in the block of this assembly"
        )
        for place, handle in enumerate(handles)
        if handle in unknown
    )
