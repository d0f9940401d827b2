"""What a reviewer may do with long-term memories, and with writes of them that wait."""

from __future__ import annotations

from typing import Any

from services.agent_memory.long_term.schemas import EditMemoryInput, WriteMemoryInput
from services.agent_memory.long_term.service import LongTerm, hold_own
from services.agent_memory.long_term.waiting import STORE, about
from services.agent_memory.review import queries_long_term as queries
from services.agent_memory.review.candidates import candidate
from shared.auth import Principal
from shared.database.postgres import Connection
from shared.deadline import Deadline
from shared.errors import Conflict
from shared.review.deciding import Change
from shared.review.pages import page
from shared.review.reviews import About, write_of
from shared.review.schemas import Candidate, QueueRequest

_NO_REPEATS = "a write to long-term memory confirms no other: forget it"


class ReviewedLongTerm:
    def __init__(self, long_term: LongTerm) -> None:
        self._long_term = long_term

    async def admit(
        self, writer: Principal, body: Any, where: About, content: str | None, deadline: Deadline
    ) -> Change:
        memory = write_of(body, WriteMemoryInput, content)
        return await self._long_term.write_reviewed(writer, memory)

    async def join(self, writer: Principal, body: Any, where: About, into: int, deadline: Deadline) -> Change:
        raise Conflict(_NO_REPEATS)

    async def about(self, c: Connection, principal: Principal, item_id: int) -> About:
        return about(await hold_own(c, principal, item_id))

    async def edit(self, principal: Principal, item_id: int, content: str, deadline: Deadline) -> Change:
        async def change(c: Connection) -> int:
            await self._long_term.change(c, principal, item_id, EditMemoryInput(content=content))
            return item_id

        return change

    async def merge(self, principal: Principal, item_id: int, into: int, deadline: Deadline) -> Change:
        return lambda c: self._long_term.merge(c, principal, item_id, into)

    async def forget(self, principal: Principal, item_id: int, deadline: Deadline) -> Change:
        return lambda c: self._long_term.erase(c, principal, item_id)

    async def queue(
        self, c: Connection, principal: Principal, request: QueueRequest
    ) -> tuple[list[Candidate], int | None]:
        if request.reason not in ("low_trust", "derived"):
            return [], None
        rows = await queries.queue(c, principal, request, request.limit + 1)
        return page(rows, request.limit, queries.LOOKED_AT, candidate(STORE))
