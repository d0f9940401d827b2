"""What a reviewer may do with facts, and with facts that wait."""

from __future__ import annotations

from typing import Any

from services.agent_memory.facts.schemas import AddFactInput
from services.agent_memory.facts.writes.service import FactWriter
from services.agent_memory.facts.writes.waiting import STORE
from services.agent_memory.review import queries_facts as queries
from services.agent_memory.review.candidates import candidate
from shared.auth import Principal
from shared.database.postgres import Connection
from shared.deadline import Deadline
from shared.errors import Conflict
from shared.review.deciding import Change
from shared.review.pages import page
from shared.review.reviews import About, write_of
from shared.review.schemas import Candidate, QueueRequest

_NO_TEXT = "a fact has no text to edit: write the right one, and forget this one"
_NO_REPEATS = "a fact that waits confirms no other: forget it"


class ReviewedFacts:
    """Forgetting a fact closes it. What was believed stays readable by its time; only a purge erases it."""

    def __init__(self, facts: FactWriter) -> None:
        self._facts = facts

    async def admit(
        self, writer: Principal, body: Any, about: About, content: str | None, deadline: Deadline
    ) -> Change:
        if content is not None:
            raise Conflict(_NO_TEXT)
        fact = write_of(body, AddFactInput)
        return lambda c: self._facts.add_reviewed(c, writer, fact)

    async def join(self, writer: Principal, body: Any, about: About, into: int, deadline: Deadline) -> Change:
        raise Conflict(_NO_REPEATS)

    async def about(self, c: Connection, principal: Principal, item_id: int) -> About:
        return await self._facts.whereabouts(c, principal, item_id)

    async def edit(self, principal: Principal, item_id: int, content: str, deadline: Deadline) -> Change:
        raise Conflict(_NO_TEXT)

    async def merge(self, principal: Principal, item_id: int, into: int, deadline: Deadline) -> Change:
        async def close(c: Connection) -> int:
            await self._facts.whereabouts(c, principal, into)
            await self._facts.close(c, principal, item_id)
            return into

        return close

    async def forget(self, principal: Principal, item_id: int, deadline: Deadline) -> Change:
        return lambda c: self._facts.close(c, principal, item_id)

    async def queue(
        self, c: Connection, principal: Principal, request: QueueRequest
    ) -> tuple[list[Candidate], int | None]:
        if request.reason == "near_duplicate":
            return [], None
        rows = await queries.queue(c, principal, request, request.limit + 1)
        return page(rows, request.limit, queries.LOOKED_AT, candidate(STORE))
