"""Request and response bodies of the agent-memory service."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from shared.body import Body
from shared.remembered import Remembered
from shared.text import Content, Count, Name, Query, ShortText

MemoryType = Literal["task_blueprint", "skill_heuristic", "domain_pattern", "lesson_learned"]
Outcome = Literal["success", "partial", "failed"]
CommitStatus = Literal["created", "updated", "pending"]


class TaskContext(Body, kw_only=True):
    task_description: ShortText
    skills_used: Annotated[list[Name], Meta(max_length=100)]
    outcome: Outcome
    mission_namespace: Name | None = None


class CommitAgentMemoryInput(Remembered, kw_only=True):
    agent_name: Name
    content: Content
    memory_type: MemoryType
    task_context: TaskContext | None = None
    private: bool = False


class CommitResult(msgspec.Struct):
    """`pending`: stored, and found by text; its duplicates are looked for when its vector arrives."""

    memory_id: int
    duplicate_detected: bool
    status: CommitStatus


class QueryAgentMemoryInput(Body, kw_only=True):
    agent_name: Name
    query: Query
    memory_type: MemoryType | None = None
    limit: Annotated[int, Meta(ge=1, le=20)] = 10


class QueryPeerMemoryInput(Body, kw_only=True):
    target_agent: Name
    query: Query
    memory_type: MemoryType | None = None
    limit: Annotated[int, Meta(ge=1, le=10)] = 5


class ListAgentMemoryInput(Body, kw_only=True):
    agent_name: Name
    memory_type: MemoryType | None = None
    limit: Annotated[int, Meta(ge=1, le=100)] = 50
    offset: Count = 0


class AgentMemory(msgspec.Struct, omit_defaults=True):
    id: int
    agent_name: str
    content: str
    memory_type: str
    created_at: datetime
    updated_at: datetime
    access_count: int = 0
    confirmed_count: int = 0
    outcome: str | None = None
    task_description: str | None = None
    skills_used: list[str] = []
    mission_namespace: str | None = None
    private: bool = False
    occurred_at: datetime | None = None
    session_id: str | None = None
    seq: int | None = None
    speaker: str | None = None


class FoundMemory(AgentMemory, omit_defaults=True):
    """`score` is the composite: 0.625 relevance + 0.25 access + 0.125 outcome."""

    score: float = 0.0
    score_parts: dict[str, float] = {}


class Memories(msgspec.Struct):
    memories: list[AgentMemory]


class FoundMemories(msgspec.Struct):
    memories: list[FoundMemory]
    degraded: list[str] = []


class PendingReview(msgspec.Struct):
    counts: dict[str, int]
