"""Written by `make openapi` from the API's document."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from scrubjay.models.choices import Language


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """A call may be made."""

    ceilings: list[CeilingState]
    """Those that it would count towards, as far as the key may know of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """What calls took together."""

    calls: int
    """How many calls."""
    input_tokens: int
    """What was read afresh: neither from the provider's cache nor into it."""
    output_tokens: int
    """What the model wrote."""
    cache_read_tokens: int
    """What came from the provider's cache."""
    cache_write_tokens: int
    """What went into the provider's cache."""
    cost_usd: str
    """An exact decimal number, of the calls whose cost is known."""
    unpriced_calls: int
    """Calls whose cost is not known: their model has no price, or nobody knows their tokens."""
    estimated_usd: str
    """What those of unknown tokens may have cost besides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnthropicBlock:
    """A block of `system` in Anthropic's Messages API."""

    type: Literal["text"] = field(default="text", init=False)
    """Which kind of block it is."""
    text: str
    """A part of the prompt."""
    cache_control: CacheControl | None = None
    """The prompt up to here is cached. A prompt has at most two of these; the API takes four."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    id: int
    """Its id, unique in the tenant."""
    tenant: str
    """The tenant that it belongs to."""
    name: str
    """Its name, which need not be unique."""
    status: Literal["active", "expired", "revoked"]
    """Whether it is valid, and why not."""
    access: Literal["admin", "read", "write"]
    """What the key may do: `write` includes read, `admin` includes both."""
    agent: str | None
    """The agent that it acts as; null: any."""
    missions: list[str] | None
    """The missions that it may touch; null: all."""
    users: list[str] | None
    """The users whom it may touch; null: all."""
    requests_per_second: float | None
    """How many requests the key may send in a second."""
    burst: int | None
    """How many requests may arrive at once."""
    requests_per_day: int | None
    """How many requests the key may send in a day of UTC."""
    tokens_per_day: int | None
    """How many tokens the key may write in a day of UTC."""
    created_at: datetime
    """When it was stored."""
    created_by: str | None
    """The key that made it, `env:admin` for a token of the environment."""
    expires_at: datetime | None
    """When it ends; null: never."""
    revoked_at: datetime | None
    """When it was withdrawn."""
    old_secret_until: datetime | None
    """After a rotation, the time until which the previous secret is valid."""
    last_used_at: datetime | None
    """When it was last used."""
    requests_today: int
    """Requests on this day of UTC."""
    tokens_today: int
    """Tokens written on this day of UTC."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKeys:
    """A page of keys, by id."""

    data: list[ApiKey]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssembleContextInput:
    query: str
    """What the agent is about to do, or wants to know."""
    language: Language | None = None
    """The language of the query, as ISO 639-1 names it. When left out, it is detected."""
    caller: str | None = None
    """The agent that asks. Its own memories count more than those of its peers. Required unless the key is
    bound to one.
    """
    mission_namespace: str | None = None
    """The mission that the agent works in."""
    token_budget: int | None = None
    """The most tokens of the block, by default the caller's budget."""
    scopes: list[str] = field(default_factory=list)
    """Further scopes to search: `mission:…`, `agent:…`, `user:…`, `project:…` or `shared`."""
    session_id: str | None = None
    """The session of the request. Of what its context holds, that which it no longer shows whole is
    searched, too.
    """
    whole_objects: bool = False
    """Also search what the session shows whole. Default: `false`."""
    user_id: str | None = None
    """The user that the context is for. It excludes everything about other users."""
    dispatch_id: int | str | None = None
    """The dispatch that the context is for."""
    explicit_links: list[str] = field(default_factory=list)
    """Files of the tenant's vault to include, whatever the query."""
    as_of: datetime | None = None
    """Only items recorded by then, with ages counted from it. Items deleted since stay deleted."""
    fill: bool = False
    """Fill the budget with whatever is relevant at all, instead of only with what is near the best.
    Default: `false`.
    """
    background: bool | None = None
    """After what is relevant, show what else the caller remembers, where that is little and all of it
    fits. Left out, the profiles of the caller and the user decide.
    """
    neighbours: bool = True
    """Also search the missions and projects to which those of the request refer. What is found there
    counts half. Default: `true`.
    """
    style: Literal["factual", "narrative", "structured"] = "structured"
    """How the block says it: `structured` shows each item. `narrative` tells it in connected sentences,
    and `factual` lists facts, as the helper model writes them from these items, with their handles.
    That may take 15 s. Where it cannot be had, the block is structured, and `degraded` says why.
    Default: `"structured"`.
    """
    delta: bool | None = None
    """True: only what the session was not given yet, and corrections of what it was, each told once.
    False: the session begins anew, as after a compaction of its host. Left out, what the session was
    given plays no part. Needs `session_id`. A session is that of the key and the caller.
    """
    since: int | None = None
    """The position of the last answer with `delta` that arrived. What was told after it comes again."""
    log: bool = True
    """False: the assembly is not logged, and its `assembly_id` is 0. Default: `true`."""
    debug: bool = False
    """Include the scores of each search arm for every candidate. Needs admin access. Default: `false`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    assembly_id: int
    """Names the assembly in feedback; 0 if it was not logged."""
    context_block: str
    """Text for a prompt. Each item begins with a header: `[handle time kind author nonce]`, and one that
    stands for others counts them: `[… author ×3 nonce]`.
    """
    nonce: str
    """Ends each header of this block. No text in the block holds it."""
    sources: list[Source]
    """The items of the block, in order. For a style of its own, those that it was written from."""
    total_tokens: int
    """Tokens of the block."""
    retrieval_ms: float
    """How long it took, in milliseconds."""
    degraded: list[Degraded]
    """The sources that failed or answered only in part."""
    low_relevance: bool
    """Nothing that was found seems to answer the query."""
    searched: list[SearchedScope]
    """The scopes that the request names, the caller's own and everybody's; a name that holds nothing shows
    as 0.
    """
    budget: BlockBudget
    """The budget that held."""
    left_out: LeftOut
    """What was found and had no room."""
    graph: list[GraphContextEntry]
    """Facts of the entities that the query names. Their lines, marked `[GRAPH]`, begin the block."""
    candidates: list[Evidence] | None = None
    """Only with `debug`."""
    delta: Delta | None = None
    """Only with `delta`."""
    synthesis: SynthesisOfBlock | None = None
    """Only where a style was asked for."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """A page of what admins did, newest first."""

    data: list[AuditRow]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """What an admin did. A purge takes the names of its subject out of older rows."""

    id: int
    """Grows with time, though not without gaps."""
    at: datetime
    """When it was done, by the database's clock."""
    actor: str
    """The key that did it, as `key:12`, or the token of the environment, as `env:admin`."""
    agent_name: str | None
    """The agent that the key is bound to."""
    request_id: str | None
    """The `x-request-id` of the request."""
    action: Literal[
        "budget_reset",
        "budget_set",
        "ceiling_reset",
        "ceiling_set",
        "clear",
        "evaluate",
        "export",
        "forget",
        "import",
        "key_change",
        "key_make",
        "key_revoke",
        "key_rotate",
        "language_set",
        "limits_set",
        "profile_delete",
        "profile_set",
        "purge",
        "purge_begin",
        "review_decide",
        "review_rule_reset",
        "review_rule_set",
        "secret_policy_set",
        "webhook_change",
        "webhook_delete",
        "webhook_make",
        "webhook_redeliver",
        "webhook_rotate",
        "webhook_test",
        "weight_reset",
        "weight_set",
    ]
    """What was done."""
    target: str
    """What it was done to: `key:12`, a scope such as `mission:…`, or `tenant`."""
    before: Any
    """The settings before. Null for an action that replaces none."""
    after: Any
    """The settings after, or how many rows it concerned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockBudget:
    """The tokens that the block could have, and what set them."""

    tokens: int
    """The most that the block could take."""
    from_: Literal["caller", "ceiling", "default", "request"]
    """`caller`: what is set or was learned for the caller; `ceiling`: more was wanted than is allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockInput:
    """A part of the prompt. Exactly one of `text`, `path` and `handle` says what it holds."""

    name: str
    """Its name, unique in the prompt."""
    stability: Literal["dynamic", "semi_stable", "stable"]
    """The part of the prompt that it belongs to: `stable` for what hardly ever changes, `semi_stable` for
    what changes now and then, `dynamic` for what changes with each turn.
    """
    text: str | None = None
    """The caller's own words. They stand in the prompt as they are."""
    path: str | None = None
    """A file of the tenant's vault."""
    handle: str | None = None
    """A document behind a handle: `memory:…`, `profile:…`, `vault:…` and others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetAdjustment:
    caller: str
    """The agent that asks."""
    old_budget: int
    """Tokens before the change."""
    new_budget: int
    """Tokens after the change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheControl:
    type: Literal["ephemeral"] = field(default="ephemeral", init=False)
    """Which kind of block it is."""
    ttl: Literal["1h", "5m"]
    """How long the provider keeps it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerBudget:
    caller: str
    """The agent that asks."""
    default_budget: int
    """Tokens of a block, where a request does not say how many."""
    min_budget: int
    """Learning does not lower the default below it."""
    max_budget: int
    """Learning does not raise the default above it."""
    ceiling: int | None
    """The largest budget of any request by the caller."""
    manual: bool
    """An operator set it, and learning leaves it alone."""
    updated_at: datetime
    """When it was last changed."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerBudgets:
    budgets: list[CallerBudget]
    """One row for each caller."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Callers:
    """A page of callers, by name."""

    data: list[str]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CeilingState:
    """How much is left under a ceiling."""

    subject: str
    """Whose calls it counts: `tenant`, `key:…` or `mission:…`."""
    period: str
    """Over what time: a UTC `day` or `month`, or `all`."""
    limit_usd: str
    """Once so much is spent, no further call is made."""
    spent_usd: str
    """With an estimate for calls that nobody knows the tokens of."""
    calls: int
    """How many calls."""
    unpriced_calls: int
    """Calls of models without a price. The ceiling cannot count them."""
    reached: bool
    """Further calls are not made."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceilings:
    """A page of the tenant's ceilings, by whose they are."""

    data: list[CeilingState]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What the next answer with `delta` would correct."""

    position: int
    """The position of the last answer that told the session something; 0: it was given nothing."""
    corrections: list[Correction]
    """What became of items that the session was given, each as long as it was not told."""
    degraded: list[Degraded]
    """What did not answer: of its items nothing is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """What is kept in long-term memory besides, because it lasts beyond its mission."""

    store: str
    """`memory`."""
    kind: str
    """`preference`, `commitment` or `episode`."""
    status: Literal["created", "known", "refused"]
    """`known`: it was there. `refused`: it is not kept, and `why` says the reason."""
    why: str
    """The rule that found it, or why it is not kept."""
    id: int | None = None
    """Its id, unique in the tenant."""
    handle: str | None = None
    """The name that a context block gives it."""
    scope: str | None = None
    """Who finds it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """What became of an item that the session was given. It is told once."""

    handle: str
    """How a block names the item."""
    what: Literal["edited", "gone", "superseded"]
    """`edited`: it says something else now; `superseded` by a newer item; `gone`: deleted, expired,
    evicted, or out of this key's reach.
    """
    by: str | None = None
    """The handle of the newer item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostGroup:
    """What the calls of one agent, mission, session, model, kind, key or service took."""

    name: str | None
    """The agent, mission, session, model, kind, key or service. Null: none."""
    today: Amount
    """Since midnight, in UTC."""
    week: Amount
    """In the last seven days, today included."""
    all: Amount
    """As long as rows are kept, 400 days."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostRow:
    """A call of a model."""

    id: int
    """Its id."""
    created_at: datetime
    """When the call ended."""
    service: str
    """The service that made the call, or `caller`."""
    kind: str
    """What it was for, such as summary, answer, query, document, rerank or probe."""
    model: str
    """As its provider names it, after `anthropic:`, `openai:` or `voyage:` for our own calls."""
    outcome: str
    """`ok`, `uncounted` (answered without counting tokens), `abandoned` or `failed`."""
    agent_name: str | None
    """The agent that it was made for."""
    mission_id: str | None
    """The mission that it was for."""
    session_id: str | None
    """The session that it was for, as callers name it."""
    key: str | None
    """Whose call it was."""
    input_tokens: int
    """What was read afresh: neither from the provider's cache nor into it."""
    output_tokens: int
    """What the model wrote."""
    cache_read_tokens: int
    """What came from the provider's cache."""
    cache_write_tokens: int
    """What went into the provider's cache."""
    cost_usd: str | None
    """Null where the model has no price, or the tokens are not known."""
    estimated_usd: str | None
    """What a call of unknown tokens may have cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostRows:
    """A page of calls, the newest first."""

    data: list[CostRow]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What calls cost: all together, and a page of groups by name."""

    data: list[CostGroup]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""
    today: Amount
    """Since midnight, in UTC."""
    week: Amount
    """In the last seven days, today included."""
    all: Amount
    """As long as rows are kept, 400 days."""
    unpriced_models: list[str]
    """Models without a price, at most twenty."""
    prices_as_of: str
    """The date of the table of prices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionTaken:
    """What became of the item."""

    handle: str
    """How a block names the item."""
    state: Literal["approved", "edited", "forgotten", "merged", "waiting"]
    """What was decided."""
    item: str | None
    """The handle of the item that holds the text now, if any does."""
    decided_by: str
    """The key that decided."""
    decided_at: datetime
    """When it was decided."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Degraded:
    source: str
    """A store, or the embedder."""
    reason: str
    """Such as down, timeout, erroring, overloaded, outdated or breaker open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """What the session knows with this answer."""

    position: int
    """Send it as `since` of the next request: what was told after it, and was lost on its way, comes
    again.
    """
    corrections: list[Correction]
    """Of what the session was given before. Their lines, `[update handle … nonce]`, begin the block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """What one cycle changed. The counts are of all rows that now hold settings."""

    weight_adjustments: list[WeightAdjustment]
    """Weights that changed."""
    budget_adjustments: list[BudgetAdjustment]
    """Budgets that changed."""
    weights_count: int
    """Rows of weights."""
    budgets_count: int
    """Rows of budgets."""
    assemblies: int
    """How many assemblies had new feedback."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A candidate in the debug answer: the scores of each arm, and its outcome."""

    handle: str
    """How a block names the item."""
    store: str
    """The store that it is from, as weights name it."""
    id: int
    """Its id, unique in the tenant."""
    chunk: int
    """Which part of a long item, from 0."""
    score: float
    """Its score: the product of its factors."""
    relevance: float
    """How well it answers the question, in [0, 1]. A factor of the score."""
    text: float
    """How well its words match, as the text arm saw it."""
    vector: float
    """How well its meaning matches, as the vector arm saw it."""
    cosine: float | None
    """The cosine of its vector and the question's; null where it has no vector."""
    tokens: int
    """Tokens of the candidate whole."""
    outcome: str
    """What became of it: taken, cut, background (taken because it fits), budget (no room was left),
    below_cut (too far from the best), repeat (of another), superseded (by a newer item), given (the
    session has it) or floor (too little relevance).
    """
    superseded_by: str | None = None
    """The handle of the newer item that says something else about the same."""
    same_as: str | None = None
    """The handle of the item that it repeats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """Every candidate, best first."""

    id: int
    """Its id, unique in the tenant."""
    caller: str
    """The agent that asks."""
    query_hash: str
    """A keyed hash of the query, in hexadecimal digits: equal for equal queries. The query is not kept."""
    token_budget: int
    """Tokens that the block might have."""
    total_tokens: int
    """Tokens of the block."""
    retrieval_ms: float
    """How long it took, in milliseconds."""
    low_relevance: bool
    """Nothing found stood out of what any question finds."""
    degraded: list[Degraded]
    """What did not answer, or not as it should."""
    created_at: datetime
    """When it was stored."""
    mission_namespace: str | None = None
    """The mission; null where there is none."""
    session_id: str | None = None
    """The session that it belongs to."""
    user_id: str | None = None
    """The user whom it is about, or who said it."""
    dispatch_id: int | None = None
    """The dispatch that it belongs to."""
    as_of: datetime | None = None
    """The time that the request asked about; null: now."""
    used_source_ids: list[str] | None = None
    """Handles that explicit feedback named. Null: there was none."""
    weak_source_ids: list[str] = field(default_factory=list)
    """Handles that were read, or cited by a later write."""
    tokens_used: int | None = None
    """How many tokens of the block were of use."""
    feedback_kind: str | None = None
    """`explicit`, or `implicit` for weak signals only."""
    processed_at: datetime | None = None
    """When learning used it."""
    scopes: list[str]
    """The scopes that were searched."""
    token_shares: dict[str, float]
    """Each store's share of the budget."""
    candidates: list[ExplainedCandidate]
    """Every candidate, best first."""
    synthesis: Synthesized | None = None
    """What became of the style that was asked for. Null: none was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedCandidate:
    """score = weight * relevance * recency * priority. `outcome`: taken, cut, background (taken because it
    fits), budget (no room was left), below_cut (too far from the best), repeat (of `same_as`),
    superseded (by the newer `superseded_by`), floor (too little evidence).
    """

    handle: str
    """How a block names the item."""
    store: str
    """The store that it is from, as weights name it."""
    outcome: str
    """What became of it."""
    taken: int
    """Tokens in the block."""
    score: float | None = None
    """Its score: the product of its factors."""
    weight: float | None = None
    """How much the store counts for the caller. A factor of the score."""
    relevance: float | None = None
    """How well it answers the question, in [0, 1]. A factor of the score."""
    recency: float | None = None
    """A factor of the score, in [0.6, 1]: it halves with the half-life of the store."""
    priority: float | None = None
    """A factor of the score, by the type of the item."""
    tokens: int | None = None
    """Tokens of the candidate whole."""
    same_as: str | None = None
    """The candidate that it repeats."""
    superseded_by: str | None = None
    """The newer item that says something else about the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackTaken:
    accepted: int
    """The number of sources that are now known to be useful."""
    success: bool
    """It was done."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A page of the assemblies that gave an item, newest first. It may hold few of them, or none, and
    still name a next one.
    """

    data: list[GivenTo]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenTo:
    """An assembly that gave an item."""

    assembly_id: int
    """The id that `assemble` answered."""
    handle: str
    """The item as the block named it: `own` to its agent, `peer` to others."""
    caller: str
    """Who was given it."""
    mission_namespace: str | None
    """The mission; null where there is none."""
    session_id: str | None
    """The session that it belongs to."""
    user_id: str | None
    """The user that the assembly was for."""
    used: bool | None
    """Whether explicit feedback named it as useful. Null: there was none."""
    created_at: datetime
    """When it was given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphContextEntry:
    """A fact in the block."""

    id: int
    """Its id, unique in the tenant."""
    subject: str
    """What the fact is about."""
    predicate: str
    """The attribute or the relation."""
    object: str
    """The value, or the name of another entity."""
    valid_from: datetime
    """Since when it holds."""
    valid_to: datetime | None
    """When it ceases to hold; null: it is open."""
    tokens: int
    """Estimated tokens of its line."""
    content: str
    """Its line in the block."""
    weight: float
    """How much it counts beside other facts of its entity: 1 when it was just stated, and never below 0.5."""
    half_life_days: float | None
    """In how many days what is above 0.5 halves, by its predicate. Null: it does not fade."""
    stated_at: datetime | None
    """When it was recorded, or last confirmed by consolidation. The weight counts from then."""
    confirmations: int
    """How often consolidation learned it again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What happened to a message, or to a piece of a long one."""

    item: int
    """The message's index in the request; 0 for `text`."""
    status: Literal["created", "pending", "refused", "skipped", "updated"]
    """`updated`: it was known and is now confirmed. `pending`: stored, and later merged if known."""
    why: str
    """The rule that chose its place, or why it is not kept."""
    expires_at: datetime | None
    """When its mission drops it. Null for what an agent keeps until it is forgotten."""
    piece: int = 0
    """The piece's index in a long message, from 0."""
    store: Literal["agent_memory", "psychic_cache"] | None = None
    """The store that it is from, as weights name it."""
    id: int | None = None
    """Its id, unique in the tenant."""
    handle: str | None = None
    """The name that a context block gives it."""
    kind: str | None = None
    """Its context_type or memory_type."""
    review: Literal["pending"] | None = None
    """It waits for a reviewer, and its id is negative: no item has it yet."""
    also: Copy | None = None
    """Where else it is kept, if it lasts: in long-term memory."""
    facts: list[StatedFact] = field(default_factory=list)
    """The facts that it states, and what became of them in the graph."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """What was found and had no room."""

    count: int
    """The number of items, or of parts of long items."""
    handles: list[str]
    """Of the best of them."""
    below_cut: int
    """The number that is too far from the best. `fill` asks for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntries:
    """A page of assemblies, newest first."""

    data: list[LogEntry]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """One assembly. The log keeps only the query's SHA-256."""

    id: int
    """Its id, unique in the tenant."""
    caller: str
    """The agent that asks."""
    query_hash: str
    """A keyed hash of the query, in hexadecimal digits: equal for equal queries. The query is not kept."""
    token_budget: int
    """Tokens that the block might have."""
    total_tokens: int
    """Tokens of the block."""
    retrieval_ms: float
    """How long it took, in milliseconds."""
    low_relevance: bool
    """Nothing found stood out of what any question finds."""
    degraded: list[Degraded]
    """What did not answer, or not as it should."""
    created_at: datetime
    """When it was stored."""
    mission_namespace: str | None = None
    """The mission; null where there is none."""
    session_id: str | None = None
    """The session that it belongs to."""
    user_id: str | None = None
    """The user whom it is about, or who said it."""
    dispatch_id: int | None = None
    """The dispatch that it belongs to."""
    as_of: datetime | None = None
    """The time that the request asked about; null: now."""
    used_source_ids: list[str] | None = None
    """Handles that explicit feedback named. Null: there was none."""
    weak_source_ids: list[str] = field(default_factory=list)
    """Handles that were read, or cited by a later write."""
    tokens_used: int | None = None
    """How many tokens of the block were of use."""
    feedback_kind: str | None = None
    """`explicit`, or `implicit` for weak signals only."""
    processed_at: datetime | None = None
    """When learning used it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeKey:
    key: ApiKey
    """The key, without its secret."""
    token: str | None
    """The secret, shown only once. Null when an Idempotency-Key repeats a call, because secrets are not
    stored.
    """
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Me:
    """What the key of the request may do, and where. Null bounds are none."""

    tenant: str
    """The tenant that it belongs to."""
    name: str
    """`key:12` for an API key, or `env:` and the access for a token of the environment."""
    access: list[Literal["admin", "read", "write"]]
    """What the key may do: `write` includes read, `admin` includes both."""
    agent: str | None
    """The agent whose item it is; null where nobody is named."""
    missions: list[str] | None
    """The missions that it may touch; null: all."""
    users: list[str] | None
    """The users whom it may touch; null: all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    paths: list[str] = field(default_factory=list)
    """The files that it is about. A question that names one finds it, by the last two segments or more."""
    symbols: list[str] = field(default_factory=list)
    """The names in code that it is about. A question that holds one finds it."""
    step: Literal["diff", "edit", "plan", "read", "run", "test"] | None = None
    """Which kind of step it records. When left out, an entry's text decides."""
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
class Monitored:
    """A page of agents, the most recently active first."""

    data: list[MonitoredAgent]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitoredAgent:
    seq: int
    """The number of its last event."""
    agent_name: str
    """The agent."""
    status: str
    """`active` if it did something in the last five minutes, or else `idle`."""
    doing: str | None
    """`thinking`, `tools` or `idle`, by the last message in the trail of its session. Null: it keeps no
    trail.
    """
    turn: int | None
    """The last turn that its session ended, in the requested time."""
    last_write_at: datetime | None
    """When it last wrote something that is remembered."""
    last_assembly_at: datetime | None
    """When it last asked for a context."""
    cost_today_usd: str
    """What its calls of models cost since midnight UTC, as far as their prices are known."""
    last_event: str
    """The kind of its last event, such as `cache_write`."""
    at: datetime
    """When it did that."""
    mission_id: str | None
    """The mission."""
    session_id: str | None
    """The session that it belongs to."""
    dispatch_id: int | None
    """The dispatch that it belongs to."""
    open_dispatches: list[int]
    """Dispatches that it was given and has not closed."""
    events: dict[str, int]
    """How many events of each kind it caused in the requested time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIMessage:
    """A message of OpenAI's chat completions."""

    role: Literal["system"] = field(default="system", init=False)
    """Who speaks."""
    content: str
    """The parts in their order, with a blank line between them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What every block for an agent or a user says first."""

    agent_name: str | None
    """The agent that it describes."""
    user_id: str | None
    """The user that it describes."""
    text: str
    """What every block for the subject says first."""
    background: bool
    """Blocks for the subject also show its background."""
    written_by: str
    """The key that wrote it."""
    source_kind: str
    """The kind of source it is from."""
    source_claim: str | None
    """The kind that the writer names, where its key may not say so."""
    updated_at: datetime
    """When it was last changed."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profiles:
    """A page of profiles, agents' before users', by name."""

    data: list[Profile]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    tier: str
    """The tier that was chosen."""
    blocks: list[PromptTier]
    """The parts of the prompt: stable, semi-stable, dynamic."""
    parts: list[PromptPart]
    """What became of each block, in the order of the request. Blocks that the tier does not hold are not
    listed.
    """
    total_tokens: int
    """Tokens of the prompt."""
    degraded: list[Degraded]
    """Documents that could not be read, and what was missing when the context was assembled."""
    assembly: Assembly | None
    """The assembled context, which ends the dynamic part. Null: none was asked for."""
    system: list[AnthropicBlock] | None = None
    """Only with the format `anthropic`."""
    messages: list[OpenAIMessage] | None = None
    """Only with the format `openai`."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptPart:
    """What became of a block."""

    name: str
    """Its name, which need not be unique."""
    stability: Literal["dynamic", "semi_stable", "stable"]
    """The part of the prompt that it belongs to."""
    outcome: Literal["cut", "left_out", "whole"]
    """What of it is in the prompt."""
    tokens: int
    """Estimated tokens of it in the prompt."""
    fenced: bool = False
    """It stands under a header `[handle kind author nonce]`, because agents or users may have written it.
    The nonce changes only with the contents of its part of the prompt.
    """
    reason: str | None = None
    """Why it is not whole, such as `budget`, `not found` or `agent_memory timeout`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptTier:
    """One part of the prompt. It is empty where it holds nothing."""

    stability: Literal["dynamic", "semi_stable", "stable"]
    """Which part it is."""
    text: str
    """Its words. The same blocks with the same contents make the same bytes, except for what is assembled."""
    sha256: str
    """Of the bytes of the text in UTF-8."""
    tokens: int
    """Estimated tokens of the text."""
    complete: bool
    """False: a block is cut or left out, as `parts` say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The rows that a purge erased."""

    scope: str
    """Where it belongs: `mission:…`, `agent:…`, `user:…`, `project:…` or `shared`."""
    erased: dict[str, dict[str, int]]
    """Erased rows by service and table."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCost:
    """What was recorded."""

    id: int
    """The id of its row."""
    cost_usd: str | None
    """Null where the model has no price, or the tokens are not known."""
    ceilings: list[CeilingState]
    """Those that the call counts towards, as far as the key may know of them. Once one is reached, make no
    other.
    """
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberResult:
    """The outcomes, in the order of the request."""

    items: list[Kept]
    """What became of each message, or of each piece of a long one."""
    stored: int
    """How many items were stored or confirmed."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What would have been taken. The sizes of cut items are estimates, because the log keeps no content."""

    assembly_id: int
    """The id that `assemble` answered."""
    token_budget: int
    """Tokens that the block might have."""
    total_tokens: int
    """Tokens of the block."""
    added: list[str]
    """Handles that would have been added."""
    removed: list[str]
    """Handles that would have been removed."""
    candidates: list[ExplainedCandidate]
    """Every candidate, best first."""
    synthesis: Synthesized | None = None
    """What the helper model wrote of what was taken then. A replay does not ask it again."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewItem:
    """An item of the queue, and why it stands there."""

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
    source_kind: Literal["agent", "derived", "document", "imported", "tool", "user"]
    """The kind of source it is from."""
    source_claim: Literal["agent", "derived", "document", "imported", "tool", "user"] | None
    """What its writer says the source is, where its key may not say so."""
    created_at: datetime
    """When it was stored."""
    kind: Literal["derived", "disputed", "low_trust", "near_duplicate", "waiting"]
    """`waiting`: a write that nobody is shown before it is approved. `near_duplicate`: another memory of
    the agent says nearly the same. `disputed`: another fact contradicts it. `low_trust`: neither a user
    nor an agent vouches for it. `derived`: it was learned from sessions or files.
    """
    rules: list[str]
    """Whose rule a write waits for: `mission:…` and `agent:…`."""
    other: ReviewedItem | None
    """What it resembles or contradicts."""
    distance: float | None
    """How far the two near duplicates are apart: 1 less their cosine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewQueue:
    """A page of the queue: first what waits, then near duplicates, disputes, low trust and what is
    derived, each with the newest first. A page may hold few items, or none, and still name a next one.
    """

    data: list[ReviewItem]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRule:
    """Writes of this mission or agent wait for a reviewer."""

    scope: str
    """`mission:…` or `agent:…`."""
    set_by: str
    """The key that set the rule."""
    set_at: datetime
    """When it was set."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRules:
    """A page of the rules, by scope."""

    data: list[ReviewRule]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewedItem:
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
    source_kind: Literal["agent", "derived", "document", "imported", "tool", "user"]
    """The kind of source it is from."""
    source_claim: Literal["agent", "derived", "document", "imported", "tool", "user"] | None
    """What its writer says the source is, where its key may not say so."""
    created_at: datetime
    """When it was stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Savings:
    """What paging saves, as far as sessions show it."""

    paged: SessionCosts
    """Those that were paged."""
    control: SessionCosts
    """The random share that was not."""
    saved: float | None
    """The share by which a paged session costs less; negative where it costs more. Null: too few sessions."""
    saved_low: float | None
    """The lower end of the interval that holds it with a probability of 95 %."""
    saved_high: float | None
    """The upper end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedScope:
    """A scope that was searched, and the number of items in it."""

    scope: str
    """`agent:*` is every agent's memories, and `session:…` the objects of the request's session."""
    items: int | None
    """About how many it holds; null where its owner did not answer."""
    neighbour: bool = False
    """A mission or a project of the request refers to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretPolicy:
    """What becomes of secrets in what the tenant's callers send."""

    policy: Literal["allow", "mask", "refuse"]
    """`mask`: each is replaced by its kind. `refuse`: the request is answered 422. `allow`: they stay."""
    origin: Literal["installation", "tenant"]
    """Whether the tenant has a policy of its own, or the default holds."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCosts:
    """What sessions of the gateway cost."""

    sessions: int
    """How many sessions."""
    calls: int
    """How many requests, with those that the gateway made itself."""
    usd_per_session: float | None
    """The mean. Null without a session whose model has a price."""
    deviation_usd: float | None
    """The standard deviation. Null with fewer than two sessions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One item of the block. score = weight * relevance * recency * priority."""

    handle: str
    """The item's name in the block, in feedback and in `/api/context/sources`."""
    store: str
    """The item's store, as weights name it; `explicit_link` for a file that the request linked; or
    `profile`.
    """
    id: int
    """Its id, unique in the tenant."""
    chunk: int
    """The index of this part of a long item."""
    kind: str
    """The item's context_type or memory_type."""
    score: float
    """Its score: the product of its factors."""
    weight: float
    """How much the store counts for the caller. A factor of the score."""
    relevance: float
    """How well it answers the question, in [0, 1]. A factor of the score."""
    recency: float
    """A factor of the score, in [0.6, 1]: it halves with the half-life of the store."""
    priority: float
    """A factor of the score, by the type of the item."""
    tokens: int
    """Its tokens in the block."""
    cut: bool
    """Only a part of it is in the block."""
    agent: str | None
    """The agent that wrote it."""
    speaker: str | None
    """Who said it, as the agent claims."""
    source_kind: str
    """The kind of source it is from. A block notes every kind but `user` and `agent`."""
    at: datetime
    """When it happened, or else when it was written."""
    was: str | None = None
    """What it states in the place of, as its header in the block says: the value of the newest item it
    supersedes.
    """
    background: bool = False
    """It is there because it fits, and not because it is relevant."""
    neighbour: str | None = None
    """The scope it is from, if the request only refers to it. Its relevance counts half."""
    excerpt: bool = False
    """The part is not its beginning: it is the passages that match the query best, with `…` where others
    are left out. `GET /api/context/sources/{handle}` returns the whole item.
    """
    repeats: list[str] = field(default_factory=list)
    """The handles of items that say the same. The block shows only this one, and its header counts them:
    `×3`.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceInput:
    """What differs for messages of one source."""

    tier: str | None = None
    """The tier of its messages."""
    text: str | None = None
    """What the dynamic part says first: what kind of session it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceItem:
    """The whole item behind a handle, as its owner returns it."""

    handle: str
    """How a block names the item."""
    store: str
    """The store that it is from, as weights name it."""
    item: Any
    """The item as its owner answers it."""
    chunk: int | None = None
    """Which part of a long item, from 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceWeight:
    caller: str
    """`*`: every caller without a row of its own."""
    source: str
    """The store, as weights name it."""
    weight: float
    """How much the store counts for the caller. A factor of the score."""
    token_share: float
    """The source's share of the budget."""
    manual: bool
    """An operator set it, and learning leaves it alone."""
    updated_at: datetime
    """When it was last changed."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceWeights:
    """Rows that differ from the start values. `*` stands for every caller without a row of its own."""

    weights: list[SourceWeight]
    """A row for each caller and store."""
    start: dict[str, float]
    """The start values, by store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedFact:
    """A fact that a message states, as `/api/kg` holds it besides."""

    subject: str
    """What the fact is about."""
    predicate: str
    """The attribute or the relation."""
    object: str
    """The value, or the name of another entity."""
    status: Literal["created", "extended", "known", "refused"]
    """`known`: it was there. `refused`: it is not stated, and `why` says the reason."""
    why: str
    """The rule that found it, or why it is not stated."""
    id: int | None = None
    """Its id, unique in the tenant."""
    handle: str | None = None
    """The name that a context block gives it."""
    scope: str | None = None
    """Who finds it."""
    closed: list[int] = field(default_factory=list)
    """The facts that no longer hold because of it."""
    disputes: list[int] = field(default_factory=list)
    """The facts that it contradicts and could not close: they stand beside it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreWaiting:
    """What of a store waits. Until it has vectors, questions find it by its words."""

    store: str
    """The store that it is from, as weights name it."""
    items: int
    """How many of its items wait; 100,000 stands for more."""
    expected_at: datetime | None
    """When all of them should have vectors; what other tenants wrote before them comes first. Null when
    nothing waits, and while no vectors are made.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesisOfBlock:
    """What became of the style that was asked for."""

    asked: Literal["factual", "narrative", "structured"]
    """The style that was asked for."""
    style: Literal["factual", "narrative", "structured"]
    """That of the block: the one that was asked for, or `structured`."""
    model: str | None = None
    """The helper model, as `provider:model`."""
    prompt: str | None = None
    """The version of what the model was asked."""
    tokens: int = 0
    """Tokens of what it wrote."""
    cited: list[str] = field(default_factory=list)
    """The handles that it cites, in order. All of them are items of the block that it wrote from."""
    dropped: int = 0
    """Sentences that were left out: they cite nothing of the block, state what their items do not, or had
    no room.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesized:
    """A block in a style of its own, as the helper model wrote it."""

    asked: Literal["factual", "narrative", "structured"]
    """The style that was asked for."""
    style: Literal["factual", "narrative", "structured"]
    """That of the block: the one that was asked for, or `structured`."""
    model: str | None = None
    """The helper model, as `provider:model`."""
    prompt: str | None = None
    """The version of what the model was asked."""
    tokens: int = 0
    """Tokens of what it wrote."""
    cited: list[str] = field(default_factory=list)
    """The handles that it cites, in order."""
    dropped: int = 0
    """Sentences that were left out."""
    text: str | None = None
    """What it wrote, as far as it was kept. A purge of any agent, user or scope whose items it was written
    from erases it.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantBacklog:
    """What of the tenant waits for its vectors."""

    stores: list[StoreWaiting]
    """Every store, also where nothing waits."""
    degraded: list[Degraded]
    """The services that did not answer: of their stores nothing is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantLanguage:
    """The language of the tenant's texts and questions, where neither they nor their writer tells it."""

    language: Language | None
    """As ISO 639-1 names it."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedItem:
    """A source as an assembly names it."""

    store: Literal[
        "agent_memory_own",
        "agent_memory_peer",
        "memory",
        "persistent_objects",
        "psychic_cache",
        "session_objects",
        "vault_index",
    ]
    """The source's `store`."""
    id: int | str
    """The source's `id`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightAdjustment:
    caller: str
    """The agent that asks."""
    source: str
    """The store, as weights name it."""
    old_weight: float
    """The weight before the change."""
    new_weight: float
    """The weight after the change."""
    old_token_share: float
    """The share of the budget before the change."""
    new_token_share: float
    """The share of the budget after the change."""
    effectiveness: float | None
    """Null: the source was in no block, and its weight moves back towards the start value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightChange:
    id: int
    """Its id, unique in the tenant."""
    caller: str
    """The agent that asks."""
    source: str
    """The store, as weights name it."""
    old_weight: float
    """The weight before the change."""
    new_weight: float
    """The weight after the change."""
    old_token_share: float
    """The share of the budget before the change."""
    new_token_share: float
    """The share of the budget after the change."""
    cause: str
    """`operator` or `eval`."""
    effectiveness: float | None
    """How useful the source's items were."""
    assemblies: int | None
    """How many assemblies it was learned from."""
    created_at: datetime
    """When it was stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightHistory:
    """A page of changes, newest first."""

    data: list[WeightChange]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""
