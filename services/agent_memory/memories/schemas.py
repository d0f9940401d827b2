"""Request and response bodies of memories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, Self

import asyncpg
import msgspec
from msgspec import Meta

from shared.bindings import LEFT_OUT, OwnAgent
from shared.body import Body
from shared.paging.cursors import MAX_CURSOR, Cursor
from shared.paging.pages import Page
from shared.provenance import Remembered, SourceKind
from shared.text import (
    BLANK,
    AnyShortText,
    BigId,
    Content,
    Language,
    Name,
    Paths,
    Query,
    Step,
    Symbols,
    is_blank,
)

MemoryType = Literal["task_blueprint", "skill_heuristic", "domain_pattern", "lesson_learned"]
Outcome = Literal["success", "partial", "failed"]
CommitStatus = Literal["created", "updated", "pending"]


class TaskContext(Body, kw_only=True):
    task_description: AnyShortText
    """What the agent was doing."""
    skills_used: Annotated[list[Name], Meta(max_length=100)]
    outcome: Outcome
    """How the task ended. Memories of success rank higher."""
    mission_namespace: Name | None = None
    """The mission of the task."""


def _undescribed(given: TaskContext | None) -> Iterator[tuple[str, str]]:
    """What is read and imported may have a blank description, which was taken once. A write may not."""
    # A body that is refused comes as it was sent.
    if given is not None and is_blank(msgspec.convert(given, TaskContext).task_description):
        yield "task_context.task_description", BLANK


def task_context(row: Mapping[str, Any] | asyncpg.Record) -> TaskContext | None:
    """The task of a memory's row, whose columns hold all of it or nothing."""
    if row["task_description"] is None:
        return None
    return TaskContext(**{name: row[name] for name in TaskContext.__struct_fields__})


class CommitAgentMemoryInput(Remembered, kw_only=True):
    agent_name: OwnAgent = LEFT_OUT
    content: Content
    """What was learned, in one or a few sentences."""
    memory_type: MemoryType
    task_context: TaskContext | None = None
    """The task it was learned in."""
    private: bool = False
    """Hide it from peers."""
    dispatch_id: BigId | None = None
    """The dispatch it was learned in."""
    supersedes: BigId | None = None
    """An older memory of this agent that no longer holds. It stays readable, but leaves context blocks."""

    def checks(self) -> Iterator[tuple[str, str]]:
        yield from super().checks()
        yield from _undescribed(self.task_context)


class CommitResult(msgspec.Struct):
    """`pending`: stored, and found by text. The search for duplicates follows when its vector arrives.

    If it then proves to be a repeat, `memory_id` leads to the earlier memory.
    """

    memory_id: int
    """The memory that holds it. Negative while it waits for a reviewer: no memory has it yet."""
    duplicate_detected: bool
    """The agent had committed it before, and that memory is now confirmed."""
    status: CommitStatus
    """`updated`: a known memory was confirmed."""
    expires_at: datetime | None = None
    """Always null: a memory never expires."""
    review: Literal["pending"] | msgspec.UnsetType = msgspec.UNSET
    """`pending`: it is kept, and nobody is shown it before a reviewer approves it."""


class CommitBatchInput(Body, kw_only=True):
    memories: Annotated[list[CommitAgentMemoryInput], Meta(min_length=1, max_length=100)]


class CommitBatchResult(msgspec.Struct):
    """The results, in the order of the request."""

    results: list[CommitResult]
    """One for each memory of the request."""


class EditAgentMemoryInput(Body, kw_only=True):
    """Fields left out stay. `source_kind` and `language` apply only to new content."""

    content: Content | None = None
    memory_type: MemoryType | None = None
    task_context: TaskContext | None = None
    private: bool | None = None
    paths: Paths | None = None
    """The files that it is about, in place of those it had."""
    symbols: Symbols | None = None
    """The names in code that it is about, in place of those it had."""
    step: Step | None = None
    """Which kind of step it records."""
    language: Language | None = None
    """The language of new content, detected by default."""
    source_kind: SourceKind = "agent"

    def checks(self) -> Iterator[tuple[str, str]]:
        yield from _undescribed(self.task_context)


class ForgetAgentInput(Body, kw_only=True):
    agent_name: Name


class ForgetReceipt(msgspec.Struct):
    """The erased rows by table."""

    agent_name: str
    erased: dict[str, int]
    erased_at: datetime
    """When they were erased."""


class QueryAgentMemoryInput(Body, kw_only=True):
    agent_name: OwnAgent = LEFT_OUT
    """Whose memories."""
    query: Query
    """A question, or what is wanted."""
    language: Language | None = None
    """The language of the query, detected by default."""
    memory_type: MemoryType | None = None
    since: datetime | None = None
    """Memories recorded at this time or later. A time without an offset is UTC."""
    until: datetime | None = None
    """Memories recorded before this time."""
    limit: Annotated[int, Meta(ge=1, le=20)] = 10


