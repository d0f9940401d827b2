"""Long-term memory and facts, which Scrubjay holds."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta

from scrubjay.client import AsyncClient
from scrubjay_agent.tools.registry import Arguments, Calling, Tool, ToolError

Text = Annotated[str, Meta(min_length=1, max_length=20_000)]
Short = Annotated[str, Meta(min_length=1, max_length=200)]


class Search(Arguments, kw_only=True):
    query: Text
    limit: Annotated[int, Meta(ge=1, le=20)] = 8


class Get(Arguments, kw_only=True):
    handle: Annotated[str, Meta(min_length=3, max_length=1_000, description="Such as memory:12.")]


class Remember(Arguments, kw_only=True):
    content: Text
    kind: Literal["preference", "knowledge", "summary"] = "knowledge"


class WriteFact(Arguments, kw_only=True):
    entity: Short
    attribute: Short
    value: Annotated[str, Meta(min_length=1, max_length=1_000)]


class ForgetFact(Arguments, kw_only=True):
    entity: Short
    attribute: Short


class Promise(Arguments, kw_only=True):
    content: Text
    due_at: datetime | None = None


class ChangePromise(Arguments, kw_only=True):
    id: int
    status: Literal["open", "done", "cancelled"]


class Memory:
    def __init__(self, jay: AsyncClient, agent: str) -> None:
        self._jay, self._agent = jay, agent

    async def search(self, given: Search, calling: Calling) -> str:
        found = await self._jay.assemble(
            given.query,
            caller=self._agent,
            user_id=calling.message.user,
            token_budget=300 * given.limit,
            log=False,
        )
        return found.context_block or "nothing is remembered about that"

    async def get(self, given: Get, calling: Calling) -> str:
        """A handle may name anything of the tenant: only what is this user's, the agent's or shared is read."""
        item = (await self._jay.source(given.handle)).item
        own = {f"user:{calling.message.user}", f"agent:{self._agent}", "shared"}
        whose = item.get("scope") or f"agent:{item.get('agent_name')}"
        if whose not in own or item.get("user_id") not in (None, calling.message.user):
            raise ToolError(f"there is no {given.handle}")
        return json.dumps(item, ensure_ascii=False)

    async def remember(self, given: Remember, calling: Calling) -> str:
        written = await self._jay.memory.write(
            kind=given.kind,
            content=given.content,
            agent_name=self._agent,
            user_id=calling.message.user,
            scope=f"user:{calling.message.user}",
            session_id=calling.session,
            idempotency_key=calling.once(),
        )
        return f"remembered as memory:{written.id}"

    async def write(self, given: WriteFact, calling: Calling) -> str:
        await self._jay.kg.write(
            subject=given.entity,
            predicate=given.attribute,
            object=given.value,
            agent_name=self._agent,
            user_id=calling.message.user,
            scope=f"user:{calling.message.user}",
            idempotency_key=calling.once(),
        )
        return f"{given.entity} · {given.attribute} · {given.value}"

    async def forget(self, given: ForgetFact, calling: Calling) -> str:
        closed = await self._jay.kg.invalidate(
            subject=given.entity,
            predicate=given.attribute,
            agent_name=self._agent,
            scope=f"user:{calling.message.user}",
            idempotency_key=calling.once(),
        )
        return f"{len(closed.closed)} facts hold no longer"

    async def promise(self, given: Promise, calling: Calling) -> str:
        written = await self._jay.memory.write(
            kind="commitment",
            content=given.content,
            due_at=given.due_at,
            agent_name=self._agent,
            user_id=calling.message.user,
            scope=f"user:{calling.message.user}",
            session_id=calling.session,
            idempotency_key=calling.once(),
        )
        return f"commitment {written.id}"

    async def change(self, given: ChangePromise, calling: Calling) -> str:
        """Ids are the whole tenant's: only this user's commitments may be changed here."""
        stands = await self._jay.memory.get(given.id)
        if stands.scope != f"user:{calling.message.user}":
            raise ToolError(f"there is no commitment {given.id}")
        await self._jay.memory.edit(given.id, status=given.status)
        return f"commitment {given.id} is {given.status}"


def tools(jay: AsyncClient, agent: str) -> list[Tool]:
    memory = Memory(jay, agent)
    return [
        Tool("memory_search", "Search what you remember.", Search, memory.search),
        Tool("memory_get", "Read the whole item behind a handle of a search.", Get, memory.get),
        Tool("memory_add", "Remember a text about this user for good.", Remember, memory.remember),
        Tool("memory_write", "Write the one value of an attribute of something.", WriteFact, memory.write),
        Tool("memory_forget", "Say that an attribute holds no longer.", ForgetFact, memory.forget),
        Tool("commitment_add", "Note a promise, with a time where it has one.", Promise, memory.promise),
        Tool("commitment_update", "Say what became of a promise.", ChangePromise, memory.change),
    ]
