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
SearchableScope = Annotated[str, Meta(min_length=1, max_length=250)]

_SCOPE = re.compile(r"^(?:(?:mission|agent|user|project):\S.*|shared)$", re.S)


class AssembleContextInput(Body, kw_only=True):
    query: Query
    caller: Name
    mission_namespace: Name | None = None
    token_budget: Annotated[int, Meta(ge=1, le=16_000)] | None = None
    scopes: Annotated[list[SearchableScope], Meta(max_length=100)] = field(default_factory=list)
    session_id: Name | None = None
    user_id: Name | None = None
    dispatch_id: BigId | None = None
    log: bool = True
    debug: bool = False

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
    store: str
    id: int
    chunk: int
    kind: str
    score: float
    weight: float
    relevance: float
    recency: float
    priority: float
    tokens: int
    cut: bool
    agent: str | None
    speaker: str | None
    at: datetime


class Degraded(msgspec.Struct):
    source: str
    reason: str


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
    context_block: str
    sources: list[Source]
    total_tokens: int
    retrieval_ms: float
    degraded: list[Degraded]
    low_relevance: bool
    candidates: list[Evidence] | msgspec.UnsetType = msgspec.UNSET


class ContextFeedback(Body, kw_only=True):
    assembly_id: BigId
    used_source_ids: Annotated[list[ShortText], Meta(max_length=1_000)]
    tokens_used: Count | None = None


class Success(msgspec.Struct):
    success: bool = True


class PurgeInput(Body, kw_only=True):
    scope: SearchableScope

    def __post_init__(self) -> None:
        super().__post_init__()
        if not _SCOPE.match(self.scope):
            raise ValueError("scope: must be mission:…, agent:…, user:…, project:… or shared")


class Receipt(msgspec.Struct):
    """What a purge erased: rows per table of each service."""

    scope: str
    erased: dict[str, dict[str, int]]


class Event(msgspec.Struct):
    seq: int
    kind: str
    scope: str
    mission_id: str | None
    agent_name: str | None
    session_id: str | None
    dispatch_id: int | None
    payload: dict[str, Any]
    created_at: datetime


class Events(msgspec.Struct):
    """A page of the timeline; `next_after` is where the next one begins."""

    data: list[Event]
    next_after: int
