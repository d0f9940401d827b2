"""Request and response bodies of long-term memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, Self

import asyncpg
import msgspec
from msgspec import Meta

from shared.bindings import OwnAgent
from shared.body import Body
from shared.paging.cursors import Cursor
from shared.paging.pages import Page
from shared.provenance import Remembered, SourceKind
from shared.text import BigId, Content, Label, Language, Name, Query, Step, Tags, mission_problem

Kind = Literal["preference", "knowledge", "summary", "episode", "commitment"]
Status = Literal["open", "done", "expired", "cancelled"]
Arm = Literal["text", "vector", "both"]
MemoryScope = Annotated[
    str, Meta(max_length=250, pattern=r"^(?:(?:user|agent|mission|project):[^\s\x00][^\x00]*|shared)$")
]
MemoryOrigin = Annotated[str, Meta(min_length=1, max_length=500)]

_OF_KIND: Mapping[str, Kind] = {
    "tone": "episode",
    "ended_at": "episode",
    "owed_by": "commitment",
    "owed_to": "commitment",
    "due_at": "commitment",
    "status": "commitment",
}


def misplaced(body: Body, kind: str) -> Iterator[tuple[str, str]]:
    """The fields of `body` that memories of this kind do not have."""
    for name, owner in _OF_KIND.items():
        if owner != kind and getattr(body, name, None) is not None:
            yield name, f"belongs to a memory of kind {owner}"


class WriteMemoryInput(Remembered, kw_only=True):
    kind: Kind
    """`preference`, `knowledge` and `summary` are documents. An `episode` is what happened; a `commitment` is what
    somebody promised."""
    content: Content
    """What to remember, in its own words."""
    scope: MemoryScope | None = None
    """Who finds it: `user:…`, `agent:…`, `mission:…`, `project:…` or `shared`. Left out, the user's, or else the
    agent's."""
    agent_name: OwnAgent | None = None
    """The agent that writes it."""
    topics: Tags = msgspec.field(default_factory=list)
    """What it is about, in a few words. A question that uses them finds it."""
    tone: Label | None = None
    """The mood of an episode, such as `relieved`."""
    ended_at: datetime | None = None
    """When an episode ended. It began at `occurred_at`."""
    owed_by: Name | None = None
    """Who made the promise."""
    owed_to: Name | None = None
    """To whom it was made."""
    due_at: datetime | None = None
    """When the promise is due. An open commitment expires then. A time without an offset is UTC."""
    origin: MemoryOrigin | None = None
    """The system that it is imported from, and its id there, such as `mem0:8f2b…`. The scope keeps one memory of this
    kind and origin: writing it again changes nothing, even if its text was changed in the meantime."""
    supersedes: BigId | None = None
    """An older memory of the same scope that no longer holds. It stays readable, but leaves context blocks."""

    def checks(self) -> Iterator[tuple[str, str]]:
        yield from super().checks()
        yield from misplaced(self, self.kind)
        kind, _, name = (self.scope or "").partition(":")
        if kind == "mission" and (problem := mission_problem(name)):
            yield "scope", f"the mission's name {problem}"
        if kind == "user" and self.user_id not in (None, name):
            yield "user_id", "differs from the user of the scope"


class WriteBatchInput(Body, kw_only=True):
    memories: Annotated[list[WriteMemoryInput], Meta(min_length=1, max_length=100)]


class WrittenMemory(msgspec.Struct):
    id: int
    """Negative while it waits for a reviewer: no memory has it yet."""
    scope: str
    """Where it was stored."""
    status: Literal["created", "known"]
    """`known`: the scope had it already, unchanged."""
    expires_at: datetime | None = None
    """Always null: it is kept until it is deleted."""
    review: Literal["pending"] | msgspec.UnsetType = msgspec.UNSET
    """`pending`: it is kept, and nobody is shown it before a reviewer approves it."""


class WrittenMemories(msgspec.Struct):
    """The results, in the order of the request."""

    results: list[WrittenMemory]
    """One for each memory of the request."""


