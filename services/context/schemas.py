"""Request and response bodies of the context service."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, field

from shared.body import Body
from shared.text import BigId, Count, Name, Query, ShortText, mission_problem

SourceStore = Literal["psychic_cache", "memory", "agent_memory_own", "agent_memory_peer", "vault_index"]
LinkPath = Annotated[str, Meta(min_length=1, max_length=1_000)]
SearchableScope = Annotated[str, Meta(min_length=1, max_length=250)]

_SCOPE = re.compile(r"^(?:(?:mission|agent|user|project):\S.*|shared)$", re.S)


class AssembleContextInput(Body, kw_only=True):
    query: Query
    """What the agent is about to do, or wants to know."""
    caller: Name
    """The agent that asks: its own memories count more than those of peers."""
    mission_namespace: Name | None = None
    """The mission that it works in."""
    token_budget: Annotated[int, Meta(ge=1, le=16_000)] | None = None
    """Tokens that the block may have; else the caller's budget."""
    scopes: Annotated[list[SearchableScope], Meta(max_length=100)] = field(default_factory=list)
    """More to search: `mission:…`, `agent:…`, `user:…`, `project:…` or `shared`."""
    session_id: Name | None = None
    """The session that asks."""
    user_id: Name | None = None
    """The user whom it is for: nothing that is about other users is in it."""
    dispatch_id: BigId | None = None
    """The dispatch that it is for."""
    explicit_links: Annotated[list[LinkPath], Meta(max_length=20)] = field(default_factory=list)
    """Files of the tenant's vault, to be in the block whatever was asked."""
    as_of: datetime | None = None
    """Items recorded by then, with their ages counted from it; what was deleted since stays deleted."""
    log: bool = True
    """False: nothing is kept of it, and its `assembly_id` is 0."""
    debug: bool = False
    """With what each arm of the search said of every candidate. Needs admin."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mission_namespace is not None and (problem := mission_problem(self.mission_namespace)):
            raise ValueError(f"mission_namespace: {problem}")
        for scope in self.scopes:
            if not _SCOPE.match(scope):
                raise ValueError("scopes: each is mission:…, agent:…, user:…, project:… or shared")


class Source(msgspec.Struct):
    """One item of the block. score = weight * relevance * recency * priority."""

    handle: str
    """Names it in the block, in feedback and in `/api/context/sources`."""
    store: str
    """psychic_cache, agent_memory_own, agent_memory_peer or vault_index."""
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


class Degraded(msgspec.Struct):
    source: str
    """A store, or the embedder."""
    reason: str
    """down, timeout, erroring, overloaded, outdated, breaker open and the like."""


class Evidence(msgspec.Struct, omit_defaults=True):
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


class Assembly(msgspec.Struct):
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
    candidates: list[Evidence] | msgspec.UnsetType = msgspec.UNSET
    """With `debug` only."""


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


Weight = Annotated[float, Meta(ge=0.0, le=10.0)]
TokenShare = Annotated[float, Meta(ge=0.0, le=1.0)]
TokenBudget = Annotated[int, Meta(ge=1, le=16_000)]


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


class SourceWeight(msgspec.Struct):
    caller: str
    """`*`: everybody without a row of their own."""
    source: str
    weight: float
    token_share: float
    """Its share of the budget."""
    manual: bool
    """Set by an operator, and left alone by learning."""
    updated_at: datetime


class SourceWeights(msgspec.Struct):
    """Rows that differ from the start values; caller `*` stands for all who have none of their own."""

    weights: list[SourceWeight]
    start: dict[str, float]
    """The start values, by store."""


class WeightInput(Body, kw_only=True):
    """A manual row is left alone by learning."""

    caller: Name
    """`*`: everybody without a row of their own."""
    source: SourceStore
    weight: Weight
    token_share: TokenShare | None = None
    """Its share of the budget; left out, it stays."""
    manual: bool = True
    """False lets learning go on from here."""


class WeightChange(msgspec.Struct):
    caller: str
    source: str
    old_weight: float
    new_weight: float
    old_token_share: float
    new_token_share: float
    cause: str
    """`operator` or `eval`."""
    effectiveness: float | None
    """How much of what was shown was of use."""
    assemblies: int | None
    """How many it was learned from."""
    created_at: datetime


class WeightHistory(msgspec.Struct):
    data: list[WeightChange]


class CallerBudget(msgspec.Struct):
    caller: str
    default_budget: int
    min_budget: int
    max_budget: int
    ceiling: int | None
    """What no request may exceed."""
    manual: bool
    """Set by an operator, and left alone by learning."""
    updated_at: datetime


class CallerBudgets(msgspec.Struct):
    budgets: list[CallerBudget]


class BudgetInput(Body, kw_only=True):
    """`ceiling` is what no request of the caller may exceed. Learning moves the default between min and max."""

    caller: Name
    default_budget: TokenBudget
    min_budget: TokenBudget | None = None
    max_budget: TokenBudget | None = None
    ceiling: TokenBudget | None = None
    manual: bool = True
    """False lets learning go on from here."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.min_budget is not None and self.min_budget > self.default_budget:
            raise ValueError("min_budget: must not exceed default_budget")
        if self.max_budget is not None and self.max_budget < self.default_budget:
            raise ValueError("max_budget: must not be below default_budget")


