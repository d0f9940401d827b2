"""Written by `make openapi` from the API's document."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchAnswer:
    data: BatchResult


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchItem:
    """`status` is that of a single write; `data` when it was made, else `error` as a problem."""

    status: int
    data: WriteResult | None = None
    error: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchResult:
    entries: list[BatchItem]
    written: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheDeleteAnswer:
    data: DeleteResult


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheEntry:
    """An entry as lists and queries show it. Without what the service sets, it can be written again. The
    service sets `id`, `token_count`, `created_at`, `expires_at`, and in queries `relevance` and
    `recency`.
    """

    decision_rationale: str | None = None
    """Why."""
    decision_alternatives: list[str] | None = None
    """What was considered and not chosen."""
    directive_target: str | None = None
    """Who must follow it."""
    directive_priority: str | None = None
    """How urgent it is."""
    intel_source: str | None = None
    """Where it is from."""
    intel_confidence: str | None = None
    """How sure its writer is."""
    state_from: str | None = None
    """The state before."""
    state_to: str | None = None
    """The state after."""
    state_trigger: str | None = None
    """What brought it about."""
    output_url: str | None = None
    """Where the work is to be found."""
    output_summary: str | None = None
    """What the work is."""
    report_dispatch_id: int | None = None
    """The dispatch that it reports on."""
    report_outcome: str | None = None
    """How the dispatch ended."""
    escalation_target: str | None = None
    """Who is to decide."""
    escalation_reason: str | None = None
    """Why the agent cannot."""
    subtasks: list[str] | None = None
    """What the clones do, side by side."""
    clone_count: int | None = None
    """How many work at it."""
    turn_count: int | None = None
    """Turns so far."""
    active_dispatches: list[str] | None = None
    """Dispatches under way."""
    open_decisions: list[str] | None = None
    """What is still to be decided."""
    pending_directives: list[str] | None = None
    """What is still to be done."""
    current_mission_namespaces: list[str] | None = None
    """The missions that the session works in."""
    working_state_prose: str | None = None
    """What one has to know to go on."""
    id: int
    mission_id: str
    context_type: str
    content: str
    token_count: int
    """Estimated as characters / 4, over the content and every other field that can be read back."""
    created_at: datetime
    expires_at: datetime
    """When it is gone, unless it is evicted before."""
    agent_name: str | None = None
    """Who wrote it."""
    tags: list[str] = field(default_factory=list)
    source_turn: int | None = None
    """The turn of the conversation that it comes from."""
    dispatch_id: int | None = None
    """The dispatch that it was written for."""
    session_id: str | None = None
    """The session that it was said in; of a checkpoint, the session that can be resumed from it."""
    seq: int | None = None
    """Its place in the session."""
    speaker: str | None = None
    """Who said it, where that is not the agent."""
    user_id: str | None = None
    """The user whom it is about, or who said it."""
    occurred_at: datetime | None = None
    """When it happened, where that is not when it was written."""
    source_kind: Literal["agent", "derived", "document", "tool", "user"] = "agent"
    """How it came to be known."""
    recalled_from: int | None = None
    """The assembly that led to it."""
    relevance: float | None = None
    """In [0, 1]; of queries only."""
    recency: float | None = None
    """In [0.5, 1]; of queries only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheStats:
    mission_id: str
    total_tokens: int
    entry_count: int
    token_budget: int
    entry_budget: int
    ttl_hours: float
    by_type: dict[str, int]
    """Entries by type."""
    tokens_by_type: dict[str, int]
    """Tokens by type."""
    by_agent: dict[str, int]
    """Entries by agent."""
    written_count: int
    """All that were ever written."""
    evicted_count: int
    """Those that had to go for newer ones."""
    expired_count: int
    """Those whose time was over."""
    cleared_count: int
    """Those that were cleared or deleted."""
    unindexed_count: int
    """Entries that wait for their vectors."""
    created_at: datetime
    last_write_at: datetime
    oldest_at: datetime | None
    newest_at: datetime | None
    next_expiry: datetime | None
    """When the next one expires."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedLimits:
    mission_id: str
    token_budget: int
    entry_budget: int
    ttl_hours: float
    """How long an entry lives that names no time to live."""
    origins: LimitOrigins
    evicted_count: int
    """Entries that went, so that the new limits hold; in a dry run, those that would go."""
    dry_run: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedLimitsAnswer:
    data: ChangedLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearAnswer:
    data: ClearResult


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearResult:
    deleted_count: int
    freed_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    context_type: Literal["decision"] = field(default="decision", init=False)
    occurred_at: datetime | None = None
    """When it happened; else now. A time without an offset is UTC."""
    session_id: str | None = None
    """The session that it was said in: any string."""
    seq: int | None = None
    """Its place in the session."""
    speaker: str | None = None
    """Who said it, where that is not the agent."""
    user_id: str | None = None
    """The user whom it is about, or who said it; a purge of the user erases it."""
    source_kind: Literal["agent", "derived", "document", "tool", "user"] = "agent"
    """How it came to be known."""
    recalled_from: int | str | None = None
    """The assembly that led to it, which counts as weak feedback."""
    mission_id: str | None = None
    """Any printable name without `/` and `*`, but for `all`, `checkpoint`, `write`, `query`, `.` and `..`.
    Required unless the key is bound to one.
    """
    content: str
    """What a block of context shows."""
    agent_name: str | None = None
    """Who writes it."""
    ttl_hours: float | None = None
    """How long it lives; else as long as the mission's limits say."""
    tags: list[str] = field(default_factory=list)
    source_turn: int | None = None
    """The turn of the conversation that it comes from."""
    dispatch_id: int | str | None = None
    """The dispatch that it is written for: a sign of life. An unknown one is accepted."""
    decision_rationale: str
    """Why."""
    decision_alternatives: list[str] = field(default_factory=list)
    """What was considered and not chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteResult:
    deleted_count: int
    freed_tokens: int
    """Estimated tokens that are free again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Directive:
    context_type: Literal["directive"] = field(default="directive", init=False)
    occurred_at: datetime | None = None
    """When it happened; else now. A time without an offset is UTC."""
    session_id: str | None = None
    """The session that it was said in: any string."""
    seq: int | None = None
    """Its place in the session."""
    speaker: str | None = None
    """Who said it, where that is not the agent."""
    user_id: str | None = None
    """The user whom it is about, or who said it; a purge of the user erases it."""
    source_kind: Literal["agent", "derived", "document", "tool", "user"] = "agent"
    """How it came to be known."""
    recalled_from: int | str | None = None
    """The assembly that led to it, which counts as weak feedback."""
    mission_id: str | None = None
    """Any printable name without `/` and `*`, but for `all`, `checkpoint`, `write`, `query`, `.` and `..`.
    Required unless the key is bound to one.
    """
    content: str
    """What a block of context shows."""
    agent_name: str | None = None
    """Who writes it."""
    ttl_hours: float | None = None
    """How long it lives; else as long as the mission's limits say."""
    tags: list[str] = field(default_factory=list)
    source_turn: int | None = None
    """The turn of the conversation that it comes from."""
    dispatch_id: int | str | None = None
    """The dispatch that it is written for: a sign of life. An unknown one is accepted."""
    directive_target: str
    """Who must follow it."""
    directive_priority: Literal["critical", "high", "low", "normal"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntriesAnswer:
    """A page of entries, newest first."""

    data: list[CacheEntry]
    next: str | None
    """The `cursor` of the next page; null on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryAnswer:
    data: CacheEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalation:
    context_type: Literal["escalation"] = field(default="escalation", init=False)
    occurred_at: datetime | None = None
    """When it happened; else now. A time without an offset is UTC."""
    session_id: str | None = None
    """The session that it was said in: any string."""
    seq: int | None = None
    """Its place in the session."""
    speaker: str | None = None
    """Who said it, where that is not the agent."""
    user_id: str | None = None
    """The user whom it is about, or who said it; a purge of the user erases it."""
    source_kind: Literal["agent", "derived", "document", "tool", "user"] = "agent"
    """How it came to be known."""
    recalled_from: int | str | None = None
    """The assembly that led to it, which counts as weak feedback."""
    mission_id: str | None = None
    """Any printable name without `/` and `*`, but for `all`, `checkpoint`, `write`, `query`, `.` and `..`.
    Required unless the key is bound to one.
    """
    content: str
    """What a block of context shows."""
    agent_name: str | None = None
    """Who writes it."""
    ttl_hours: float | None = None
    """How long it lives; else as long as the mission's limits say."""
    tags: list[str] = field(default_factory=list)
    source_turn: int | None = None
    """The turn of the conversation that it comes from."""
    dispatch_id: int | str | None = None
    """The dispatch that it is written for: a sign of life. An unknown one is accepted."""
    escalation_target: str
    """Who is to decide."""
    escalation_reason: str
    """Why the agent cannot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Intel:
    context_type: Literal["intel"] = field(default="intel", init=False)
    occurred_at: datetime | None = None
    """When it happened; else now. A time without an offset is UTC."""
    session_id: str | None = None
    """The session that it was said in: any string."""
    seq: int | None = None
    """Its place in the session."""
    speaker: str | None = None
    """Who said it, where that is not the agent."""
    user_id: str | None = None
    """The user whom it is about, or who said it; a purge of the user erases it."""
    source_kind: Literal["agent", "derived", "document", "tool", "user"] = "agent"
    """How it came to be known."""
    recalled_from: int | str | None = None
    """The assembly that led to it, which counts as weak feedback."""
    mission_id: str | None = None
    """Any printable name without `/` and `*`, but for `all`, `checkpoint`, `write`, `query`, `.` and `..`.
    Required unless the key is bound to one.
    """
    content: str
    """What a block of context shows."""
    agent_name: str | None = None
    """Who writes it."""
    ttl_hours: float | None = None
    """How long it lives; else as long as the mission's limits say."""
    tags: list[str] = field(default_factory=list)
    source_turn: int | None = None
    """The turn of the conversation that it comes from."""
    dispatch_id: int | str | None = None
    """The dispatch that it is written for: a sign of life. An unknown one is accepted."""
    intel_source: str
    """Where it is from."""
    intel_confidence: Literal["high", "low", "medium"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitOrigins:
    """Whether the mission has the limit of its own, or the installation's default holds."""

    token_budget: Literal["installation", "mission"]
    entry_budget: Literal["installation", "mission"]
    ttl_hours: Literal["installation", "mission"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsAnswer:
    data: LimitsInForce


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsInForce:
    mission_id: str
    token_budget: int
    entry_budget: int
    ttl_hours: float
    """How long an entry lives that names no time to live."""
    origins: LimitOrigins


@dataclass(frozen=True, slots=True, kw_only=True)
class Mission:
    mission_id: str
    total_tokens: int
    entry_count: int
    token_budget: int
    entry_budget: int
    written_count: int
    evicted_count: int
    created_at: datetime
    last_write_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MissionsAnswer:
    """A page of missions, by name."""

    data: list[Mission]
    next: str | None
    """The `cursor` of the next page; null on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    context_type: Literal["output"] = field(default="output", init=False)
    occurred_at: datetime | None = None
    """When it happened; else now. A time without an offset is UTC."""
    session_id: str | None = None
    """The session that it was said in: any string."""
    seq: int | None = None
    """Its place in the session."""
    speaker: str | None = None
    """Who said it, where that is not the agent."""
    user_id: str | None = None
    """The user whom it is about, or who said it; a purge of the user erases it."""
    source_kind: Literal["agent", "derived", "document", "tool", "user"] = "agent"
    """How it came to be known."""
    recalled_from: int | str | None = None
    """The assembly that led to it, which counts as weak feedback."""
    mission_id: str | None = None
    """Any printable name without `/` and `*`, but for `all`, `checkpoint`, `write`, `query`, `.` and `..`.
    Required unless the key is bound to one.
    """
    content: str
    """What a block of context shows."""
    agent_name: str | None = None
    """Who writes it. Required unless the key is bound to one."""
    ttl_hours: float | None = None
    """How long it lives; else as long as the mission's limits say."""
    tags: list[str] = field(default_factory=list)
    source_turn: int | None = None
    """The turn of the conversation that it comes from."""
    dispatch_id: int | str
    """The dispatch that it is written for: a sign of life. An unknown one is accepted."""
    output_url: str
    """Where the work is to be found."""
    output_summary: str | None = None
    """What it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryAnswer:
    data: QueryResult


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryResult:
    context_block: str
    """To be put into a prompt: each item fenced with its handle."""
    entries: list[CacheEntry]
    total_tokens: int
    cache_size: int
    """How many live entries the searched missions hold."""
    degraded: list[str]
    """What could not be searched as it should, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    context_type: Literal["report"] = field(default="report", init=False)
    occurred_at: datetime | None = None
    """When it happened; else now. A time without an offset is UTC."""
    session_id: str | None = None
    """The session that it was said in: any string."""
    seq: int | None = None
    """Its place in the session."""
    speaker: str | None = None
    """Who said it, where that is not the agent."""
    user_id: str | None = None
    """The user whom it is about, or who said it; a purge of the user erases it."""
    source_kind: Literal["agent", "derived", "document", "tool", "user"] = "agent"
    """How it came to be known."""
    recalled_from: int | str | None = None
    """The assembly that led to it, which counts as weak feedback."""
    mission_id: str | None = None
    """Any printable name without `/` and `*`, but for `all`, `checkpoint`, `write`, `query`, `.` and `..`.
    Required unless the key is bound to one.
    """
    content: str
    """What a block of context shows."""
    agent_name: str | None = None
    """Who writes it."""
    ttl_hours: float | None = None
    """How long it lives; else as long as the mission's limits say."""
    tags: list[str] = field(default_factory=list)
    source_turn: int | None = None
    """The turn of the conversation that it comes from."""
    dispatch_id: int | str | None = None
    """The dispatch that it is written for: a sign of life. An unknown one is accepted."""
    report_dispatch_id: int | str
    """The dispatch that it reports on."""
    report_outcome: Literal["failed", "partial", "success"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowClone:
    context_type: Literal["shadow_clone"] = field(default="shadow_clone", init=False)
    occurred_at: datetime | None = None
    """When it happened; else now. A time without an offset is UTC."""
    session_id: str | None = None
    """The session that it was said in: any string."""
    seq: int | None = None
    """Its place in the session."""
    speaker: str | None = None
    """Who said it, where that is not the agent."""
    user_id: str | None = None
    """The user whom it is about, or who said it; a purge of the user erases it."""
    source_kind: Literal["agent", "derived", "document", "tool", "user"] = "agent"
    """How it came to be known."""
    recalled_from: int | str | None = None
    """The assembly that led to it, which counts as weak feedback."""
    mission_id: str | None = None
    """Any printable name without `/` and `*`, but for `all`, `checkpoint`, `write`, `query`, `.` and `..`.
    Required unless the key is bound to one.
    """
    content: str
    """What a block of context shows."""
    agent_name: str | None = None
    """Who writes it."""
    ttl_hours: float | None = None
    """How long it lives; else as long as the mission's limits say."""
    tags: list[str] = field(default_factory=list)
    source_turn: int | None = None
    """The turn of the conversation that it comes from."""
    dispatch_id: int | str | None = None
    """The dispatch that it is written for: a sign of life. An unknown one is accepted."""
    subtasks: list[str]
    """What the clones do, side by side."""
    clone_count: int | None = None
    """How many work at it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateChange:
    context_type: Literal["state_change"] = field(default="state_change", init=False)
    occurred_at: datetime | None = None
    """When it happened; else now. A time without an offset is UTC."""
    session_id: str | None = None
    """The session that it was said in: any string."""
    seq: int | None = None
    """Its place in the session."""
    speaker: str | None = None
    """Who said it, where that is not the agent."""
    user_id: str | None = None
    """The user whom it is about, or who said it; a purge of the user erases it."""
    source_kind: Literal["agent", "derived", "document", "tool", "user"] = "agent"
    """How it came to be known."""
    recalled_from: int | str | None = None
    """The assembly that led to it, which counts as weak feedback."""
    mission_id: str | None = None
    """Any printable name without `/` and `*`, but for `all`, `checkpoint`, `write`, `query`, `.` and `..`.
    Required unless the key is bound to one.
    """
    content: str
    """What a block of context shows."""
    agent_name: str | None = None
    """Who writes it."""
    ttl_hours: float | None = None
    """How long it lives; else as long as the mission's limits say."""
    tags: list[str] = field(default_factory=list)
    source_turn: int | None = None
    """The turn of the conversation that it comes from."""
    dispatch_id: int | str | None = None
    """The dispatch that it is written for: a sign of life. An unknown one is accepted."""
    state_from: str
    state_to: str
    state_trigger: str | None = None
    """What brought it about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsAnswer:
    data: CacheStats


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadCheckpoint:
    context_type: Literal["thread_checkpoint"] = field(default="thread_checkpoint", init=False)
    occurred_at: datetime | None = None
    """When it happened; else now. A time without an offset is UTC."""
    session_id: str
    """The session that can be resumed from here."""
    seq: int | None = None
    """Its place in the session."""
    speaker: str | None = None
    """Who said it, where that is not the agent."""
    user_id: str | None = None
    """The user whom it is about, or who said it; a purge of the user erases it."""
    source_kind: Literal["agent", "derived", "document", "tool", "user"] = "agent"
    """How it came to be known."""
    recalled_from: int | str | None = None
    """The assembly that led to it, which counts as weak feedback."""
    mission_id: str | None = None
    """Any printable name without `/` and `*`, but for `all`, `checkpoint`, `write`, `query`, `.` and `..`.
    Required unless the key is bound to one.
    """
    content: str
    """What a block of context shows."""
    agent_name: str | None = None
    """Who writes it."""
    ttl_hours: float | None = None
    """How long it lives; else as long as the mission's limits say."""
    tags: list[str] = field(default_factory=list)
    source_turn: int | None = None
    """The turn of the conversation that it comes from."""
    dispatch_id: int | str | None = None
    """The dispatch that it is written for: a sign of life. An unknown one is accepted."""
    turn_count: int
    """Turns so far."""
    active_dispatches: list[str]
    open_decisions: list[str]
    pending_directives: list[str]
    current_mission_namespaces: list[str]
    """The missions that it works in."""
    working_state_prose: str
    """What one has to know to go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteAnswer:
    data: WriteResult


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteResult:
    id: int
    token_count: int
    """Estimated as characters / 4, over the content and every other field that can be read back."""
    cache_total_tokens: int
    """What the mission holds now."""
    evicted_count: int
    """Older entries that had to go, so that its budgets hold."""
    expires_at: datetime
    """When the entry is gone, unless it is evicted before."""
    indexed: bool
    """It is found by meaning already, not by its words only."""
