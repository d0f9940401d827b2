"""Request and response bodies of facts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self

import asyncpg
import msgspec
from msgspec import Meta, field

from services.agent_memory.facts.names import entity_key, predicate_key
from shared.bindings import OwnAgent, OwnMission
from shared.body import Body
from shared.paging.cursors import MAX_CURSOR, Cursor
from shared.paging.pages import Page
from shared.provenance import SourceKind
from shared.text import SEEN, AnyShortText, BigId, Name, ShortText, mission_problem

Entity = Annotated[str, Meta(min_length=1, max_length=300, pattern=SEEN)]
Predicate = Annotated[str, Meta(min_length=1, max_length=200, pattern=SEEN)]
# By any name that was ever stated.
AnyEntity = Annotated[str, Meta(min_length=1, max_length=300)]
AnyPredicate = Annotated[str, Meta(min_length=1, max_length=200)]
Confidence = Annotated[float, Meta(ge=0.0, le=1.0)]
Scope = Annotated[str, Meta(min_length=1, max_length=250)]
Cursored = Annotated[str, Meta(min_length=1, max_length=MAX_CURSOR)]
WriteStatus = Literal["created", "known", "extended"]

_SCOPE = re.compile(r"^(?:(?:mission|agent|user|project):\S.*|shared)$", re.S)
NOT_A_SCOPE = "must be mission:…, agent:…, user:…, project:… or shared"
NAMELESS = "must hold more than spaces"
_NOT_AFTER = "must be later than valid_from"
_OTHER_USER = "differs from the user of the scope"


def is_scope(text: str) -> bool:
    return _SCOPE.match(text) is not None


class Scoped(Body, kw_only=True):
    """Who may read it, and who states it."""

    scope: Scope | None = None
    """Who may read it: `mission:…`, `agent:…`, `user:…`, `project:…` or `shared`. By default its mission, or else its
    agent, or else `shared`."""
    mission_namespace: OwnMission | None = None
    """The mission whose scope it gets if `scope` is left out."""
    agent_name: OwnAgent | None = None
    """The agent that states it."""

    def checks(self) -> Iterator[tuple[str, str]]:
        if self.scope is None:
            problem = self.mission_namespace and mission_problem(self.mission_namespace)
            if problem:
                yield "mission_namespace", problem
        elif not is_scope(self.scope):
            yield "scope", NOT_A_SCOPE


class Placed(Scoped, kw_only=True):
    """Where facts are."""

    user_id: Name | None = None
    """The user it is about. A purge of the user erases it."""

    def checks(self) -> Iterator[tuple[str, str]]:
        yield from super().checks()
        scope = self.scope or ""
        if scope.startswith("user:") and self.user_id not in (None, scope[len("user:") :]):
            yield "user_id", _OTHER_USER


class FactInput(Placed, kw_only=True):
    """A triple. Names are compared without case and spacing, and kept as they are written."""

    subject: Entity
    """What it is about."""
    predicate: Predicate
    """The attribute or the relation, such as `lives in`."""
    object: ShortText
    """The value, or the name of another entity."""
    confidence: Confidence = 1.0
    """How certain it is."""
    valid_from: datetime | None = None
    """Since when it holds, by default now. A time without an offset is UTC."""
    valid_to: datetime | None = None
    """When it ceased to hold, exclusive. By default it still holds."""
    source_kind: SourceKind = "agent"
    """The kind of source it is from. Only users and agents close what users and agents stated, and the key of an agent
    closes only what this agent stated."""
    recalled_from: BigId | None = None
    """The assembly that led to it."""
    dispatch_id: BigId | None = None
    """The dispatch it was learned in."""

    def checks(self) -> Iterator[tuple[str, str]]:
        yield from super().checks()
        for name in ("subject", "object"):
            if not entity_key(getattr(self, name)):
                yield name, NAMELESS
        if not predicate_key(self.predicate):
            yield "predicate", NAMELESS
        if None not in (self.valid_from, self.valid_to) and _aware(self.valid_from) >= _aware(self.valid_to):
            yield "valid_to", _NOT_AFTER


def _aware(value: datetime | None) -> datetime:
    assert value is not None
    return value if value.tzinfo is not None else value.replace(tzinfo=UTC)


class AddFactInput(FactInput, kw_only=True):
    single: bool = False
    """The predicate has one value at a time: the subject's other open values of it are closed."""


