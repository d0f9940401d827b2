"""What the log of assemblies shows, and the feedback it takes."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta, field

from services.context.schemas import Degraded, SourceStore, TokenBudget, TokenShare, Weight
from shared.body import Body
from shared.text import BigId, Count, ShortText


class ContextFeedback(Body, kw_only=True):
    assembly_id: BigId
    used_source_ids: Annotated[list[ShortText], Meta(max_length=1_000)]
    """Handles of the sources that were of use; an empty list says that none was."""
    tokens_used: Count | None = None
    """How many tokens of the block were of use."""


class LogEntry(msgspec.Struct, omit_defaults=True):
    """One assembly. The query is kept as its SHA-256 only."""

    id: int
    caller: str
    query_hash: str
    token_budget: int
    total_tokens: int
    retrieval_ms: float
    low_relevance: bool
    degraded: list[Degraded]
    created_at: datetime
    mission_namespace: str | None = None
    session_id: str | None = None
    user_id: str | None = None
    dispatch_id: int | None = None
    as_of: datetime | None = None
    used_source_ids: list[str] | None = None
    """What feedback named. Null: there was none."""
    weak_source_ids: list[str] = []
    """Sources that were read by handle, or cited in a later write."""
    tokens_used: int | None = None
    feedback_kind: str | None = None
    """`explicit`, or `implicit`: weak signals only."""
    processed_at: datetime | None = None
    """When learning took it in."""


class LogEntries(msgspec.Struct):
    data: list[LogEntry]


class Callers(msgspec.Struct):
    data: list[str]


class ExplainedCandidate(msgspec.Struct, omit_defaults=True):
    """score = weight * relevance * recency * priority. `outcome`: taken, cut, budget (no room was left), repeat (of
    `same_as`), floor (it said too little of the question)."""

    handle: str
    store: str
    outcome: str
    taken: int
    """Tokens in the block."""
    score: float | None = None
    weight: float | None = None
    relevance: float | None = None
    recency: float | None = None
    priority: float | None = None
    tokens: int | None = None
    same_as: str | None = None


class Explained(LogEntry, kw_only=True, omit_defaults=True):
    """Every candidate, by order of worth."""

    scopes: list[str]
    token_shares: dict[str, float]
    """Each store's share of the budget."""
    candidates: list[ExplainedCandidate]


class ReplayInput(Body, kw_only=True):
    """What to change; what is left out stays as it was."""

    token_budget: TokenBudget | None = None
    weights: dict[SourceStore, Weight] = field(default_factory=dict)
    """By store."""
    token_shares: dict[SourceStore, TokenShare] = field(default_factory=dict)
    """By store."""


class Replay(msgspec.Struct):
    """What would have been taken. Sizes of cut items are estimates: the log keeps no content."""

    assembly_id: int
    token_budget: int
    total_tokens: int
    added: list[str]
    """Handles that would have come in."""
    removed: list[str]
    """Handles that would have been left out."""
    candidates: list[ExplainedCandidate]


class SourceItem(msgspec.Struct, omit_defaults=True):
    """A source by its handle: the item as its owner gives it, whole."""

    handle: str
    store: str
    item: Any
    chunk: int | None = None
