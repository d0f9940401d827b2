"""Request and response bodies of relationships."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import Meta, field

from shared.body import Body
from shared.paging.cursors import Cursor
from shared.paging.pages import Page
from shared.text import AnyShortText, Name

Relation = Literal["parent_of", "caused_by", "references", "supersedes", "depends_on"]
Details = Annotated[dict[Name, AnyShortText], Meta(max_length=20)]


class RelateInput(Body, kw_only=True):
    """What one object of the session has to do with another."""

    source_id: UUID
    """The object that depends, refers, or was caused."""
    target_id: UUID
    """The object that it depends on, refers to, or was caused by."""
    relationship: Relation
    """What the source depends on, refers to or was caused by comes up with it. The service itself states `parent_of`,
    of a heading and what stands below it, and `supersedes`, of versions."""
    metadata: Details = field(default_factory=dict)
    """Whatever the host wants to know of it later."""

    def checks(self) -> Iterator[tuple[str, str]]:
        if self.source_id == self.target_id:
            yield "target_id", "must be another object than source_id"


class Relationship(msgspec.Struct, kw_only=True):
    """An edge between two objects of a session."""

    id: UUID
    source_id: UUID
    """Where it begins."""
    target_id: UUID
    """Where it ends."""
    relationship: Relation
    """What the source has to do with the target."""
    metadata: dict[str, str]
    """What the host said of it."""
    created_at: datetime


class Related(msgspec.Struct):
    data: Relationship
    created: bool
    """False: it was there already, and has the metadata that was sent now."""


class Relationships(Page[Relationship]):
    """A page of relationships, the earliest first."""


class RelationshipCursor(Cursor, tag="session_relationships"):
    created_at: datetime
    id: UUID


class Unrelated(msgspec.Struct):
    id: UUID
    """The relationship that is gone. Its objects are as they were."""
