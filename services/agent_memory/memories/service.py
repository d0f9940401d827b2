"""Reads memories by id, by agent, and since a time."""

from __future__ import annotations

from datetime import datetime

import asyncpg

from services.agent_memory.memories import queries
from services.agent_memory.memories.schemas import (
    AgentMemory,
    ListAgentMemoryInput,
    Memories,
    MemoryAnswer,
    MemoryCursor,
)
from shared.auth import Principal
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.errors import NotFound
from shared.paging.pages import page_of


class MemoryReader:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, principal: Principal, memory_id: int, deadline: Deadline) -> MemoryAnswer:
        """One of the agent's own memories, or a peer's that is not private."""

        async def work(c: Connection) -> MemoryAnswer:
            row = await find_visible(c, principal, memory_id)
            confirmations = await queries.latest_confirmations(c, principal, row["id"])
            return MemoryAnswer(AgentMemory.from_row(row), confirmations)

        return await self._database.run(principal.tenant, work, deadline)

    async def list_memories(
        self, principal: Principal, request: ListAgentMemoryInput, deadline: Deadline
    ) -> Memories:
        principal.require_agent(request.agent_name)
        before = MemoryCursor.read(request.cursor)
        rows = await self._database.run(
            principal.tenant,
            lambda c: queries.list_memories(c, principal, request, before=before, limit=request.limit + 1),
            deadline,
        )
        page = page_of(rows, request.limit, _cursor)
        return Memories([AgentMemory.from_row(row) for row in page.rows], page.next)

    async def pending_review(
        self, principal: Principal, since: dict[str, datetime], deadline: Deadline
    ) -> dict[str, int]:
        """Counts the memories that each agent gained since its time."""
        return await self._database.run(
            principal.tenant, lambda c: queries.count_since(c, principal, since), deadline
        )


def _cursor(row: asyncpg.Record) -> MemoryCursor:
    return MemoryCursor(created_at=row["created_at"], id=row["id"])


async def find_visible(c: Connection, principal: Principal, memory_id: int) -> asyncpg.Record:
    """Raises NotFound for a memory that the key may not see, as for one that does not exist."""
    row = await queries.find(c, principal, memory_id)
    if row is None:
        raise NotFound(f"no memory {memory_id}")
    return row
