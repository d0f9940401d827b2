"""What consolidation learns from, and what it learns. Pure."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from typing import Literal, TypeAlias

import msgspec

from shared.provenance import SourceKind

Role = Literal["user", "assistant", "tool", "document"]
# The first is trusted most.
_BY_TRUST: tuple[SourceKind, ...] = ("user", "agent", "tool", "document", "derived", "imported")


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """A message of a session, or a file."""

    position: int
    """Its number in the session; in a file, its first line."""
    role: Role
    author: str | None
    """The name of who said it, if it is known."""
    text: str
    at: datetime
    """When it was said, with an offset."""
    trust: SourceKind


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """Whose session, or which file, the turns are of."""

    agent_name: str | None = None
    mission_id: str | None = None
    user_id: str | None = None
    session_id: str | None = None
    path: str | None = None
    """The file."""


class Derived(msgspec.Struct, frozen=True, kw_only=True):
    turns: tuple[int, ...]
    """The positions of the turns that it comes from, in order."""
    trust: SourceKind
    """That of the turn that is trusted least."""


class LearnedFact(Derived, frozen=True, kw_only=True):
    subject: str
    predicate: str
    object: str
    single: bool
    """The predicate has one value at a time."""
    valid_from: datetime
    confidence: float = 1.0


class LearnedEpisode(Derived, frozen=True, kw_only=True):
    content: str
    began_at: datetime
    ended_at: datetime
    topics: tuple[str, ...] = ()
    tone: str | None = None


class LearnedCommitment(Derived, frozen=True, kw_only=True):
    content: str
    said_at: datetime
    due_at: datetime | None
    owed_by: str | None = None
    owed_to: str | None = None


class LearnedAlias(Derived, frozen=True, kw_only=True):
    alias: str
    entity: str


class Learned(msgspec.Struct, frozen=True, kw_only=True):
    """In the order of the turns."""

    facts: tuple[LearnedFact, ...] = ()
    episodes: tuple[LearnedEpisode, ...] = ()
    commitments: tuple[LearnedCommitment, ...] = ()
    aliases: tuple[LearnedAlias, ...] = ()


Learner: TypeAlias = Callable[[str, Sequence[Turn], Source, float], Awaitable[Learned]]
"""Learns for a tenant from turns that follow each other, within so many seconds. Without a model, the same turns teach
the same."""


def weakest(kinds: Iterable[SourceKind]) -> SourceKind:
    """The kind that is trusted least. There must be one."""
    return max(kinds, key=_BY_TRUST.index)
