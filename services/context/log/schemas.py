"""What the assembly log shows, and the feedback it takes."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta, field

from services.context import stores
from services.context.schemas import Degraded, SourceStore, TokenBudget, TokenShare, Weight
from services.context.synthesis.writing import Style
from shared.body import Body
from shared.paging.cursors import Cursor
from shared.paging.pages import Page
from shared.text import AnyShortText, BigId, Count, Name


class UsedItem(Body):
    """A source as an assembly names it."""

    store: SourceStore
    """The source's `store`."""
    id: BigId
    """The source's `id`."""

    @property
    def handle(self) -> str:
        return stores.BY_NAME[self.store].handle(self.id)


class ContextFeedback(Body, kw_only=True):
    assembly_id: BigId
    used_source_ids: Annotated[list[AnyShortText | UsedItem], Meta(max_length=1_000)]
    """The useful sources, each by its handle or by `store` and `id`. An empty list says that none was useful."""
    tokens_used: Count | None = None
    """How many tokens of the block were useful."""


class FeedbackTaken(msgspec.Struct):
    accepted: int
    """The number of sources that are now known to be useful."""
    success: bool = True
    """It was done."""


class LogEntry(msgspec.Struct, omit_defaults=True):
    """One assembly. The log keeps only the query's SHA-256."""

    id: int
    caller: str
    query_hash: str
    token_budget: int
    """Tokens that the block might have."""
    total_tokens: int
    """Tokens of the block."""
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
    """Handles that explicit feedback named. Null: there was none."""
    weak_source_ids: list[str] = []
    """Handles that were read, or cited by a later write."""
    tokens_used: int | None = None
    feedback_kind: str | None = None
    """`explicit`, or `implicit` for weak signals only."""
    processed_at: datetime | None = None
    """When learning used it."""


class GivenTo(msgspec.Struct):
    """An assembly that gave an item."""

    assembly_id: int
    handle: str
    """The item as the block named it: `own` to its agent, `peer` to others."""
    caller: str
    """Who was given it."""
    mission_namespace: str | None
    session_id: str | None
    user_id: str | None
    """The user that the assembly was for."""
    used: bool | None
    """Whether explicit feedback named it as useful. Null: there was none."""
    created_at: datetime
    """When it was given."""


class Given(Page[GivenTo]):
    """A page of the assemblies that gave an item, newest first. It may hold few of them, or none, and still name a next
    one."""


class LogEntries(Page[LogEntry]):
    """A page of assemblies, newest first."""


class LogCursor(Cursor, tag="assemblies"):
    created_at: datetime
    id: BigId


class Callers(Page[str]):
    """A page of callers, by name."""


class CallerCursor(Cursor, tag="callers"):
    caller: Name


class ExplainedCandidate(msgspec.Struct, omit_defaults=True):
    """score = weight * relevance * recency * priority. `outcome`: taken, cut, background (taken because it fits),
    budget (no room was left), below_cut (too far from the best), repeat (of `same_as`), superseded (by the newer
    `superseded_by`), floor (too little evidence)."""

    handle: str
    store: str
    outcome: str
    """What became of it."""
    taken: int
    """Tokens in the block."""
    score: float | None = None
    weight: float | None = None
    relevance: float | None = None
    recency: float | None = None
    priority: float | None = None
    tokens: int | None = None
    """Tokens of the candidate whole."""
    same_as: str | None = None
    """The candidate that it repeats."""
    superseded_by: str | None = None
    """The newer item that says something else about the same."""


class Synthesized(msgspec.Struct, omit_defaults=True):
    """A block in a style of its own, as the helper model wrote it."""

    asked: Style
    """The style that was asked for."""
    style: Style
    """That of the block: the one that was asked for, or `structured`."""
    model: str | None = None
    """The helper model, as `provider:model`."""
    prompt: str | None = None
    """The version of what the model was asked."""
    tokens: int = 0
    """Tokens of what it wrote."""
    cited: list[str] = []
    """The handles that it cites, in order."""
    dropped: int = 0
    """Sentences that were left out."""
    text: str | None = None
    """What it wrote, as far as it was kept. A purge of any agent, user or scope whose items it was written from erases
    it."""


class Explained(LogEntry, kw_only=True, omit_defaults=True):
    """Every candidate, best first."""

    scopes: list[str]
    """The scopes that were searched."""
    token_shares: dict[str, float]
    """Each store's share of the budget."""
    candidates: list[ExplainedCandidate]
    synthesis: Synthesized | None = None
    """What became of the style that was asked for. Null: none was."""


class ReplayInput(Body, kw_only=True):
    """What to change. Fields left out stay as they were."""

    token_budget: TokenBudget | None = None
    """Tokens that the block may have."""
    weights: dict[SourceStore, Weight] = field(default_factory=dict)
    """By store."""
    token_shares: dict[SourceStore, TokenShare] = field(default_factory=dict)
    """By store."""


class Replay(msgspec.Struct):
    """What would have been taken. The sizes of cut items are estimates, because the log keeps no content."""

    assembly_id: int
    token_budget: int
    """Tokens that the block might have."""
    total_tokens: int
    """Tokens of the block."""
    added: list[str]
    """Handles that would have been added."""
    removed: list[str]
    """Handles that would have been removed."""
    candidates: list[ExplainedCandidate]
    synthesis: Synthesized | msgspec.UnsetType = msgspec.UNSET
    """What the helper model wrote of what was taken then. A replay does not ask it again."""


class SourceItem(msgspec.Struct, omit_defaults=True):
    """The whole item behind a handle, as its owner returns it."""

    handle: str
    store: str
    item: Any
    """The item as its owner answers it."""
    chunk: int | None = None
