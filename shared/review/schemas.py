"""What the context service asks an owner about reviews, and what it is answered."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from shared.body import Body
from shared.provenance import SourceKind
from shared.text import Content, Name

Reason = Literal["waiting", "near_duplicate", "disputed", "low_trust", "derived"]
Decision = Literal["approve", "merge", "edit", "forget"]
State = Literal["waiting", "approved", "merged", "edited", "forgotten"]
AnyId = Annotated[int, Meta(ge=-(2**63) + 1, le=2**63 - 1)]

MOST_SHOWN = 2_000
"""Characters of a text that the queue shows."""
STATES: dict[str, State] = {
    "approve": "approved",
    "merge": "merged",
    "edit": "edited",
    "forget": "forgotten",
}


class Shown(msgspec.Struct, kw_only=True):
    """What the queue shows of an item."""

    store: str
    id: int
    content: str
    cut: bool = False
    scope: str
    agent_name: str | None = None
    mission_id: str | None = None
    user_id: str | None = None
    written_by: str = ""
    source_kind: SourceKind = "agent"
    source_claim: SourceKind | None = None
    created_at: datetime


class Candidate(Shown, kw_only=True):
    """`other` is what it resembles or contradicts, `rules` are the scopes whose rule a write waits for."""

    other: Shown | None = None
    rules: list[str] = []
    distance: float | None = None


class QueueRequest(Body, kw_only=True):
    """One part of the queue: what stands there for one reason, of one store."""

    reason: Reason
    store: str | None = None
    """None for writes that wait, which one table of each owner holds."""
    mission: Name | None = None
    agent: Name | None = None
    before: AnyId | None = None
    limit: Annotated[int, Meta(ge=1, le=100)] = 50


class QueuePart(msgspec.Struct):
    items: list[Candidate]
    before: int | None
    """Where to go on; None at the end."""


class DecideRequest(Body, kw_only=True):
    """`id` is negative for a write that waits."""

    store: str
    id: AnyId
    decision: Decision
    into: AnyId | None = None
    content: Content | None = None


class Decided(msgspec.Struct):
    state: State
    item_id: int | None
    """The item that holds it now, if any."""
    decided_by: str
    decided_at: datetime


class Waiting(msgspec.Struct, kw_only=True):
    """A write that is to wait. `body` is what its store makes the item of."""

    store: str
    scope: str
    mission_id: str | None = None
    agent_name: str | None = None
    user_id: str | None = None
    session_id: str | None = None
    rules: list[str]
    content: str
    body: Any
    source_kind: str
    source_claim: str | None = None