class QueryPeerMemoryInput(Body, kw_only=True):
    target_agent: Name
    """The agent whose memories to search. Private ones stay hidden."""
    query: Query
    """A question, or what is wanted."""
    language: Language | None = None
    """The language of the query, detected by default."""
    memory_type: MemoryType | None = None
    since: datetime | None = None
    """Memories recorded at this time or later. A time without an offset is UTC."""
    until: datetime | None = None
    """Memories recorded before this time."""
    limit: Annotated[int, Meta(ge=1, le=10)] = 5


class ListAgentMemoryInput(Body, kw_only=True):
    agent_name: OwnAgent = LEFT_OUT
    memory_type: MemoryType | None = None
    since: datetime | None = None
    """Memories recorded at this time or later. A time without an offset is UTC."""
    until: datetime | None = None
    """Memories recorded before this time."""
    cursor: Annotated[str, Meta(min_length=1, max_length=MAX_CURSOR)] | None = None
    """The `next` of the page before; else the first page."""
    limit: Annotated[int, Meta(ge=1, le=100)] = 50


class AgentMemory(msgspec.Struct, omit_defaults=True):
    """A memory as it is read. Without what the service sets, it can be committed again.

    The service sets `id`, `created_at`, `updated_at`, `access_count`, `confirmed_count`, `confirmed_at`,
    `written_by`, `source_claim` and `superseded_by`; queries add `score` and what follows it.
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
    """How often it was committed again."""
    confirmed_at: datetime | None = None
    """When it was last stated again by a source that is trusted as much."""
    task_context: TaskContext | None = None
    """The task that it was learned in."""
    private: bool = False
    occurred_at: datetime | None = None
    session_id: str | None = None
    seq: int | None = None
    speaker: str | None = None
    user_id: str | None = None
    """The user it is about, or who said it."""
    language: Language | None = None
    """The language that its writer named, or its tenant's where the content is too short to tell."""
    paths: list[str] = []
    """The files that its writer says it is about."""
    symbols: list[str] = []
    """The names in code that its writer says it is about."""
    step: Step | None = None
    """The kind of step that its writer says it is."""
    written_by: str = ""
    """The key that wrote it."""
    source_kind: SourceKind = "agent"
    source_claim: SourceKind | None = None
    """What its writer says the source is, where its key may not say so."""
    dispatch_id: int | None = None
    recalled_from: int | None = None
    superseded_by: int | None = None
    """The newer memory that a commit said supersedes it."""

    @classmethod
    def from_row(cls, row: Mapping[str, Any] | asyncpg.Record, **more: Any) -> Self:
        """`row` has the columns of a memory, and others too; `more` are fields that are not read from it."""
        columns = {name: row[name] for name in _COLUMNS if name not in more}
        return cls(**columns, task_context=task_context(row), **more)


_COLUMNS = [name for name in AgentMemory.__struct_fields__ if name != "task_context"]


class Confirmation(Body, kw_only=True):
    """A source that repeated a memory, and how often. `absorbed_id` is the repeat's id if it was a memory at first."""

    written_by: Name
    source_kind: SourceKind
    mission_namespace: str | None = None
    dispatch_id: int | None = None
    recalled_from: int | None = None
    absorbed_id: int | None = None
    """The id of the repeat, where it was a memory of its own for a while."""
    count: int
    """How often this key said it again."""
    first_at: datetime
    """When it was first said again."""
    last_at: datetime
    """When it was last said again."""


class MemoryAnswer(msgspec.Struct):
    memory: AgentMemory
    """The memory."""
    confirmations: list[Confirmation]


class DeleteAnswer(msgspec.Struct):
    deleted: int
    """How many memories are gone."""


class FoundMemory(AgentMemory, omit_defaults=True):
    """`score` is the composite: 0.625 relevance + 0.25 access + 0.125 outcome.

    The order is by relevance, whose odds access raises by at most 20 % and outcome by at most 10 %.
    """

    score: float = 0.0
    score_parts: dict[str, float] = {}
    """Relevance, access and outcome, before they are weighed."""
    truncated: bool = False
    """The content is the chunk that matched; `GET /api/agent-memory/{id}` has the whole memory."""
    chunk: int | None = None
    """Which chunk of a long memory it is, counted from 0."""
    chunks: int | None = None
    """How many chunks the memory has."""


class Memories(Page[AgentMemory]):
    """A page of memories, newest first."""


class MemoryCursor(Cursor, tag="memories"):
    created_at: datetime
    id: BigId


class FoundMemories(msgspec.Struct):
    memories: list[FoundMemory]
    degraded: list[str] = []
    """What could not be searched fully, and why."""


class PendingReview(msgspec.Struct):
    counts: dict[str, int]
    """Memories by agent."""


class AccessesInput(Body, kw_only=True):
    """Items of a store that went into blocks; one that went into several stands there as often."""

    store: Name
    ids: Annotated[list[BigId], Meta(max_length=10_000)]


class Counted(msgspec.Struct):
    counted: int
