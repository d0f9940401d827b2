"""Bodies of what reads facts beside their pages, and of other names."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from services.agent_memory.facts.names import entity_key
from services.agent_memory.facts.schemas import NAMELESS, AnyEntity, Entity, Fact, Scope, Scoped
from shared.body import Body
from shared.paging.cursors import Cursor
from shared.paging.pages import Page
from shared.provenance import SourceKind
from shared.text import BigId

AliasStatus = Literal["created", "known"]


class TimelineCursor(Cursor, tag="fact timeline"):
    valid_from: datetime
    id: BigId


class Neighbour(Fact, kw_only=True, omit_defaults=True):
    hop: int
    """How many facts lie between it and the entity, counting itself."""


class Neighbours(msgspec.Struct):
    """What holds now around an entity, the nearest first."""

    data: list[Neighbour]
    truncated: bool
    """There is more than `limit`."""


class PredicateCount(msgspec.Struct):
    predicate: str
    facts: int
    """How many facts with it hold now."""
    subjects: int
    """How many entities have it."""


class Predicates(Page[PredicateCount]):
    """A page of predicates, in alphabetical order."""


class PredicateCursor(Cursor, tag="predicates"):
    key: str


class FactStats(msgspec.Struct):
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


class AliasInput(Scoped, kw_only=True):
    """Another name of an entity, in one scope."""

    alias: Entity
    """The other name."""
    entity: Entity
    """The entity, by any of its names."""
    source_kind: SourceKind = "agent"
    """The kind of source that says so. Only users and agents merge what users and agents stated."""

    def checks(self) -> Iterator[tuple[str, str]]:
        yield from super().checks()
        for name in ("alias", "entity"):
            if not entity_key(getattr(self, name)):
                yield name, NAMELESS
        if entity_key(self.alias) == entity_key(self.entity):
            yield "alias", "is the same name"


class WrittenAlias(msgspec.Struct):
    status: AliasStatus
    """`known`: both names were one entity before."""
    merged: int
    """How many facts moved to the entity."""
    expires_at: datetime | None = None
    """Always null: an alias never expires."""


class RemoveAliasInput(Scoped, kw_only=True):
    """Names another name of an entity, in one scope."""

    alias: AnyEntity
    """The other name."""
    source_kind: SourceKind = "agent"
    """The kind of source that says so. Only users and agents take apart what users and agents stated."""

    def checks(self) -> Iterator[tuple[str, str]]:
        yield from super().checks()
        if not entity_key(self.alias):
            yield "alias", NAMELESS


class RemovedAlias(msgspec.Struct):
    moved: int
    """How many facts went back to the name under which they were stated."""


class Alias(msgspec.Struct, omit_defaults=True, kw_only=True):
    scope: str
    alias: str
    entity: str
    """The name of the entity that it leads to."""
    agent_name: str | None = None
    written_by: str
    """The key that wrote it."""
    source_kind: str
    source_claim: str | None = None
    created_at: datetime


class Aliases(Page[Alias]):
    """A page of other names, in alphabetical order."""


class AliasCursor(Cursor, tag="aliases"):
    alias_key: str
    scope: str


class ReferencesInput(Body, kw_only=True):
    scopes: Annotated[list[Scope], Meta(min_length=1, max_length=110)]
    as_of: datetime | None = None


class References(msgspec.Struct):
    """Where scopes refer to. `any`: some scope of the tenant refers to another, or did."""

    scopes: list[str]
    any: bool
