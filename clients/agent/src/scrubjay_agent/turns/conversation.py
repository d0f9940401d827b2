"""A conversation in its trail: what the model is sent, and where a turn stands."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from scrubjay.client import AsyncClient
from scrubjay.models import (
    ImageBlock,
    MessageInput,
    SessionConfig,
    TextBlock,
    ToolResult,
    ToolUse,
    TrailEvent,
)
from scrubjay_agent.journal.entries import digest

_SUMMARY = "What was said before, in short:\n"


class Conversation:
    """Only one turn at a time writes to it. Each write has a key, so that a restart repeats none."""

    def __init__(self, jay: AsyncClient, session: str, agent: str) -> None:
        self._jay = jay
        self.session = session
        self._agent = agent
        self._before: list[MessageInput] = []
        self._turn: list[MessageInput] = []
        self._since = 0
        self.last = 0
        """The number of the last event."""

    async def begin(self, key: str, said: MessageInput, at: datetime, user: str, tokens: int) -> None:
        """Opens the session, and puts the message into its trail unless it is there."""
        await self._jay.sessions.session_create(
            external_id=self.session,
            agent_name=self._agent,
            user_id=user,
            config=SessionConfig(compaction_tokens=tokens),
        )
        stands = await self._jay.sessions.session_conversation(self.session)
        place = _place(stands.messages, at, said)
        earlier = stands.messages if place is None else stands.messages[:place]
        self._before = whole([*_summary(stands.summary), *map(_message, earlier)])
        self._since = stands.since
        self.last = stands.through
        if place is None:
            await self._append(digest(self.session, key, self._since, "said"), said, at)
        else:
            self._turn = [said, *map(_message, stands.messages[place + 1 :])]

    async def append(self, key: str, message: MessageInput) -> None:
        """A reset begins the turn anew: it has other keys then. Agents of one key have sessions of their own."""
        await self._append(digest(self.session, key, self._since), message, None)

    async def _append(self, key: str, message: MessageInput, at: datetime | None) -> None:
        content = [_without_bytes(block) for block in _blocks(message)]
        kept = MessageInput(role=message.role, content=content, occurred_at=at)
        appended = await self._jay.sessions.session_append(self.session, messages=[kept], idempotency_key=key)
        self._turn.append(message)
        self.last = appended.last_seq

    @property
    def messages(self) -> list[MessageInput]:
        return [*self._before, *self._turn]

    @property
    def calls_made(self) -> int:
        """How many answers of the model this turn holds."""
        return sum(message.role == "assistant" for message in self._turn)

    @property
    def open_calls(self) -> list[ToolUse]:
        """Calls of tools without results, with which the turn goes on."""
        last = self._turn[-1]
        return [block for block in _blocks(last) if isinstance(block, ToolUse)]

    @property
    def answer(self) -> str | None:
        """The turn's end, where it has come."""
        last = self._turn[-1]
        if last.role != "assistant" or self.open_calls:
            return None
        return "\n".join(block.text for block in _blocks(last) if isinstance(block, TextBlock))

    async def compact(self, summary: str | None = None, through: int | None = None) -> bool:
        """Where one is due. Without a summary, Scrubjay extracts it."""
        done = await self._jay.sessions.session_compact(
            self.session,
            summary=summary,
            through=through,
            idempotency_key=digest(self.session, "compact", self.last),
        )
        return done.compacted


def _without_bytes(block: Any) -> Any:
    """The trail keeps an image's hash and size. Sent as they are, a few photos are larger than a request may be."""
    if not isinstance(block, ImageBlock) or block.data is None:
        return block
    data = base64.b64decode(block.data)
    return ImageBlock(media_type=block.media_type, sha256=hashlib.sha256(data).hexdigest(), bytes=len(data))


def said(text: str, images: Sequence[ImageBlock] = ()) -> MessageInput:
    return MessageInput(role="user", content=[*images, TextBlock(text=text or " ")])


def answered(text: str) -> MessageInput:
    return MessageInput(role="assistant", content=[TextBlock(text=text)])


def results(content: Sequence[ToolResult]) -> MessageInput:
    return MessageInput(role="tool", content=list(content))


def whole(messages: Sequence[MessageInput]) -> list[MessageInput]:
    """Providers refuse calls without results, results without calls, and a beginning that is not the user's."""
    kept: list[MessageInput] = []
    for place, message in enumerate(messages):
        following = messages[place + 1] if place + 1 < len(messages) else None
        known = _known(message, kept, following)
        content = [block for block in _blocks(message) if _paired(block, known)]
        if content and (kept or message.role == "user"):
            kept.append(MessageInput(role=message.role, content=content))
    return kept


def _known(message: MessageInput, kept: Sequence[MessageInput], following: MessageInput | None) -> set[str]:
    if message.role != "tool":
        return _results(following)
    return _calls(kept[-1]) if kept else set()


def _paired(block: Any, known: set[str]) -> bool:
    if isinstance(block, ToolUse):
        return block.id in known
    return not isinstance(block, ToolResult) or block.tool_use_id in known


def _calls(message: MessageInput) -> set[str]:
    return {block.id for block in _blocks(message) if isinstance(block, ToolUse)}


def _results(message: MessageInput | None) -> set[str]:
    blocks = () if message is None else _blocks(message)
    return {block.tool_use_id for block in blocks if isinstance(block, ToolResult)}


def _place(messages: Sequence[TrailEvent], at: datetime, said: MessageInput) -> int | None:
    """Where the message stands already: it arrived at that time, to the microsecond."""
    for place in range(len(messages) - 1, -1, -1):
        event = messages[place]
        if event.role == "user" and event.occurred_at == at and _shape(event) == _shape(said):
            return place
    return None


def _shape(message: MessageInput | TrailEvent) -> list[str]:
    return [block.type for block in _blocks(message)]


def _message(event: TrailEvent) -> MessageInput:
    return MessageInput(role=event.role, content=event.content)


def _summary(summary: str | None) -> list[MessageInput]:
    return [] if summary is None else [said(_SUMMARY + summary)]


def _blocks(message: MessageInput | TrailEvent) -> Sequence[Any]:
    return message.content if isinstance(message.content, list) else []