class WeightAdjustment(msgspec.Struct):
    caller: str
    source: str
    old_weight: float
    new_weight: float
    old_token_share: float
    new_token_share: float
    effectiveness: float | None
    """Null: it was in no block, and goes back towards its start."""


class BudgetAdjustment(msgspec.Struct):
    caller: str
    old_budget: int
    new_budget: int


class Evaluated(msgspec.Struct):
    """What one cycle changed; the counts are of rows that hold settings now."""

    weight_adjustments: list[WeightAdjustment]
    budget_adjustments: list[BudgetAdjustment]
    weights_count: int
    budgets_count: int
    assemblies: int
    """How many had feedback that was new."""


class Success(msgspec.Struct):
    success: bool = True


class PurgeInput(Body, kw_only=True):
    """Exactly one: a scope, or whom or what the rows are of, wherever they are."""

    scope: SearchableScope | None = None
    """`mission:…`, `agent:…`, `user:…`, `project:…` or `shared`: what was stored in it."""
    mission_id: Name | None = None
    """The same as the scope `mission:…`."""
    agent_name: Name | None = None
    """The scope `agent:…`, what the agent wrote into missions, and what was learned of it."""
    user_id: Name | None = None
    """The scope `user:…`, what is remembered of the user, and every assembly made for the user or with any of it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        given = [name for name in self.__struct_fields__ if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError("scope: exactly one of scope, mission_id, agent_name and user_id is needed")
        if not _SCOPE.match(self.purged):
            raise ValueError("scope: must be mission:…, agent:…, user:…, project:… or shared")

    @property
    def purged(self) -> str:
        if self.scope is not None:
            return self.scope
        of = {"mission": self.mission_id, "agent": self.agent_name, "user": self.user_id}
        return next(f"{kind}:{name}" for kind, name in of.items() if name is not None)


class Receipt(msgspec.Struct):
    """What a purge erased: rows per table of each service."""

    scope: str
    erased: dict[str, dict[str, int]]
    """Rows by table, by service."""


class Event(msgspec.Struct):
    seq: int
    """Its number: events come in this order, and none is skipped."""
    kind: str
    """What happened, as in `cache_write`."""
    scope: str
    mission_id: str | None
    agent_name: str | None
    session_id: str | None
    dispatch_id: int | None
    payload: dict[str, Any]
    """Ids and counts; never content."""
    created_at: datetime


class Events(msgspec.Struct):
    """A page of the timeline; `next_after` is where the next one begins."""

    data: list[Event]
    next_after: int
