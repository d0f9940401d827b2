"""Written by `make openapi` from the API's document."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from scrubjay.models.choices import Language


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentMemory:
    """A memory as it is read. Without what the service sets, it can be committed again. The service sets
    `id`, `created_at`, `updated_at`, `access_count`, `confirmed_count`, `confirmed_at`, `written_by`,
    `source_claim` and `superseded_by`; queries add `score` and what follows it.
    """

    id: int
    """Its id, unique in the tenant."""
    agent_name: str
    """The agent."""
    content: str
    """The text."""
    memory_type: str
    """The tier: how a task is done, a rule of thumb, how things are, or what went wrong or right."""
    created_at: datetime
    """When it was stored."""
    updated_at: datetime
    """When it was last changed."""
    access_count: int = 0
    """How often its agent read it."""
    confirmed_count: int = 0
    """How often it was committed again."""
    confirmed_at: datetime | None = None
    """When it was last stated again by a source that is trusted as much."""
    task_context: TaskContext | None = None
    """The task that it was learned in."""
    private: bool = False
    """Hidden from peers."""
    occurred_at: datetime | None = None
    """When it happened, where that was said."""
    session_id: str | None = None
    """The session that it belongs to."""
    seq: int | None = None
    """Its place in the session."""
    speaker: str | None = None
    """Who said it, where that is not the agent."""
    user_id: str | None = None
    """The user it is about, or who said it."""
    language: Language | None = None
    """The language that its writer named, or its tenant's where the content is too short to tell."""
    paths: list[str] = field(default_factory=list)
    """The files that its writer says it is about."""
    symbols: list[str] = field(default_factory=list)
    """The names in code that its writer says it is about."""
    step: Literal["diff", "edit", "plan", "read", "run", "test"] | None = None
    """The kind of step that its writer says it is."""
    written_by: str = ""
    """The key that wrote it."""
    source_kind: Literal["agent", "derived", "document", "imported", "tool", "user"] = "agent"
    """How it came to be known."""
    source_claim: Literal["agent", "derived", "document", "imported", "tool", "user"] | None = None
    """What its writer says the source is, where its key may not say so."""
    dispatch_id: int | None = None
    """The dispatch that it belongs to."""
    recalled_from: int | None = None
    """The assembly that led to it."""
    superseded_by: int | None = None
    """The newer memory that a commit said supersedes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentMemoryDeleteAnswer:
    deleted: int
    """How many memories are gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitAgentMemoryInput:
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
    agent_name: str | None = None
    """The agent. Required unless the key is bound to one."""
    content: str
    """What was learned, in one or a few sentences."""
    memory_type: Literal["domain_pattern", "lesson_learned", "skill_heuristic", "task_blueprint"]
    """The tier: how a task is done, a rule of thumb, how things are, or what went wrong or right."""
    task_context: TaskContext | None = None
    """The task it was learned in."""
    private: bool = False
    """Hide it from peers. Default: `false`."""
    dispatch_id: int | str | None = None
    """The dispatch it was learned in."""
    supersedes: int | str | None = None
    """An older memory of this agent that no longer holds. It stays readable, but leaves context blocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitBatchResult:
    """The results, in the order of the request."""

    results: list[CommitResult]
    """One for each memory of the request."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitResult:
    """`pending`: stored, and found by text. The search for duplicates follows when its vector arrives. If
    it then proves to be a repeat, `memory_id` leads to the earlier memory.
    """

    memory_id: int
    """The memory that holds it. Negative while it waits for a reviewer: no memory has it yet."""
    duplicate_detected: bool
    """The agent had committed it before, and that memory is now confirmed."""
    status: Literal["created", "pending", "updated"]
    """`updated`: a known memory was confirmed."""
    expires_at: datetime | None
    """Always null: a memory never expires."""
    review: Literal["pending"] | None = None
    """`pending`: it is kept, and nobody is shown it before a reviewer approves it."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """A source that repeated a memory, and how often. `absorbed_id` is the repeat's id if it was a memory
    at first.
    """

    written_by: str
    """The key that wrote it."""
    source_kind: Literal["agent", "derived", "document", "imported", "tool", "user"]
    """How it came to be known."""
    mission_namespace: str | None = None
    """The mission; null where there is none."""
    dispatch_id: int | None = None
    """The dispatch that it belongs to."""
    recalled_from: int | None = None
    """The assembly that led to it."""
    absorbed_id: int | None = None
    """The id of the repeat, where it was a memory of its own for a while."""
    count: int
    """How often this key said it again."""
    first_at: datetime
    """When it was first said again."""
    last_at: datetime
    """When it was last said again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedMemory:
    """One line of an export. It has no vectors, because the importer computes them from the text."""

    id: int
    """Its id, unique in the tenant."""
    agent_name: str
    """The agent."""
    content: str
    """The text."""
    memory_type: Literal["domain_pattern", "lesson_learned", "skill_heuristic", "task_blueprint"]
    """The tier: how a task is done, a rule of thumb, how things are, or what went wrong or right."""
    task_context: TaskContext | None = None
    """The task that it was learned in."""
    private: bool = False
    """Hidden from peers. Default: `false`."""
    occurred_at: datetime | None = None
    """When it happened, where that was said."""
    session_id: str | None = None
    """The session that it belongs to."""
    seq: int | None = None
    """Its place in the session."""
    speaker: str | None = None
    """Who said it, where that is not the agent."""
    user_id: str | None = None
    """The user whom it is about, or who said it."""
    language: Language | None = None
    """The language that its writer named, or its tenant's where the content is too short to tell."""
    paths: list[str] = field(default_factory=list)
    """The files that its writer says it is about."""
    symbols: list[str] = field(default_factory=list)
    """The names in code that its writer says it is about."""
    step: Literal["diff", "edit", "plan", "read", "run", "test"] | None = None
    """The kind of step that its writer says it is."""
    written_by: str
    """The key that wrote it."""
    source_kind: Literal["agent", "derived", "document", "imported", "tool", "user"]
    """How it came to be known."""
    recalled_from: int | None = None
    """The assembly that led to it."""
    dispatch_id: int | None = None
    """The dispatch that it belongs to."""
    pending: bool = False
    """Its duplicates are not looked for yet. Default: `false`."""
    access_count: int = 0
    """How often its agent read it. Default: `0`."""
    confirmed_count: int = 0
    """How often it was said again. Default: `0`."""
    confirmed_at: datetime | None = None
    """When it was last said again."""
    created_at: datetime
    """When it was stored."""
    updated_at: datetime
    """When it was last changed."""
    confirmations: list[Confirmation] = field(default_factory=list)
    """Who said it again, and how often."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetReceipt:
    """The erased rows by table."""

    agent_name: str
    """The agent."""
    erased: dict[str, int]
    """Rows erased, by table."""
    erased_at: datetime
    """When they were erased."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundMemories:
    memories: list[FoundMemory]
    """The memories."""
    degraded: list[str]
    """What could not be searched fully, and why."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundMemory:
    """`score` is the composite: 0.625 relevance + 0.25 access + 0.125 outcome. The order is by relevance,
    whose odds access raises by at most 20 % and outcome by at most 10 %.
    """

    id: int
    """Its id, unique in the tenant."""
    agent_name: str
    """The agent."""
    content: str
    """The text."""
    memory_type: str
    """The tier: how a task is done, a rule of thumb, how things are, or what went wrong or right."""
    created_at: datetime
    """When it was stored."""
    updated_at: datetime
    """When it was last changed."""
    access_count: int = 0
    """How often its agent read it."""
    confirmed_count: int = 0
    """How often it was committed again."""
    confirmed_at: datetime | None = None
    """When it was last stated again by a source that is trusted as much."""
    task_context: TaskContext | None = None
    """The task that it was learned in."""
    private: bool = False
    """Hidden from peers."""
    occurred_at: datetime | None = None
    """When it happened, where that was said."""
    session_id: str | None = None
    """The session that it belongs to."""
    seq: int | None = None
    """Its place in the session."""
    speaker: str | None = None
    """Who said it, where that is not the agent."""
    user_id: str | None = None
    """The user it is about, or who said it."""
    language: Language | None = None
    """The language that its writer named, or its tenant's where the content is too short to tell."""
    paths: list[str] = field(default_factory=list)
    """The files that its writer says it is about."""
    symbols: list[str] = field(default_factory=list)
    """The names in code that its writer says it is about."""
    step: Literal["diff", "edit", "plan", "read", "run", "test"] | None = None
    """The kind of step that its writer says it is."""
    written_by: str = ""
    """The key that wrote it."""
    source_kind: Literal["agent", "derived", "document", "imported", "tool", "user"] = "agent"
    """How it came to be known."""
    source_claim: Literal["agent", "derived", "document", "imported", "tool", "user"] | None = None
    """What its writer says the source is, where its key may not say so."""
    dispatch_id: int | None = None
    """The dispatch that it belongs to."""
    recalled_from: int | None = None
    """The assembly that led to it."""
    superseded_by: int | None = None
    """The newer memory that a commit said supersedes it."""
    score: float = 0.0
    """Its score: the product of its factors."""
    score_parts: dict[str, float] = field(default_factory=dict)
    """Relevance, access and outcome, before they are weighed."""
    truncated: bool = False
    """The content is the chunk that matched; `GET /api/agent-memory/{id}` has the whole memory."""
    chunk: int | None = None
    """Which chunk of a long memory it is, counted from 0."""
    chunks: int | None = None
    """How many chunks the memory has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportResult:
    """`remapped`: {id in the file: id here} where another memory has the id, no memory here ever had one
    so high, or the fact was known. The ids of memories that one in the file had absorbed follow.
    """

    imported: int
    """How many lines became memories."""
    already_there: int
    """How many lines said what their agent knew."""
    remapped: dict[str, int]
    """Ids that changed, by the id in the file."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memories:
    """A page of memories, newest first."""

    data: list[AgentMemory]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryAnswer:
    memory: AgentMemory
    """The memory."""
    confirmations: list[Confirmation]
    """Who said it again, and how often."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingReview:
    counts: dict[str, int]
    """Memories by agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskContext:
    task_description: str
    """What the agent was doing."""
    skills_used: list[str]
    """Skills that the task took."""
    outcome: Literal["failed", "partial", "success"]
    """How the task ended. Memories of success rank higher."""
    mission_namespace: str | None = None
    """The mission of the task."""
