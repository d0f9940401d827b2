"""Written by `make openapi` from the API's document."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from scrubjay.models.choices import Language


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchAnswer:
    data: BatchResult
    """The answer: one object, or a page of them."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchItem:
    """`status` is that of a single write, with `data` if it succeeded, or else `error` as a problem."""

    status: int
    """The status of a single write."""
    data: WriteResult | None = None
    """The answer: one object, or a page of them."""
    error: dict[str, Any] | None = None
    """The problem, where it was refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchResult:
    entries: list[BatchItem]
    """The entries, in the order of the request."""
    written: int
    """How many were written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheDeleteAnswer:
    data: DeleteResult
    """The answer: one object, or a page of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheEntry:
    """An entry as lists and queries show it. Without what the service sets, it can be written again. The
    service sets `id`, `token_count`, `created_at`, `expires_at`, `source_claim` and `superseded_by`,
    and in queries `relevance` and what follows it.
    """

    id: int
    """Its id, unique in the tenant."""
    mission_id: str
    """The mission."""
    context_type: str
    """The type of the entry, which decides its further fields."""
    content: str
    """The text."""
    token_count: int
    """Estimated over the content and every other field that can be read back."""
    created_at: datetime
    """When it was stored."""
    expires_at: datetime
    """When it expires, unless it is evicted before."""
    agent_name: str | None = None
    """Who wrote it."""
    tags: list[str] = field(default_factory=list)
    """Words to find it by, and to narrow a search to."""
    paths: list[str] = field(default_factory=list)
    """The files that its writer says it is about."""
    symbols: list[str] = field(default_factory=list)
    """The names in code that its writer says it is about."""
    step: Literal["diff", "edit", "plan", "read", "run", "test"] | None = None
    """The kind of step that its writer says it is."""
    source_turn: int | None = None
    """The turn of the conversation it comes from."""
    dispatch_id: int | None = None
    """The dispatch it was written for."""
    session_id: str | None = None
    """The session it was said in, or the session that a checkpoint can resume."""
    seq: int | None = None
    """Its number in the session."""
    speaker: str | None = None
    """Who said it, if not the agent."""
    user_id: str | None = None
    """The user it is about, or who said it."""
    occurred_at: datetime | None = None
    """When it happened, if not when it was written."""
    source_kind: Literal["agent", "derived", "document", "imported", "tool", "user"] = "agent"
    """The kind of source it is from."""
    source_claim: Literal["agent", "derived", "document", "imported", "tool", "user"] | None = None
    """What its writer says the source is, where its key may not say so."""
    recalled_from: int | None = None
    """The assembly that led to it."""
    superseded_by: int | None = None
    """The newer entry that supersedes it, as its writer stated."""
    decision_rationale: str | None = None
    """Why."""
    decision_alternatives: list[str] | None = None
    """The alternatives that were not chosen."""
    directive_target: str | None = None
    """Who must follow it."""
    directive_priority: str | None = None
    """How urgent it is."""
    intel_source: str | None = None
    """Where it comes from."""
    intel_confidence: str | None = None
    """How sure its writer is."""
    state_from: str | None = None
    """The state before."""
    state_to: str | None = None
    """The state after."""
    state_trigger: str | None = None
    """What caused it."""
    output_url: str | None = None
    """Where to find the work."""
    output_summary: str | None = None
    """What the work is."""
    report_dispatch_id: int | None = None
    """The dispatch that it reports on."""
    report_outcome: str | None = None
    """How the dispatch ended."""
    escalation_target: str | None = None
    """Who must decide."""
    escalation_reason: str | None = None
    """Why the agent cannot decide."""
    subtasks: list[str] | None = None
    """What the clones do in parallel."""
    clone_count: int | None = None
    """How many clones work on it."""
    turn_count: int | None = None
    """Turns so far."""
    active_dispatches: list[str] | None = None
    """Open dispatches."""
    open_decisions: list[str] | None = None
    """Decisions still to make."""
    pending_directives: list[str] | None = None
    """Directives still to follow."""
    current_mission_namespaces: list[str] | None = None
    """The missions that the session works in."""
    working_state_prose: str | None = None
    """What the next agent needs to know to continue."""
    relevance: float | None = None
    """In [0, 1], only in queries."""
    recency: float | None = None
    """In [0.5, 1], only in queries."""
    truncated: bool = False
    """The content is the piece that matched; tags, paths, symbols and the fields of its type are left out.
    Of queries only.
    """
    chunk: int | None = None
    """Which chunk of a long entry the piece is from, counted from 0; `/all/entries/{id}` has the whole
    entry.
    """
    chunks: int | None = None
    """How many chunks the entry has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheStats:
    mission_id: str
    """The mission."""
    total_tokens: int
    """Tokens that it holds."""
    entry_count: int
    """Entries that it holds."""
    token_budget: int
    """Tokens that it may hold."""
    entry_budget: int
    """Entries that the mission may hold."""
    ttl_hours: float
    """How many hours an entry lives that names no time to live."""
    by_type: dict[str, int]
    """Entries by type."""
    tokens_by_type: dict[str, int]
    """Tokens by type."""
    by_agent: dict[str, int]
    """Entries by agent."""
    written_count: int
    """Entries ever written."""
    evicted_count: int
    """Entries evicted for newer ones."""
    expired_count: int
    """Entries that expired."""
    cleared_count: int
    """Entries that were cleared or deleted."""
    unindexed_count: int
    """Entries that wait for their vectors."""
    created_at: datetime
    """When it was stored."""
    last_write_at: datetime
    """When something was last written to it."""
    oldest_at: datetime | None
    """When its oldest entry was stored."""
    newest_at: datetime | None
    """When its newest entry was stored."""
    next_expiry: datetime | None
    """When the next entry expires."""
    vectors_expected_at: datetime | None
    """When the unindexed entries are expected to have vectors. It is missing while none are made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedLimits:
    mission_id: str
    """The mission."""
    token_budget: int
    """Tokens that it may hold."""
    entry_budget: int
    """Entries that the mission may hold."""
    ttl_hours: float
    """How long an entry lives that names no time to live."""
    origins: LimitOrigins
    """Where each limit comes from."""
    evicted_count: int
    """Entries that went, so that the new limits hold; in a dry run, those that would go."""
    dry_run: bool
    """Nothing was changed: the answer is what would be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedLimitsAnswer:
    data: ChangedLimits
    """The answer: one object, or a page of them."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearAnswer:
    data: ClearResult
    """The answer: one object, or a page of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearResult:
    deleted_count: int
    """How many entries are gone."""
    freed_tokens: int
    """Estimated tokens that are free again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    context_type: Literal["decision"] = field(default="decision", init=False)
    """The type of the entry, which decides its further fields."""
    paths: list[str] = field(default_factory=list)
    """The files that it is about. A question that names one finds it, by the last two segments or more."""
    symbols: list[str] = field(default_factory=list)
    """The names in code that it is about. A question that holds one finds it."""
    step: Literal["diff", "edit", "plan", "read", "run", "test"] | None = None
    """Which kind of step it records. When left out, an entry's text decides."""
    occurred_at: datetime | None = None
    """When it happened, by default now and never later. A time without an offset is UTC."""
    session_id: str | None = None
    """The session it was said in: any string."""
    seq: int | None = None
    """Its number in the session."""
    speaker: str | None = None
    """Who said it, if not the agent. A block shows it as the agent's claim."""
    user_id: str | None = None
    """The user it is about, or who said it. A purge of the user erases it."""
    language: Language | None = None
    """The language of its text, whose inflections search then knows. When left out, it is detected."""
    source_kind: Literal["agent", "derived", "document", "imported", "tool", "user"] = "agent"
    """The kind of source it is from. For a key that is bound to an agent, `user` is only a claim of the
    agent. Default: `"agent"`.
    """
    recalled_from: int | str | None = None
    """The assembly that led to it. This counts as weak feedback."""
    mission_id: str | None = None
    """Any printable name without `/` and `*`, except `all`, `checkpoint`, `write`, `query`, `.` and `..`.
    Required unless the key is bound to one.
    """
    content: str
    """The text that a context block shows."""
    agent_name: str | None = None
    """The agent that writes it."""
    ttl_hours: float | None = None
    """How long it lives, by default as the mission's limits say."""
    tags: list[str] = field(default_factory=list)
    """Words to find it by, and to narrow a search to."""
    source_turn: int | None = None
    """The turn of the conversation it comes from."""
    dispatch_id: int | str | None = None
    """The dispatch it is written for, which it keeps alive. An unknown one is accepted."""
    supersedes: int | str | None = None
    """An older entry of this agent and mission that no longer holds. It stays readable, but leaves context
    blocks.
    """
    decision_rationale: str
    """Why."""
    decision_alternatives: list[str] = field(default_factory=list)
    """The alternatives that were not chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteResult:
    deleted_count: int
    """How many entries are gone."""
    freed_tokens: int
    """The estimated tokens that were freed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Directive:
    context_type: Literal["directive"] = field(default="directive", init=False)
    """The type of the entry, which decides its further fields."""
    paths: list[str] = field(default_factory=list)
    """The files that it is about. A question that names one finds it, by the last two segments or more."""
    symbols: list[str] = field(default_factory=list)
    """The names in code that it is about. A question that holds one finds it."""
    step: Literal["diff", "edit", "plan", "read", "run", "test"] | None = None
    """Which kind of step it records. When left out, an entry's text decides."""
    occurred_at: datetime | None = None
    """When it happened, by default now and never later. A time without an offset is UTC."""
    session_id: str | None = None
    """The session it was said in: any string."""
    seq: int | None = None
    """Its number in the session."""
    speaker: str | None = None
    """Who said it, if not the agent. A block shows it as the agent's claim."""
    user_id: str | None = None
    """The user it is about, or who said it. A purge of the user erases it."""
    language: Language | None = None
    """The language of its text, whose inflections search then knows. When left out, it is detected."""
    source_kind: Literal["agent", "derived", "document", "imported", "tool", "user"] = "agent"
    """The kind of source it is from. For a key that is bound to an agent, `user` is only a claim of the
    agent. Default: `"agent"`.
    """
    recalled_from: int | str | None = None
    """The assembly that led to it. This counts as weak feedback."""
    mission_id: str | None = None
    """Any printable name without `/` and `*`, except `all`, `checkpoint`, `write`, `query`, `.` and `..`.
    Required unless the key is bound to one.
    """
    content: str
    """The text that a context block shows."""
    agent_name: str | None = None
    """The agent that writes it."""
    ttl_hours: float | None = None
    """How long it lives, by default as the mission's limits say."""
    tags: list[str] = field(default_factory=list)
    """Words to find it by, and to narrow a search to."""
    source_turn: int | None = None
    """The turn of the conversation it comes from."""
    dispatch_id: int | str | None = None
    """The dispatch it is written for, which it keeps alive. An unknown one is accepted."""
    supersedes: int | str | None = None
    """An older entry of this agent and mission that no longer holds. It stays readable, but leaves context
    blocks.
    """
    directive_target: str
    """Who must follow it."""
    directive_priority: Literal["critical", "high", "low", "normal"] | None = None
    """How urgent it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    budget: int
    """Entries that found no room in the budget."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntriesAnswer:
    """A page of entries, newest first."""

    data: list[CacheEntry]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryAnswer:
    data: CacheEntry
    """The answer: one object, or a page of them."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalation:
    context_type: Literal["escalation"] = field(default="escalation", init=False)
    """The type of the entry, which decides its further fields."""
    paths: list[str] = field(default_factory=list)
    """The files that it is about. A question that names one finds it, by the last two segments or more."""
    symbols: list[str] = field(default_factory=list)
    """The names in code that it is about. A question that holds one finds it."""
    step: Literal["diff", "edit", "plan", "read", "run", "test"] | None = None
    """Which kind of step it records. When left out, an entry's text decides."""
    occurred_at: datetime | None = None
    """When it happened, by default now and never later. A time without an offset is UTC."""
    session_id: str | None = None
    """The session it was said in: any string."""
    seq: int | None = None
    """Its number in the session."""
    speaker: str | None = None
    """Who said it, if not the agent. A block shows it as the agent's claim."""
    user_id: str | None = None
    """The user it is about, or who said it. A purge of the user erases it."""
    language: Language | None = None
    """The language of its text, whose inflections search then knows. When left out, it is detected."""
    source_kind: Literal["agent", "derived", "document", "imported", "tool", "user"] = "agent"
    """The kind of source it is from. For a key that is bound to an agent, `user` is only a claim of the
    agent. Default: `"agent"`.
    """
    recalled_from: int | str | None = None
    """The assembly that led to it. This counts as weak feedback."""
    mission_id: str | None = None
    """Any printable name without `/` and `*`, except `all`, `checkpoint`, `write`, `query`, `.` and `..`.
    Required unless the key is bound to one.
    """
    content: str
    """The text that a context block shows."""
    agent_name: str | None = None
    """The agent that writes it."""
    ttl_hours: float | None = None
    """How long it lives, by default as the mission's limits say."""
    tags: list[str] = field(default_factory=list)
    """Words to find it by, and to narrow a search to."""
    source_turn: int | None = None
    """The turn of the conversation it comes from."""
    dispatch_id: int | str | None = None
    """The dispatch it is written for, which it keeps alive. An unknown one is accepted."""
    supersedes: int | str | None = None
    """An older entry of this agent and mission that no longer holds. It stays readable, but leaves context
    blocks.
    """
    escalation_target: str
    """Who must decide."""
    escalation_reason: str
    """Why the agent cannot decide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Intel:
    context_type: Literal["intel"] = field(default="intel", init=False)
    """The type of the entry, which decides its further fields."""
    paths: list[str] = field(default_factory=list)
    """The files that it is about. A question that names one finds it, by the last two segments or more."""
    symbols: list[str] = field(default_factory=list)
    """The names in code that it is about. A question that holds one finds it."""
    step: Literal["diff", "edit", "plan", "read", "run", "test"] | None = None
    """Which kind of step it records. When left out, an entry's text decides."""
    occurred_at: datetime | None = None
    """When it happened, by default now and never later. A time without an offset is UTC."""
    session_id: str | None = None
    """The session it was said in: any string."""
    seq: int | None = None
    """Its number in the session."""
    speaker: str | None = None
    """Who said it, if not the agent. A block shows it as the agent's claim."""
    user_id: str | None = None
    """The user it is about, or who said it. A purge of the user erases it."""
    language: Language | None = None
    """The language of its text, whose inflections search then knows. When left out, it is detected."""
    source_kind: Literal["agent", "derived", "document", "imported", "tool", "user"] = "agent"
    """The kind of source it is from. For a key that is bound to an agent, `user` is only a claim of the
    agent. Default: `"agent"`.
    """
    recalled_from: int | str | None = None
    """The assembly that led to it. This counts as weak feedback."""
    mission_id: str | None = None
    """Any printable name without `/` and `*`, except `all`, `checkpoint`, `write`, `query`, `.` and `..`.
    Required unless the key is bound to one.
    """
    content: str
    """The text that a context block shows."""
    agent_name: str | None = None
    """The agent that writes it."""
    ttl_hours: float | None = None
    """How long it lives, by default as the mission's limits say."""
    tags: list[str] = field(default_factory=list)
    """Words to find it by, and to narrow a search to."""
    source_turn: int | None = None
    """The turn of the conversation it comes from."""
    dispatch_id: int | str | None = None
    """The dispatch it is written for, which it keeps alive. An unknown one is accepted."""
    supersedes: int | str | None = None
    """An older entry of this agent and mission that no longer holds. It stays readable, but leaves context
    blocks.
    """
    intel_source: str
    """Where it comes from."""
    intel_confidence: Literal["high", "low", "medium"] | None = None
    """How sure it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitOrigins:
    """Whether the mission has the limit of its own, or the installation's default holds."""

    token_budget: Literal["installation", "mission"]
    """Tokens that it may hold."""
    entry_budget: Literal["installation", "mission"]
    """Entries that the mission may hold."""
    ttl_hours: Literal["installation", "mission"]
    """How many hours an entry lives that names no time to live."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsAnswer:
    data: LimitsInForce
    """The answer: one object, or a page of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsInForce:
    mission_id: str
    """The mission."""
    token_budget: int
    """Tokens that it may hold."""
    entry_budget: int
    """Entries that the mission may hold."""
    ttl_hours: float
    """How long an entry lives that names no time to live."""
    origins: LimitOrigins
    """Where each limit comes from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mission:
    mission_id: str
    """The mission."""
    total_tokens: int
    """Tokens that it holds."""
    entry_count: int
    """Entries that it holds."""
    token_budget: int
    """Tokens that it may hold."""
    entry_budget: int
    """Entries that the mission may hold."""
    written_count: int
    """Entries that were ever written to it."""
    evicted_count: int
    """Entries that were evicted to keep its budgets."""
    created_at: datetime
    """When it was stored."""
    last_write_at: datetime
    """When something was last written to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MissionLanguage:
    """The language of a mission's texts and of questions about it, where neither they nor their writer
    tells it.
    """

    mission_id: str
    """The mission."""
    language: Language | None
    """As ISO 639-1 names it; null where the tenant's holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MissionLanguageAnswer:
    data: MissionLanguage
    """The answer: one object, or a page of them."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MissionsAnswer:
    """A page of missions, by name."""

    data: list[Mission]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    context_type: Literal["output"] = field(default="output", init=False)
    """The type of the entry, which decides its further fields."""
    paths: list[str] = field(default_factory=list)
    """The files that it is about. A question that names one finds it, by the last two segments or more."""
    symbols: list[str] = field(default_factory=list)
    """The names in code that it is about. A question that holds one finds it."""
    step: Literal["diff", "edit", "plan", "read", "run", "test"] | None = None
    """Which kind of step it records. When left out, an entry's text decides."""
    occurred_at: datetime | None = None
    """When it happened, by default now and never later. A time without an offset is UTC."""
    session_id: str | None = None
    """The session it was said in: any string."""
    seq: int | None = None
    """Its number in the session."""
    speaker: str | None = None
    """Who said it, if not the agent. A block shows it as the agent's claim."""
    user_id: str | None = None
    """The user it is about, or who said it. A purge of the user erases it."""
    language: Language | None = None
    """The language of its text, whose inflections search then knows. When left out, it is detected."""
    source_kind: Literal["agent", "derived", "document", "imported", "tool", "user"] = "agent"
    """The kind of source it is from. For a key that is bound to an agent, `user` is only a claim of the
    agent. Default: `"agent"`.
    """
    recalled_from: int | str | None = None
    """The assembly that led to it. This counts as weak feedback."""
    mission_id: str | None = None
    """Any printable name without `/` and `*`, except `all`, `checkpoint`, `write`, `query`, `.` and `..`.
    Required unless the key is bound to one.
    """
    content: str
    """The text that a context block shows."""
    agent_name: str | None = None
    """The agent that writes it. Required unless the key is bound to one."""
    ttl_hours: float | None = None
    """How long it lives, by default as the mission's limits say."""
    tags: list[str] = field(default_factory=list)
    """Words to find it by, and to narrow a search to."""
    source_turn: int | None = None
    """The turn of the conversation it comes from."""
    dispatch_id: int | str
    """The dispatch it is written for, which it keeps alive. An unknown one is accepted."""
    supersedes: int | str | None = None
    """An older entry of this agent and mission that no longer holds. It stays readable, but leaves context
    blocks.
    """
    output_url: str
    """Where to find the work."""
    output_summary: str | None = None
    """What the work is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryAnswer:
    data: QueryResult
    """The answer: one object, or a page of them."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryResult:
    context_block: str
    """Text for a prompt. Each item begins with a header: `[handle time kind author nonce]`."""
    nonce: str
    """Ends each header of this block. No text in the block holds it."""
    entries: list[CacheEntry]
    """What is in the block, and the same of each: `truncated` ones show a piece."""
    dropped: Dropped
    """How many more entries matched, and why they are left out."""
    total_tokens: int
    """What the block takes, and what the entries hold besides: tags, say. It keeps the budget."""
    cache_size: int
    """How many live entries the searched missions hold."""
    degraded: list[str]
    """What could not be searched fully, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    context_type: Literal["report"] = field(default="report", init=False)
    """The type of the entry, which decides its further fields."""
    paths: list[str] = field(default_factory=list)
    """The files that it is about. A question that names one finds it, by the last two segments or more."""
    symbols: list[str] = field(default_factory=list)
    """The names in code that it is about. A question that holds one finds it."""
    step: Literal["diff", "edit", "plan", "read", "run", "test"] | None = None
    """Which kind of step it records. When left out, an entry's text decides."""
    occurred_at: datetime | None = None
    """When it happened, by default now and never later. A time without an offset is UTC."""
    session_id: str | None = None
    """The session it was said in: any string."""
    seq: int | None = None
    """Its number in the session."""
    speaker: str | None = None
    """Who said it, if not the agent. A block shows it as the agent's claim."""
    user_id: str | None = None
    """The user it is about, or who said it. A purge of the user erases it."""
    language: Language | None = None
    """The language of its text, whose inflections search then knows. When left out, it is detected."""
    source_kind: Literal["agent", "derived", "document", "imported", "tool", "user"] = "agent"
    """The kind of source it is from. For a key that is bound to an agent, `user` is only a claim of the
    agent. Default: `"agent"`.
    """
    recalled_from: int | str | None = None
    """The assembly that led to it. This counts as weak feedback."""
    mission_id: str | None = None
    """Any printable name without `/` and `*`, except `all`, `checkpoint`, `write`, `query`, `.` and `..`.
    Required unless the key is bound to one.
    """
    content: str
    """The text that a context block shows."""
    agent_name: str | None = None
    """The agent that writes it."""
    ttl_hours: float | None = None
    """How long it lives, by default as the mission's limits say."""
    tags: list[str] = field(default_factory=list)
    """Words to find it by, and to narrow a search to."""
    source_turn: int | None = None
    """The turn of the conversation it comes from."""
    dispatch_id: int | str | None = None
    """The dispatch it is written for, which it keeps alive. An unknown one is accepted."""
    supersedes: int | str | None = None
    """An older entry of this agent and mission that no longer holds. It stays readable, but leaves context
    blocks.
    """
    report_dispatch_id: int | str
    """The dispatch that it reports on."""
    report_outcome: Literal["failed", "partial", "success"]
    """How the work ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowClone:
    context_type: Literal["shadow_clone"] = field(default="shadow_clone", init=False)
    """The type of the entry, which decides its further fields."""
    paths: list[str] = field(default_factory=list)
    """The files that it is about. A question that names one finds it, by the last two segments or more."""
    symbols: list[str] = field(default_factory=list)
    """The names in code that it is about. A question that holds one finds it."""
    step: Literal["diff", "edit", "plan", "read", "run", "test"] | None = None
    """Which kind of step it records. When left out, an entry's text decides."""
    occurred_at: datetime | None = None
    """When it happened, by default now and never later. A time without an offset is UTC."""
    session_id: str | None = None
    """The session it was said in: any string."""
    seq: int | None = None
    """Its number in the session."""
    speaker: str | None = None
    """Who said it, if not the agent. A block shows it as the agent's claim."""
    user_id: str | None = None
    """The user it is about, or who said it. A purge of the user erases it."""
    language: Language | None = None
    """The language of its text, whose inflections search then knows. When left out, it is detected."""
    source_kind: Literal["agent", "derived", "document", "imported", "tool", "user"] = "agent"
    """The kind of source it is from. For a key that is bound to an agent, `user` is only a claim of the
    agent. Default: `"agent"`.
    """
    recalled_from: int | str | None = None
    """The assembly that led to it. This counts as weak feedback."""
    mission_id: str | None = None
    """Any printable name without `/` and `*`, except `all`, `checkpoint`, `write`, `query`, `.` and `..`.
    Required unless the key is bound to one.
    """
    content: str
    """The text that a context block shows."""
    agent_name: str | None = None
    """The agent that writes it."""
    ttl_hours: float | None = None
    """How long it lives, by default as the mission's limits say."""
    tags: list[str] = field(default_factory=list)
    """Words to find it by, and to narrow a search to."""
    source_turn: int | None = None
    """The turn of the conversation it comes from."""
    dispatch_id: int | str | None = None
    """The dispatch it is written for, which it keeps alive. An unknown one is accepted."""
    supersedes: int | str | None = None
    """An older entry of this agent and mission that no longer holds. It stays readable, but leaves context
    blocks.
    """
    subtasks: list[str]
    """What the clones do in parallel."""
    clone_count: int | None = None
    """How many clones work on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateChange:
    context_type: Literal["state_change"] = field(default="state_change", init=False)
    """The type of the entry, which decides its further fields."""
    paths: list[str] = field(default_factory=list)
    """The files that it is about. A question that names one finds it, by the last two segments or more."""
    symbols: list[str] = field(default_factory=list)
    """The names in code that it is about. A question that holds one finds it."""
    step: Literal["diff", "edit", "plan", "read", "run", "test"] | None = None
    """Which kind of step it records. When left out, an entry's text decides."""
    occurred_at: datetime | None = None
    """When it happened, by default now and never later. A time without an offset is UTC."""
    session_id: str | None = None
    """The session it was said in: any string."""
    seq: int | None = None
    """Its number in the session."""
    speaker: str | None = None
    """Who said it, if not the agent. A block shows it as the agent's claim."""
    user_id: str | None = None
    """The user it is about, or who said it. A purge of the user erases it."""
    language: Language | None = None
    """The language of its text, whose inflections search then knows. When left out, it is detected."""
    source_kind: Literal["agent", "derived", "document", "imported", "tool", "user"] = "agent"
    """The kind of source it is from. For a key that is bound to an agent, `user` is only a claim of the
    agent. Default: `"agent"`.
    """
    recalled_from: int | str | None = None
    """The assembly that led to it. This counts as weak feedback."""
    mission_id: str | None = None
    """Any printable name without `/` and `*`, except `all`, `checkpoint`, `write`, `query`, `.` and `..`.
    Required unless the key is bound to one.
    """
    content: str
    """The text that a context block shows."""
    agent_name: str | None = None
    """The agent that writes it."""
    ttl_hours: float | None = None
    """How long it lives, by default as the mission's limits say."""
    tags: list[str] = field(default_factory=list)
    """Words to find it by, and to narrow a search to."""
    source_turn: int | None = None
    """The turn of the conversation it comes from."""
    dispatch_id: int | str | None = None
    """The dispatch it is written for, which it keeps alive. An unknown one is accepted."""
    supersedes: int | str | None = None
    """An older entry of this agent and mission that no longer holds. It stays readable, but leaves context
    blocks.
    """
    state_from: str
    """What it was before."""
    state_to: str
    """What it is now."""
    state_trigger: str | None = None
    """What caused it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsAnswer:
    data: CacheStats
    """The answer: one object, or a page of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadCheckpoint:
    context_type: Literal["thread_checkpoint"] = field(default="thread_checkpoint", init=False)
    """The type of the entry, which decides its further fields."""
    paths: list[str] = field(default_factory=list)
    """The files that it is about. A question that names one finds it, by the last two segments or more."""
    symbols: list[str] = field(default_factory=list)
    """The names in code that it is about. A question that holds one finds it."""
    step: Literal["diff", "edit", "plan", "read", "run", "test"] | None = None
    """Which kind of step it records. When left out, an entry's text decides."""
    occurred_at: datetime | None = None
    """When it happened, by default now and never later. A time without an offset is UTC."""
    session_id: str
    """The session that can be resumed from here."""
    seq: int | None = None
    """Its number in the session."""
    speaker: str | None = None
    """Who said it, if not the agent. A block shows it as the agent's claim."""
    user_id: str | None = None
    """The user it is about, or who said it. A purge of the user erases it."""
    language: Language | None = None
    """The language of its text, whose inflections search then knows. When left out, it is detected."""
    source_kind: Literal["agent", "derived", "document", "imported", "tool", "user"] = "agent"
    """The kind of source it is from. For a key that is bound to an agent, `user` is only a claim of the
    agent. Default: `"agent"`.
    """
    recalled_from: int | str | None = None
    """The assembly that led to it. This counts as weak feedback."""
    mission_id: str | None = None
    """Any printable name without `/` and `*`, except `all`, `checkpoint`, `write`, `query`, `.` and `..`.
    Required unless the key is bound to one.
    """
    content: str
    """The text that a context block shows."""
    agent_name: str | None = None
    """The agent that writes it."""
    ttl_hours: float | None = None
    """How long it lives, by default as the mission's limits say."""
    tags: list[str] = field(default_factory=list)
    """Words to find it by, and to narrow a search to."""
    source_turn: int | None = None
    """The turn of the conversation it comes from."""
    dispatch_id: int | str | None = None
    """The dispatch it is written for, which it keeps alive. An unknown one is accepted."""
    supersedes: int | str | None = None
    """An older entry of this agent and mission that no longer holds. It stays readable, but leaves context
    blocks.
    """
    turn_count: int
    """Turns so far."""
    active_dispatches: list[str]
    """The dispatches that are under way."""
    open_decisions: list[str]
    """What is not decided yet."""
    pending_directives: list[str]
    """The directives that are not followed yet."""
    current_mission_namespaces: list[str]
    """The missions that the session works in."""
    working_state_prose: str
    """What the next agent needs to know to continue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteAnswer:
    data: WriteResult
    """The answer: one object, or a page of them."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteResult:
    id: int
    """Negative while it waits for a reviewer: no entry has it yet."""
    token_count: int
    """Estimated over the content and every other field that can be read back."""
    cache_total_tokens: int
    """Tokens that the mission now holds."""
    evicted_count: int
    """How many older entries were evicted to keep the mission's budgets."""
    expires_at: datetime
    """When the entry expires, unless it is evicted before."""
    indexed: bool
    """Search already finds it by meaning, not only by its words."""
    review: Literal["pending"] | None = None
    """`pending`: it is kept, and nobody is shown it before a reviewer approves it. Its lifetime begins
    then.
    """