class EditMemoryInput(Body, kw_only=True):
    """Fields left out stay. `source_kind` and `language` apply only to new content."""

    content: Content | None = None
    topics: Tags | None = None
    """What it is about, in place of what was there."""
    tone: Name | None = None
    """The mood of an episode."""
    ended_at: datetime | None = None
    """When an episode ended."""
    owed_by: Name | None = None
    """Who made the promise."""
    owed_to: Name | None = None
    """To whom it was made."""
    due_at: datetime | None = None
    """A later time opens an expired commitment again."""
    status: Literal["open", "done", "cancelled"] | None = None
    """What became of a commitment. Only the clock makes it `expired`."""
    language: Language | None = None
    """The language of new content, detected by default."""
    source_kind: SourceKind = "agent"


class LongTermMemory(msgspec.Struct, omit_defaults=True):
    id: int
    kind: Kind
    """`preference`, `knowledge` and `summary` are documents."""
    scope: str
    content: str
    created_at: datetime
    updated_at: datetime
    agent_name: str | None = None
    """The agent that wrote it."""
    user_id: str | None = None
    """The user it is about."""
    topics: list[str] = []
    """What it is about, in a few words."""
    tone: str | None = None
    """The mood of an episode."""
    ended_at: datetime | None = None
    """When an episode ended."""
    owed_by: str | None = None
    """Who made the promise."""
    owed_to: str | None = None
    """To whom it was made."""
    due_at: datetime | None = None
    """When the promise is due."""
    status: Status | None = None
    """Of a commitment. It is `expired` from the moment when an open one is due."""
    occurred_at: datetime | None = None
    session_id: str | None = None
    seq: int | None = None
    speaker: str | None = None
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
    recalled_from: int | None = None
    origin: str | None = None
    """The system that it was imported from, and its id there."""
    superseded_by: int | None = None
    """The newer memory that a write said supersedes it."""

    @classmethod
    def from_row(cls, row: Mapping[str, Any] | asyncpg.Record) -> Self:
        """`row` has the columns of a memory, and others too."""
        return cls(**{name: row[name] for name in COLUMNS})


COLUMNS = LongTermMemory.__struct_fields__


class DeletedMemory(msgspec.Struct):
    deleted: int
    """The id of the memory that is gone."""


class LongTermMemories(Page[LongTermMemory]):
    """A page of memories, newest first."""


class LongTermCursor(Cursor, tag="long_term"):
    id: BigId


class DueCommitments(Page[LongTermMemory]):
    """A page of commitments, the one that is due first first."""


class DueCursor(Cursor, tag="due"):
    due_at: datetime
    id: BigId


class SearchMemoryInput(Body, kw_only=True):
    query: Query
    """A question, or what is wanted."""
    agent_name: OwnAgent | None = None
    """The agent that asks: its own scope is searched."""
    user_id: Name | None = None
    """The user that it is for: the user's scope is searched, and nothing about other users is found."""
    scopes: Annotated[list[MemoryScope], Meta(max_length=100)] = msgspec.field(default_factory=list)
    """Further scopes to search. `shared` always is."""
    kinds: Annotated[list[Kind], Meta(max_length=5)] = msgspec.field(default_factory=list)
    """Only memories of these kinds."""
    language: Language | None = None
    """The language of the query, detected by default."""
    limit: Annotated[int, Meta(ge=1, le=50)] = 10


class FoundLongTerm(LongTermMemory, omit_defaults=True):
    score: float = 0.0
    """The relevance, from 0 to 1."""
    truncated: bool = False
    """The content is the chunk that matched; `GET /api/memory/{id}` has the whole memory."""
    chunk: int | None = None
    """Which chunk of a long memory it is, counted from 0."""
    chunks: int | None = None
    """How many chunks the memory has."""


class FoundLongTerms(msgspec.Struct):
    memories: list[FoundLongTerm]
    """The most relevant first."""
    arm: Arm
    """Which arm of the search found them. `text` needed no embedding of the query."""
    degraded: list[str] = []
    """What could not be searched fully, and why."""


class ListFilter(msgspec.Struct, frozen=True, kw_only=True):
    scope: str | None = None
    kind: str | None = None
    status: str | None = None
    user_id: str | None = None
