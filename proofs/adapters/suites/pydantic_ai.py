"""Pydantic AI: a conversation that two processes hold, with an agent whose model is the framework's for tests."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.test import TestModel

from proofs.adapters.suites.telling import Drops, async_client, tell
from scrubjay.adapters.pydantic_ai import ScrubjayHistory

TURNS = 6


class Dropping(ScrubjayHistory):
    """The control: it drops every third turn."""

    drops = Drops()

    async def append(self, messages: Sequence[ModelMessage]) -> None:
        if not self.drops.next():
            await super().append(messages)


async def conversation() -> str | None:
    """What is missing, if anything."""
    agent = Agent(TestModel())

    @agent.tool_plain
    def due(of: str) -> str:
        return f"nothing of {of} \x00"

    name, expected = uuid.uuid4().hex, list[ModelMessage]()
    async with async_client() as first, async_client() as second:
        histories = [Dropping(name, client, agent="a", user="ana") for client in (first, second)]
        for turn in range(TURNS):
            history = histories[turn % 2]
            result = await agent.run(f"question {turn} ä", message_history=await history.load())
            expected += result.new_messages()
            await history.append(result.new_messages())
            if await histories[(turn + 1) % 2].load() != expected:
                return f"turn {turn}: another history"
        if await ScrubjayHistory(name, first, agent="a", user="ben").load():
            return "another user reads it"
        await histories[0].clear()
        return "it is still there" if await histories[1].load() else None


async def main() -> None:
    failure = await conversation()
    tell("history of a conversation", "pydantic-ai-slim", int(failure is None), [failure] if failure else [])


if __name__ == "__main__":
    asyncio.run(main())
