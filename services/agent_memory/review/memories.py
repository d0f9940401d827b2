"""What a reviewer may do with memories of agents, and with commits that wait."""

from __future__ import annotations

from typing import Any

from services.agent_memory.memories.commits.service import Commits, find_own
from services.agent_memory.memories.commits.waiting import STORE
from services.agent_memory.memories.schemas import CommitAgentMemoryInput, EditAgentMemoryInput
from services.agent_memory.review import queries_memories as queries
from services.agent_memory.review.candidates import candidate
from shared.auth import Principal
from shared.database.postgres import Connection
from shared.deadline import Deadline
from shared.review.deciding import Change
from shared.review.pages import page
from shared.review.reviews import About, write_of
from shared.review.schemas import Candidate, QueueRequest

NEARLY = 1.5
"""Near duplicates are at most so many times as far apart as what one commit takes for a repeat of another."""


class ReviewedMemories:
    def __init__(self, commits: Commits, model: str, dedup_distance: float) -> None:
        self._commits = commits
        self._model = model
        self._distance = NEARLY * dedup_distance

    async def admit(
        self, writer: Principal, body: Any, about: About, content: str | None, deadline: Deadline
    ) -> Change:
        memory = write_of(body, CommitAgentMemoryInput, content)
        return await self._commits.commit_reviewed(writer, memory, deadline)

    async def join(self, writer: Principal, body: Any, about: About, into: int, deadline: Deadline) -> Change:
        memory = write_of(body, CommitAgentMemoryInput)
        return await self._commits.repeat_reviewed(writer, memory, into, deadline)

    async def about(self, c: Connection, principal: Principal, item_id: int) -> About:
        row = await find_own(c, principal, item_id)
        agent = row["agent_name"]
        return About(f"agent:{agent}", row["mission_namespace"], agent, row["user_id"])

    async def edit(self, principal: Principal, item_id: int, content: str, deadline: Deadline) -> Change:
        change = EditAgentMemoryInput(content=content)
        return await self._commits.editing(principal, item_id, change, deadline)

    async def merge(self, principal: Principal, item_id: int, into: int, deadline: Deadline) -> Change:
        return lambda c: self._commits.merge(c, principal, item_id, into)

    async def forget(self, principal: Principal, item_id: int, deadline: Deadline) -> Change:
        async def erase(c: Connection) -> None:
            await self._commits.erase(c, principal, item_id)

        return erase

    async def queue(
        self, c: Connection, principal: Principal, request: QueueRequest
    ) -> tuple[list[Candidate], int | None]:
        if request.reason == "near_duplicate":
            rows = await queries.near_duplicates(
                c, principal, request, model=self._model, distance=self._distance
            )
            return page(rows, request.limit, queries.COMPARED, candidate(STORE))
        if request.reason == "disputed":
            return [], None
        rows = await queries.queue(c, principal, request, request.limit + 1)
        return page(rows, request.limit, queries.LOOKED_AT, candidate(STORE))
