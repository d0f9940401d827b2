"""Messages and reactions beside the answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

from msgspec import Meta

from scrubjay_agent.journal.entries import Address, Out
from scrubjay_agent.journal.journal import Journal
from scrubjay_agent.tools.registry import Arguments, Calling, Tool, ToolError

React = Callable[[Address, str, str], Awaitable[None]]


class Message(Arguments, kw_only=True):
    text: Annotated[str, Meta(min_length=1, max_length=4_000)]


class Reaction(Arguments, kw_only=True):
    emoji: Annotated[str, Meta(min_length=1, max_length=8)]


class Messaging:
    def __init__(
        self,
        journal: Journal,
        wake: Callable[[], None],
        home: Callable[[str], Address | None],
        react: React,
    ) -> None:
        """`wake` is the outbox's; `home` says where a user can be reached who is not on a channel now."""
        self._journal, self._wake, self._home, self._react = journal, wake, home, react

    async def send(self, given: Message, calling: Calling) -> str:
        """Into the outbox, under the call's name: a repeat of the call sends nothing more."""
        address = calling.message.address
        if address.channel in (None, "http"):
            address = self._home(calling.message.user) or address
        if address.channel in (None, "http"):
            raise ToolError("there is no channel that reaches this user")
        await self._journal.append(Out(calling.once(), address, given.text, turn=calling.key))
        self._wake()
        return "it is on its way"

    async def react(self, given: Reaction, calling: Calling) -> str:
        if calling.message.address.channel != "telegram":
            raise ToolError("only messages from Telegram take reactions")
        await self._react(calling.message.address, calling.message.reply_to, given.emoji)
        return "done"


def tools(messaging: Messaging) -> list[Tool]:
    return [
        Tool("message", "Send the user a message at once, beside your answer.", Message, messaging.send),
        Tool("react", "React to the user's message with an emoji.", Reaction, messaging.react),
    ]
