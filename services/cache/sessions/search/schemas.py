"""Request and response bodies of search over a session's objects."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import Meta

from services.cache.sessions.objects.schemas import ObjectType
from services.cache.sessions.paging.fidelity import Fidelity
from shared.body import Body
from shared.text import Language, Query


class SearchObjectsInput(Body, kw_only=True):
    query: Query
    """A question, or what is wanted."""
    evicted: bool = True
    """Also find what the context no longer shows."""
    superseded: bool = False
    """Also find older versions, behind everything else."""
    language: Language | None = None
    """The language of the query, detected by default."""
    limit: Annotated[int, Meta(ge=1, le=50)] = 10


class FoundObject(msgspec.Struct, kw_only=True):
    """An object that a search found."""

    id: UUID
    number: int
    """Its number in the handles of assembled context."""
    object_type: ObjectType
    source_key: str | None
    current_fidelity: Fidelity
    """0: the context shows it whole. 4: not at all."""
    stub: str
    """What it is, in a line."""
    tokens_l0: int
    """What it would take whole."""
    score: float
    """The relevance, from 0 to 1."""
    passage: str
    """The part of it that matched best."""
    start_line: int | None
    """Where the object begins in its source, counted from 1."""
    end_line: int | None
    superseded: bool = False
    """The session has a newer version."""


class NumberedObject(msgspec.Struct, kw_only=True):
    """An object as a handle of assembled context names it. All of it, whatever the context of its session shows."""

    id: UUID
    number: int
    """Its number in the handles of assembled context."""
    session_id: UUID
    object_type: ObjectType
    source_tool: str | None
    source_key: str | None
    content: str
    """All of it."""
    current_fidelity: Fidelity
    """0: the context of the session shows it whole. 4: not at all."""
    tags: list[str]
    superseded_by: UUID | None
    """The newer version of it."""
    created_at: datetime
    start_line: int | None
    """Where it begins in its source, counted from 1."""
    end_line: int | None


class NumberedAnswer(msgspec.Struct):
    data: NumberedObject


class FoundObjects(msgspec.Struct):
    objects: list[FoundObject]
    """The most relevant first."""
    degraded: list[str] = []
    """What could not be searched fully, and why."""
