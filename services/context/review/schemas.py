"""Bodies of the queue of reviewers, of their decisions, and of the rules that writes wait."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import Meta

from shared.body import Body
from shared.paging.cursors import Cursor
from shared.paging.pages import Page
from shared.provenance import SourceKind
from shared.review.schemas import Decision, Reason, State
from shared.text import Content, Name, mission_problem

ReviewHandle = Annotated[str, Meta(pattern=r"^(?:cache|own|peer|memory|kg):-?[1-9][0-9]{0,17}$")]


class ReviewedItem(msgspec.Struct, kw_only=True):
    """An item, or a write that waits."""

    handle: str
    """Its handle. The number of a write that waits is negative: no item has it."""
    content: str
    """Its text, or the beginning of it."""
    cut: bool
    """The text is longer."""
    scope: str
    """Where it is, or will be."""
    agent_name: str | None
    """The agent that wrote it."""
    mission_id: str | None
    """The mission it is of."""
    user_id: str | None
    """The user it is about."""
    written_by: str
    """The key that wrote it."""
    source_kind: SourceKind
    """The kind of source it is from."""
    source_claim: SourceKind | None
    """What its writer says the source is, where its key may not say so."""
    created_at: datetime


class ReviewItem(ReviewedItem, kw_only=True):
    """An item of the queue, and why it stands there."""

    kind: Reason
    """`waiting`: a write that nobody is shown before it is approved. `near_duplicate`: another memory of the agent says
    nearly the same. `disputed`: another fact contradicts it. `low_trust`: neither a user nor an agent vouches for it.
    `derived`: it was learned from sessions or files."""
    rules: list[str]
    """Whose rule a write waits for: `mission:…` and `agent:…`."""
    other: ReviewedItem | None
    """What it resembles or contradicts."""
    distance: float | None
    """How far the two near duplicates are apart: 1 less their cosine."""


class ReviewQueue(Page[ReviewItem]):
    """A page of the queue: first what waits, then near duplicates, disputes, low trust and what is derived, each with
    the newest first. A page may hold few items, or none, and still name a next one."""


class QueueCursor(Cursor, tag="review"):
    part: Annotated[int, Meta(ge=0, le=100)]
    before: Annotated[int, Meta(ge=-(2**63) + 1, le=2**63 - 1)] | None = None


class DecisionInput(Body, kw_only=True):
    handle: ReviewHandle
    """The item, by the queue's `handle`."""
    decision: Decision
    """`approve` shows a write that waits, and takes a stored item off the queue. `edit` does so with another text.
    `merge` leaves only the other item, which counts as confirmed. `forget` erases it."""
    into: ReviewHandle | None = None
    """The stored item to merge into."""
    content: Content | None = None
    """The new text of an edit."""

    def checks(self) -> Iterator[tuple[str, str]]:
        for name, decision in (("into", "merge"), ("content", "edit")):
            given = getattr(self, name) is not None
            if given != (self.decision == decision):
                yield name, f"goes with the decision `{decision}`, which needs it"
        if self.into is not None and ":-" in self.into:
            yield "into", "must be a stored item"


class DecisionTaken(msgspec.Struct):
    """What became of the item."""

    handle: str
    state: State
    """What was decided."""
    item: str | None
    """The handle of the item that holds the text now, if any does."""
    decided_by: str
    """The key that decided."""
    decided_at: datetime
    """When it was decided."""


class ReviewRuleInput(Body, kw_only=True):
    """Exactly one of a mission or an agent."""

    mission_id: Name | None = None
    """The mission whose writes are to wait."""
    agent_name: Name | None = None
    """The agent whose writes are to wait."""

    def checks(self) -> Iterator[tuple[str, str]]:
        if (self.mission_id is None) == (self.agent_name is None):
            yield "mission_id", "exactly one of mission_id and agent_name is needed"
        if self.mission_id is not None and (problem := mission_problem(self.mission_id)) is not None:
            yield "mission_id", problem


class ReviewRule(msgspec.Struct):
    """Writes of this mission or agent wait for a reviewer."""

    scope: str
    """`mission:…` or `agent:…`."""
    set_by: str
    """The key that set the rule."""
    set_at: datetime
    """When it was set."""


class ReviewRules(Page[ReviewRule]):
    """A page of the rules, by scope."""


class RuleCursor(Cursor, tag="review_rules"):
    scope: str
