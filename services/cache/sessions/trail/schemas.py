"""Request and response bodies of the trail."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import Meta

from services.cache.sessions.trail.messages import Block, Kind, MessageInput, Role
from shared.body import Body
from shared.paging.cursors import Cursor
from shared.paging.pages import Page
from shared.text import SEEN, Name

Summary = Annotated[str, Meta(min_length=1, max_length=200_000, pattern=SEEN)]
_ONE = "exactly one of session_id, agent_name and all is needed"


class AppendInput(Body, kw_only=True):
    """Messages of the conversation, in their order. All of them are kept, or none."""

    messages: Annotated[list[MessageInput], Meta(min_length=1, max_length=100)]
    """They get the next numbers of the session's trail."""


class Appended(msgspec.Struct):
    first_seq: int
    """The number of the first message."""
    last_seq: int
    """The number of the last message."""
    tokens: int
    """The tokens of the conversation as it stands now."""
    compaction_due: bool
    """The conversation is longer than the session's `compaction_tokens`."""


class TrailEvent(msgspec.Struct, omit_defaults=True, kw_only=True):
    """An event of the trail. Nothing changes or removes it, except that the session is erased."""

    seq: int
    """Its number in the session. No number is missing."""
    kind: Kind
    """A message, one that calls a tool, a tool's result, or what the service did."""
    role: Role
    content: list[Block]
    tokens: int
    turn: int
    """How many turns had ended before it."""
    created_at: datetime
    occurred_at: datetime | None = None
    """When it was said, as its writer stated."""
    written_by: str
    """The key that wrote it."""


class History(Page[TrailEvent]):
    """A page of the trail, in order."""


class HistoryCursor(Cursor, tag="trail"):
    seq: Annotated[int, Meta(ge=0, le=2**63 - 1)]


class Conversation(msgspec.Struct, kw_only=True):
    """The conversation as it stands: what a host sends to its model."""

    through: int
    """The last event that it includes."""
    since: int
    """Events up to this one are no longer part of it."""
    summary: str | None
    """Stands for what compactions took out. It comes before the messages."""
    messages: list[TrailEvent]
    """In their order."""
    tokens: int
    """Of the summary and all messages."""
    truncated: bool
    """It is too long for one answer: `messages` holds the newest, and the history has the others."""
    compaction_due: bool
    """It is longer than the session's `compaction_tokens`."""


class CompactInput(Body, kw_only=True):
    """Take the oldest two thirds of the conversation out, with a summary in their place. The trail keeps them."""

    summary: Summary | None = None
    """What to say in their place. By default the service extracts the first sentences of each message."""
    through: Annotated[int, Meta(ge=1, le=2**63 - 1)] | None = None
    """Summarise up to this event, which `summary` was written for; by default the oldest two thirds."""
    force: bool = False
    """Also when no compaction is due."""

    def checks(self) -> Iterator[tuple[str, str]]:
        if self.through is not None and self.summary is None:
            yield "summary", "is required with through"


class Compaction(msgspec.Struct):
    compacted: bool
    """False: none was due, or no place was found between calls and their results."""
    messages: int
    """How many messages the summary stands for."""
    tokens: int
    """The tokens of the conversation as it stands now."""
    seq: int | None = None
    """The event that records it."""


class ResetInput(Body, kw_only=True):
    """Exactly one of a session, the sessions of an agent, or all that the key reaches."""

    session_id: Name | None = None
    """A session, by its id or its external id."""
    agent_name: Name | None = None
    """The active sessions of this agent."""
    all: bool = False
    """Every active session that the key may change."""
    consolidate: bool = False
    """Learn from them soon afterwards, as `/api/memory/consolidate` does."""

    def checks(self) -> Iterator[tuple[str, str]]:
        if [self.session_id is not None, self.agent_name is not None, self.all].count(True) != 1:
            yield "session_id", _ONE


class Reset(msgspec.Struct):
    sessions: list[UUID]
    """Their conversations begin anew. Their trails keep everything."""
    more: bool
    """There are more: send it again."""


class Rebuilt(msgspec.Struct):
    through: int
    """The last event of the trail."""
    events: int
    """How many events it was made of."""
    changed: bool
    """The snapshot did not say what the trail says."""
