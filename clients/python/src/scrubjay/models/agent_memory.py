"""Written by `make openapi` from the API's document."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentMemory:
    """A memory as it is read. Without what the service sets, it can be committed again. The service sets
    `id`, `created_at`, `updated_at`, `access_count`, `confirmed_count` and `written_by`; queries add
    `score` and `score_parts`.
    """

    id: int
    agent_name: str
    content: str
    memory_type: str
    created_at: datetime
    updated_at: datetime
    access_count: int = 0
    """How often its agent read it."""
    confirmed_count: int = 0
    """How often it was said again."""
    task_context: TaskContext | None = None
    """The task that it was learned in."""
    private: bool = False
    occurred_at: datetime | None = None
    session_id: str | None = None
    seq: int | None = None
    speaker: str | None = None
    user_id: str | None = None
    """The user whom it is about, or who said it."""
    written_by: str = ""
    """The key that wrote it."""
    source_kind: Literal["agent", "derived", "document", "tool", "user"] = "agent"
    dispatch_id: int | None = None
    recalled_from: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentMemoryDeleteAnswer:
    deleted: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitAgentMemoryInput:
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
    agent_name: str | None = None
    """Required unless the key is bound to one."""
    content: str
    """What was learned, in a sentence or a few."""
    memory_type: Literal["domain_pattern", "lesson_learned", "skill_heuristic", "task_blueprint"]
    task_context: TaskContext | None = None
    """The task that it was learned in."""
    private: bool = False
    """Hidden from peers."""
    dispatch_id: int | str | None = None
    """The dispatch that it was learned in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitBatchResult:
    """In the order of the request."""

    results: list[CommitResult]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitResult:
    """`pending`: stored, and found by text; its duplicates are looked for when its vector arrives. Should
    it then turn out to be a repeat, `memory_id` leads to the memory that was there before.
    """

    memory_id: int
    duplicate_detected: bool
    """The agent had said it before: that memory is confirmed."""
    status: Literal["created", "pending", "updated"]
    """`updated`: a known memory was confirmed."""
    expires_at: datetime | None
    """Always null: a memory is kept until it is forgotten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """Who said a memory again, how often. `absorbed_id`: the repeat was a memory of its own for a while."""

    written_by: str
    source_kind: Literal["agent", "derived", "document", "tool", "user"]
    mission_namespace: str | None = None
    dispatch_id: int | None = None
    recalled_from: int | None = None
    absorbed_id: int | None = None
    count: int
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedMemory:
    """One line of an export. Vectors are not part of it: they follow from the text."""

    id: int
    agent_name: str
    content: str
    memory_type: Literal["domain_pattern", "lesson_learned", "skill_heuristic", "task_blueprint"]
    task_context: TaskContext | None = None
    private: bool = False
    occurred_at: datetime | None = None
    session_id: str | None = None
    seq: int | None = None
    speaker: str | None = None
    user_id: str | None = None
    written_by: str
    source_kind: Literal["agent", "derived", "document", "tool", "user"]
    recalled_from: int | None = None
    dispatch_id: int | None = None
    pending: bool = False
    access_count: int = 0
    confirmed_count: int = 0
    created_at: datetime
    updated_at: datetime
    confirmations: list[Confirmation] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetReceipt:
    """Rows erased, by table."""

    agent_name: str
    erased: dict[str, int]
    erased_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundMemories:
    memories: list[FoundMemory]
    degraded: list[str]
    """What could not be searched as it should, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundMemory:
    """`score` is the composite: 0.625 relevance + 0.25 access + 0.125 outcome."""

    id: int
    agent_name: str
    content: str
    memory_type: str
    created_at: datetime
    updated_at: datetime
    access_count: int = 0
    """How often its agent read it."""
    confirmed_count: int = 0
    """How often it was said again."""
    task_context: TaskContext | None = None
    """The task that it was learned in."""
    private: bool = False
    occurred_at: datetime | None = None
    session_id: str | None = None
    seq: int | None = None
    speaker: str | None = None
    user_id: str | None = None
    """The user whom it is about, or who said it."""
    written_by: str = ""
    """The key that wrote it."""
    source_kind: Literal["agent", "derived", "document", "tool", "user"] = "agent"
    dispatch_id: int | None = None
    recalled_from: int | None = None
    score: float = 0.0
    score_parts: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportResult:
    """`remapped`: {id in the file: id here}, where the id was taken by another memory or the fact was
    known.
    """

    imported: int
    already_there: int
    remapped: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Memories:
    """A page of memories, newest first."""

    data: list[AgentMemory]
    next: str | None
    """The `cursor` of the next page; null on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryAnswer:
    memory: AgentMemory
    confirmations: list[Confirmation]


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingReview:
    counts: dict[str, int]
    """Memories by agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskContext:
    task_description: str
    """What the agent was doing."""
    skills_used: list[str]
    outcome: Literal["failed", "partial", "success"]
    """How the task ended: memories of success rank higher."""
    mission_namespace: str | None = None
    """The mission that it was learned in."""
