"""Written by `make openapi` from the API's document."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class AddFactInput:
    scope: str | None = None
    """Who may read it: `mission:…`, `agent:…`, `user:…`, `project:…` or `shared`. By default its mission,
    or else its agent, or else `shared`.
    """
    mission_namespace: str | None = None
    """The mission whose scope it gets if `scope` is left out."""
    agent_name: str | None = None
    """The agent that states it."""
    user_id: str | None = None
    """The user it is about. A purge of the user erases it."""
    subject: str
    """What it is about."""
    predicate: str
    """The attribute or the relation, such as `lives in`."""
    object: str
    """The value, or the name of another entity."""
    confidence: float = 1.0
    """How certain it is. Default: `1.0`."""
    valid_from: datetime | None = None
    """Since when it holds, by default now. A time without an offset is UTC."""
    valid_to: datetime | None = None
    """When it ceased to hold, exclusive. By default it still holds."""
    source_kind: Literal["agent", "derived", "document", "imported", "tool", "user"] = "agent"
    """The kind of source it is from. Only users and agents close what users and agents stated, and the key
    of an agent closes only what this agent stated. Default: `"agent"`.
    """
    recalled_from: int | str | None = None
    """The assembly that led to it."""
    dispatch_id: int | str | None = None
    """The dispatch it was learned in."""
    single: bool = False
    """The predicate has one value at a time: the subject's other open values of it are closed. Default:
    `false`.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Alias:
    scope: str
    """Where it belongs: `mission:…`, `agent:…`, `user:…`, `project:…` or `shared`."""
    alias: str
    """The other name."""
    entity: str
    """The name of the entity that it leads to."""
    agent_name: str | None = None
    """The agent."""
    written_by: str
    """The key that wrote it."""
    source_kind: str
    """How it came to be known."""
    source_claim: str | None = None
    """The kind of source that the writer claims, where its key may not say so."""
    created_at: datetime
    """When it was stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Aliases:
    """A page of other names, in alphabetical order."""

    data: list[Alias]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A triple as it was written, with both of its times."""

    id: int
    """Its id, unique in the tenant."""
    scope: str
    """Who may read it."""
    subject: str
    """What the fact is about."""
    predicate: str
    """The attribute or the relation."""
    object: str
    """The value, or the name of another entity."""
    confidence: float
    """How certain it is, up to 1."""
    valid_from: datetime
    """Since when it holds."""
    valid_to: datetime | None
    """When it ceased to hold; null while it is open."""
    recorded_at: datetime
    """Since when it is believed to hold then."""
    superseded_at: datetime | None = None
    """When that belief ended."""
    single: bool = False
    """It was stated as the only value of its predicate."""
    disputed: bool = False
    """A source that is trusted as much or more states another value for the same time."""
    user_id: str | None = None
    """The user whom it is about, or who said it."""
    agent_name: str | None = None
    """The agent."""
    written_by: str
    """The key that wrote it."""
    source_kind: str
    """How it came to be known."""
    source_claim: str | None = None
    """The kind of source that the writer claims, where its key may not say so."""
    source: str | None = None
    """The file of the vault that states it, with the line: `path#L10`."""
    recalled_from: int | None = None
    """The assembly that led to it."""
    dispatch_id: int | None = None
    """The dispatch that it belongs to."""
    closed_by: str | None = None
    """The key that last closed it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactStats:
    """Counts of what the key may read."""

    facts: int
    """Facts that hold now."""
    believed: int
    """Also those that held before, or will."""
    recorded: int
    """Also what was believed before."""
    subjects: int
    """Entities that facts which hold now are about."""
    predicates: int
    """Predicates of facts that hold now."""
    scopes: int
    """Scopes with facts that hold now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """A page of facts."""

    data: list[Fact]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidatedFacts:
    closed: list[int]
    """The facts that it closed."""
    kept: list[int]
    """The facts that it left open, because a more trusted source or another agent stated them."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    id: int
    """Its id, unique in the tenant."""
    scope: str
    """Who may read it."""
    subject: str
    """What the fact is about."""
    predicate: str
    """The attribute or the relation."""
    object: str
    """The value, or the name of another entity."""
    confidence: float
    """How certain it is, up to 1."""
    valid_from: datetime
    """Since when it holds."""
    valid_to: datetime | None
    """When it ceased to hold; null while it is open."""
    recorded_at: datetime
    """Since when it is believed to hold then."""
    superseded_at: datetime | None = None
    """When that belief ended."""
    single: bool = False
    """It was stated as the only value of its predicate."""
    disputed: bool = False
    """A source that is trusted as much or more states another value for the same time."""
    user_id: str | None = None
    """The user whom it is about, or who said it."""
    agent_name: str | None = None
    """The agent."""
    written_by: str
    """The key that wrote it."""
    source_kind: str
    """How it came to be known."""
    source_claim: str | None = None
    """The kind of source that the writer claims, where its key may not say so."""
    source: str | None = None
    """The file of the vault that states it, with the line: `path#L10`."""
    recalled_from: int | None = None
    """The assembly that led to it."""
    dispatch_id: int | None = None
    """The dispatch that it belongs to."""
    closed_by: str | None = None
    """The key that last closed it."""
    hop: int
    """How many facts lie between it and the entity, counting itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """What holds now around an entity, the nearest first."""

    data: list[Neighbour]
    """The answer: one object, or a page of them."""
    truncated: bool
    """There is more than `limit`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PredicateCount:
    predicate: str
    """The attribute or the relation."""
    facts: int
    """How many facts with it hold now."""
    subjects: int
    """How many entities have it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicates:
    """A page of predicates, in alphabetical order."""

    data: list[PredicateCount]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedAlias:
    moved: int
    """How many facts went back to the name under which they were stated."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenAlias:
    status: Literal["created", "known"]
    """`known`: both names were one entity before."""
    merged: int
    """How many facts moved to the entity."""
    expires_at: datetime | None
    """Always null: an alias never expires."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFact:
    """What became of a statement."""

    id: int
    """The fact that holds it. Negative while it waits for a reviewer: no fact has it yet."""
    status: Literal["created", "extended", "known"]
    """`known`: it was stated before. `extended`: it was, but for less time."""
    closed: list[int]
    """The facts that no longer hold because of it."""
    disputes: list[int]
    """The facts that contradict it and that the writer may not close. They stay open; it stands beside
    them.
    """
    expires_at: datetime | None
    """Always null: a fact never expires."""
    review: Literal["pending"] | None = None
    """`pending`: it is kept, and nobody is shown it before a reviewer approves it. Nothing ends because of
    it.
    """
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFacts:
    """The results, in the order of the request."""

    results: list[WrittenFact]
    """One for each fact of the request."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""
