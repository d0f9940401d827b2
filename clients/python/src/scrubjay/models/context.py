"""Written by `make openapi` from the API's document."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    id: int
    tenant: str
    name: str
    status: Literal["active", "expired", "revoked"]
    access: Literal["admin", "read", "write"]
    agent: str | None
    missions: list[str] | None
    users: list[str] | None
    requests_per_second: float | None
    burst: int | None
    requests_per_day: int | None
    tokens_per_day: int | None
    created_at: datetime
    created_by: str | None
    expires_at: datetime | None
    revoked_at: datetime | None
    old_secret_until: datetime | None
    """After a rotation: until when the secret before it is valid."""
    last_used_at: datetime | None
    requests_today: int
    tokens_today: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKeys:
    """A page of keys, by id."""

    data: list[ApiKey]
    next: str | None
    """The `cursor` of the next page; null on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    assembly_id: int
    """For feedback; 0 when it was not logged."""
    context_block: str
    """To be put into a prompt: each item fenced with its handle."""
    sources: list[Source]
    """What is in the block, in its order."""
    total_tokens: int
    retrieval_ms: float
    degraded: list[Degraded]
    """What did not answer, or not as it should."""
    low_relevance: bool
    """Nothing found stands out of what any question finds."""
    candidates: list[Evidence] | None = None
    """With `debug` only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetAdjustment:
    caller: str
    old_budget: int
    new_budget: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerBudget:
    caller: str
    default_budget: int
    min_budget: int
    max_budget: int
    ceiling: int | None
    """The largest budget of any request by the caller."""
    manual: bool
    """An operator set it, and learning leaves it alone."""
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerBudgets:
    budgets: list[CallerBudget]


@dataclass(frozen=True, slots=True, kw_only=True)
class Callers:
    """A page of callers, by name."""

    data: list[str]
    next: str | None
    """The `cursor` of the next page; null on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Degraded:
    source: str
    """A store, or the embedder."""
    reason: str
    """down, timeout, erroring, overloaded, outdated, breaker open and the like."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """What one cycle changed. The counts are of all rows that now hold settings."""

    weight_adjustments: list[WeightAdjustment]
    budget_adjustments: list[BudgetAdjustment]
    weights_count: int
    budgets_count: int
    assemblies: int
    """How many assemblies had new feedback."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A candidate before packing, for the debug answer: what each arm said, and what became of it."""

    handle: str
    store: str
    id: int
    chunk: int
    score: float
    relevance: float
    text: float
    vector: float
    cosine: float | None
    tokens: int
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """Every candidate, best first."""

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
    """Handles that explicit feedback named. Null: there was none."""
    weak_source_ids: list[str] = field(default_factory=list)
    """Handles that were read, or cited by a later write."""
    tokens_used: int | None = None
    feedback_kind: str | None = None
    """`explicit`, or `implicit` for weak signals only."""
    processed_at: datetime | None = None
    """When learning used it."""
    scopes: list[str]
    token_shares: dict[str, float]
    """Each store's share of the budget."""
    candidates: list[ExplainedCandidate]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedCandidate:
    """score = weight * relevance * recency * priority. `outcome`: taken, cut, budget (no room was left),
    repeat (of `same_as`), floor (too little evidence).
    """

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What happened to a message, or to a piece of a long one."""

    item: int
    """The message's index in the request; 0 for `text`."""
    status: Literal["created", "pending", "refused", "skipped", "updated"]
    """`updated`: it was known and is now confirmed. `pending`: stored, and later merged if known."""
    why: str
    """The rule that chose its place, or why it is not kept."""
    piece: int = 0
    """The piece's index in a long message, from 0."""
    store: Literal["agent_memory", "psychic_cache"] | None = None
    id: int | None = None
    handle: str | None = None
    """The name that a context block gives it."""
    kind: str | None = None
    """Its context_type or memory_type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntries:
    """A page of assemblies, newest first."""

    data: list[LogEntry]
    next: str | None
    """The `cursor` of the next page; null on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """One assembly. The log keeps only the query's SHA-256."""

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
    """Handles that explicit feedback named. Null: there was none."""
    weak_source_ids: list[str] = field(default_factory=list)
    """Handles that were read, or cited by a later write."""
    tokens_used: int | None = None
    feedback_kind: str | None = None
    """`explicit`, or `implicit` for weak signals only."""
    processed_at: datetime | None = None
    """When learning used it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeKey:
    key: ApiKey
    token: str | None
    """The secret, shown this once. Null when an Idempotency-Key repeats a call: secrets are not kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    role: Literal["assistant", "system", "tool", "user"]
    """Who spoke: a user, the agent (`assistant`), a tool, or the system."""
    content: str
    """What was said."""
    name: str | None = None
    """The speaker's name, when the role says too little."""
    occurred_at: datetime | None = None
    """When it was said. Left out, the request's `occurred_at`."""
    seq: int | None = None
    """Its number in the session. Left out, counted from the request's `seq`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The rows that a purge erased."""

    scope: str
    erased: dict[str, dict[str, int]]
    """Erased rows by service and table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberResult:
    """The outcomes, in the order of the request."""

    items: list[Kept]
    stored: int
    """How many items were stored or confirmed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What would have been taken. The sizes of cut items are estimates, because the log keeps no content."""

    assembly_id: int
    token_budget: int
    total_tokens: int
    added: list[str]
    """Handles that would have been added."""
    removed: list[str]
    """Handles that would have been removed."""
    candidates: list[ExplainedCandidate]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One item of the block. score = weight * relevance * recency * priority."""

    handle: str
    """Names it in the block, in feedback and in `/api/context/sources`."""
    store: str
    """The store that it is from, as weights name it; `explicit_link` for a file that the request linked."""
    id: int
    chunk: int
    """Which part of a long item."""
    kind: str
    """Its context_type or memory_type."""
    score: float
    weight: float
    relevance: float
    recency: float
    priority: float
    tokens: int
    """What it takes in the block."""
    cut: bool
    """Only a part of it is in the block."""
    agent: str | None
    speaker: str | None
    at: datetime
    """When it happened, else when it was written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceItem:
    """The whole item behind a handle, as its owner returns it."""

    handle: str
    store: str
    item: Any
    chunk: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceWeight:
    caller: str
    """`*`: every caller without a row of its own."""
    source: str
    weight: float
    token_share: float
    """The source's share of the budget."""
    manual: bool
    """An operator set it, and learning leaves it alone."""
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceWeights:
    """Rows that differ from the start values. `*` stands for every caller without a row of its own."""

    weights: list[SourceWeight]
    start: dict[str, float]
    """The start values, by store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Success:
    success: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightAdjustment:
    caller: str
    source: str
    old_weight: float
    new_weight: float
    old_token_share: float
    new_token_share: float
    effectiveness: float | None
    """Null: the source was in no block, and its weight moves back towards the start value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightChange:
    id: int
    caller: str
    source: str
    old_weight: float
    new_weight: float
    old_token_share: float
    new_token_share: float
    cause: str
    """`operator` or `eval`."""
    effectiveness: float | None
    """How useful the source's items were."""
    assemblies: int | None
    """How many assemblies it was learned from."""
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightHistory:
    """A page of changes, newest first."""

    data: list[WeightChange]
    next: str | None
    """The `cursor` of the next page; null on the last."""
