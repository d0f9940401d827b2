"""Sub-agents: a loop of its own with fewer tools, whose trail hangs below its caller's."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from scrubjay.client import AsyncClient
from scrubjay_agent.journal.entries import digest
from scrubjay_agent.settings import Settings
from scrubjay_agent.tools.registry import Arguments, Calling, Tool, ToolError
from scrubjay_agent.turns.conversation import Conversation, said
from scrubjay_agent.turns.loop import Loop
from scrubjay_agent.turns.prompting import Prompting


class Spawn(Arguments, kw_only=True):
    task: Annotated[str, Meta(min_length=1, max_length=20_000)]
    tools: Annotated[
        Sequence[str] | None, Meta(description="The only tools it may use. By default, all it can have.")
    ] = None


class SubAgents:
    def __init__(
        self, jay: AsyncClient, settings: Settings, prompting: Prompting, loop: Loop, format_: str
    ) -> None:
        self._jay, self._settings, self._prompting = jay, settings, prompting
        self._loop, self._format = loop, format_

    async def spawn(self, given: Spawn, calling: Calling) -> str:
        """May be repeated: what the sub-agent did is in its trail, and it goes on from there."""
        key = f"{calling.key}/{calling.call}"
        session = f"{self._settings.name}.sub.{digest(key)}"
        tools = calling.tools.but(self._settings.subagents.denied)
        if given.tools is not None:
            tools = tools.but(set(tools.names) - set(given.tools))
        message = msgspec.structs.replace(
            calling.message, key=key, text=given.task, images=[], source="system"
        )
        conversation = Conversation(self._jay, session, self._settings.name)
        own = Calling(key, session, message, tools)
        try:
            async with asyncio.timeout(self._settings.subagents.timeout):
                await conversation.begin(
                    key, said(given.task), message.at, message.user, self._settings.compaction_tokens
                )
                prompt = await self._prompting.of(message, session, self._format)
                return await self._loop.run(conversation, own, prompt)
        except TimeoutError:
            await self._loop.abandon(own)
            raise ToolError("the sub-agent took too long") from None


def tools(agents: SubAgents) -> list[Tool]:
    return [
        Tool("sessions_spawn", "Give a task to a sub-agent and wait for its report.", Spawn, agents.spawn)
    ]