class AddFactsInput(Body, kw_only=True):
    facts: Annotated[list[AddFactInput], Meta(min_length=1, max_length=100)]
    """The facts to add."""


class WrittenFact(msgspec.Struct):
    """What became of a statement."""

    id: int
    """The fact that holds it. Negative while it waits for a reviewer: no fact has it yet."""
    status: WriteStatus
    """`known`: it was stated before. `extended`: it was, but for less time."""
    closed: list[int] = []
    """The facts that no longer hold because of it."""
    disputes: list[int] = []
    """The facts that contradict it and that the writer may not close. They stay open; it stands beside them."""
    expires_at: datetime | None = None
    """Always null: a fact never expires."""
    review: Literal["pending"] | msgspec.UnsetType = msgspec.UNSET
    """`pending`: it is kept, and nobody is shown it before a reviewer approves it. Nothing ends because of it."""


class WrittenFacts(msgspec.Struct):
    """The results, in the order of the request."""

    results: list[WrittenFact]
    """One for each fact of the request."""


class InvalidateFactInput(Placed, kw_only=True):
    """Names a fact by its id, or facts by their subject and more."""

    id: BigId | None = None
    """The fact."""
    subject: AnyEntity | None = None
    """The entity whose facts to close, by any of its names."""
    predicate: AnyPredicate | None = None
    """Only facts of this predicate."""
    object: AnyShortText | None = None
    """Only facts with this value."""
    at: datetime | None = None
    """Since when it no longer holds, by default now. A time without an offset is UTC."""
    source_kind: SourceKind = "agent"
    """The kind of source that says so. Only users and agents close what users and agents stated."""

    def checks(self) -> Iterator[tuple[str, str]]:
        yield from super().checks()
        if (self.id is None) == (self.subject is None):
            yield "id", "give either an id or a subject"
        if self.id is not None and (self.predicate is not None or self.object is not None):
            yield "id", "cannot come with a predicate or an object"


class InvalidatedFacts(msgspec.Struct):
    closed: list[int]
    """The facts that it closed."""
    kept: list[int]
    """The facts that it left open, because a more trusted source or another agent stated them."""


class Fact(msgspec.Struct, omit_defaults=True, kw_only=True):
    """A triple as it was written, with both of its times."""

    id: int
    scope: str
    """Who may read it."""
    subject: str
    predicate: str
    object: str
    confidence: float
    valid_from: datetime
    """Since when it holds."""
    valid_to: datetime | None = field(name="valid_to")
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
    agent_name: str | None = None
    written_by: str
    """The key that wrote it."""
    source_kind: str
    source_claim: str | None = None
    """The kind of source that the writer claims, where its key may not say so."""
    source: str | None = None
    """The file of the vault that states it, with the line: `path#L10`."""
    recalled_from: int | None = None
    dispatch_id: int | None = None
    closed_by: str | None = None
    """The key that last closed it."""

    @classmethod
    def from_row(cls, row: asyncpg.Record, **more: Any) -> Self:
        return cls(**{name: row[name] for name in Fact.__struct_fields__}, **more)


class Facts(Page[Fact]):
    """A page of facts."""


class FactCursor(Cursor, tag="facts"):
    id: BigId


class QueryFactsInput(Body, kw_only=True):
    """Facts of the scopes that the key may read. Without `at` and `known_at`, those that hold now."""

    entity: AnyEntity | None = None
    """The subject or the object, by any of its names."""
    predicate: AnyPredicate | None = None
    """Only facts of this predicate."""
    at: datetime | None = None
    """Facts that held at this time. A time without an offset is UTC."""
    known_at: datetime | None = None
    """As it was believed at this time."""
    every_time: bool = False
    """Also facts that hold no longer or not yet."""
    scopes: Annotated[list[Scope], Meta(max_length=100)] = field(default_factory=list)
    """Facts of these scopes only."""
    user_id: Name | None = None
    """Facts about this user or no user."""
    limit: Annotated[int, Meta(ge=1, le=1_000)] = 100
    cursor: Cursored | None = None
    """The `next` of the previous page."""

    def checks(self) -> Iterator[tuple[str, str]]:
        for place, scope in enumerate(self.scopes):
            if not is_scope(scope):
                yield f"scopes[{place}]", NOT_A_SCOPE
        if self.every_time and self.at is not None:
            yield "at", "cannot come with every_time"
