"""The state of a conversation, which follows from its trail. Pure.

A reset ends what came before it. A compaction puts a summary in the place of the oldest messages. Neither takes an
event from the trail, so the state can always be made of the trail again.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from services.cache.sessions.trail.messages import Kind


class Compacted(msgspec.Struct, frozen=True):
    """What a compaction's event says."""

    since: int
    """The last event that the summary stands for."""
    summary: str
    messages: int
    """How many messages the summary stands for, and their tokens."""
    tokens: int


class Event(msgspec.Struct, frozen=True):
    """What the state needs to know of an event."""

    seq: int
    kind: Kind
    tokens: int = 0
    compacted: Compacted | None = None


class State(msgspec.Struct, frozen=True):
    through: int = 0
    """The last event that it includes."""
    since: int = 0
    """Events up to this one are no longer part of the conversation."""
    summary: str | None = None
    """Stands for the messages that a compaction took out."""
    messages: int = 0
    tokens: int = 0
    """Of the messages, without the summary."""

    def after(self, events: Iterable[Event]) -> State:
        """The state once these have happened, too."""
        state = self
        for event in events:
            state = state._after(event)
        return state

    def _after(self, event: Event) -> State:
        if event.kind == "reset":
            return State(through=event.seq, since=event.seq)
        if event.compacted is not None:
            return State(
                through=event.seq,
                since=event.compacted.since,
                summary=event.compacted.summary,
                messages=self.messages - event.compacted.messages,
                tokens=self.tokens - event.compacted.tokens,
            )
        return msgspec.structs.replace(
            self, through=event.seq, messages=self.messages + 1, tokens=self.tokens + event.tokens
        )
