"""Explicit feedback: which sources of an assembly its caller used."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from services.context.log import queries
from services.context.log.journal import Journal
from services.context.log.schemas import ContextFeedback
from shared.auth import Principal
from shared.database.idempotency import Key
from shared.database.postgres import Database
from shared.deadline import Deadline
from shared.errors import FieldError, Invalid


class Feedback:
    def __init__(self, database: Database, journal: Journal) -> None:
        self._database = database
        self._journal = journal

    async def note(
        self, principal: Principal, feedback: ContextFeedback, key: Key | None, deadline: Deadline
    ) -> int:
        """The number of sources that are now known to be useful.

        Raises NotFound for an assembly that the key cannot read, Invalid for a source that was not in its block.
        """
        handles = [one if isinstance(one, str) else one.handle for one in feedback.used_source_ids]
        used = list(dict.fromkeys(handles))

        async def write() -> list[str] | None:
            """The handles that were not in the block, or None when the key cannot read the assembly."""
            return await self._database.run(
                principal.tenant,
                lambda c: queries.feedback(c, principal, feedback.assembly_id, used, feedback.tokens_used),
                deadline,
            )

        # Writing the same feedback twice changes nothing, so the key is not needed.
        unknown = await self._journal.find(write, feedback.assembly_id, deadline)
        if unknown:
            raise _not_in_block(handles, frozenset(unknown))
        return len(used)


def _not_in_block(handles: Sequence[str], unknown: Collection[str]) -> Invalid:
    return Invalid.of(
        FieldError(
            field=f"used_source_ids[{place}]", message=f"{handle!r} was not in the block of this assembly"
        )
        for place, handle in enumerate(handles)
        if handle in unknown
    )
