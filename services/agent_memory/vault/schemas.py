"""Request and response bodies of the vault."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from services.agent_memory.vault.folders import path_problem
from shared.body import Body
from shared.paging.cursors import Cursor
from shared.paging.pages import Page
from shared.provenance import NOT_PAST, lies_ahead
from shared.text import Language, Name, Query

Refusal = Literal["no vault", "no openat2", "not found", "refused", "not a file", "too large", "not text"]
LinkPath = Annotated[str, Meta(min_length=1, max_length=1_000)]
FilePath = Annotated[str, Meta(min_length=1, max_length=1_000, examples=["shared/runbooks/failover.md"])]
Piece = Annotated[int, Meta(ge=1, le=100)]
MAX_TEXT = 2_000_000


class LinksRequest(Body, kw_only=True):
    paths: Annotated[list[LinkPath], Meta(min_length=1, max_length=20)]
    agent: Name | None = None
    characters: Annotated[int, Meta(ge=1, le=1_000_000)] = 64_000
    """How much of each file to read: its beginning is enough for a block."""


class LinkedFile(msgspec.Struct, omit_defaults=True):
    path: str
    text: str = ""
    modified_at: datetime | None = None
    refused: Refusal | None = None
    operators: bool = False
    """It lies in the tenant's folder, and there in no agent's, mission's or user's."""


class Links(msgspec.Struct):
    files: list[LinkedFile]


class PutFileInput(Body, kw_only=True):
    path: FilePath
    """Where the file lies in the vault. Its first folders say whose it is: `agents/<name>/`, `missions/<name>/`,
    `users/<name>/`, or `shared/`."""
    text: Annotated[str, Meta(min_length=1, max_length=MAX_TEXT)] | None = None
    """The whole file, or a piece of it. That of an HTML file is converted to Markdown."""
    content: Annotated[str, Meta(min_length=1, max_length=MAX_TEXT)] | None = None
    """Instead of `text`, a file of another format in base64: PDF, office, EPUB. Its text is taken out of it."""
    piece: Piece = 1
    """The number of the piece. Pieces come in order; the first one replaces the file."""
    pieces: Piece = 1
    """How many pieces there are."""
    occurred_at: datetime | None = None
    """When the file was last changed."""

    def checks(self) -> Iterator[tuple[str, str]]:
        if (problem := path_problem(self.path)) is not None:
            yield "path", problem
        if (self.text is None) == (self.content is None):
            yield "text", "give either `text` or `content`"
        if self.content is not None and self.pieces > 1:
            yield "pieces", "a file that is converted comes in one piece"
        if self.piece > self.pieces:
            yield "piece", "must not be greater than `pieces`"
        if lies_ahead(self.occurred_at):
            yield "occurred_at", NOT_PAST


class PutFileResult(msgspec.Struct):
    status: Literal["created", "changed", "unchanged"]
    """`unchanged`: nothing was written."""
    ids: list[int]
    """The ids of the parts that the piece was stored as; those of handles `vault:<id>`."""
    chunks: int
    """How many passages can be found."""
    last_line: int
    """The last line of the piece, counted from the file's first."""


class RemovedFile(msgspec.Struct):
    removed: int
    """How many parts are gone."""


class VaultFile(msgspec.Struct, omit_defaults=True):
    """A file that can be found."""

    path: str
    title: str
    format: str
    origin: Literal["upload", "folder"]
    """`folder`: it is indexed from the tenant's folder of the vault."""
    characters: int
    lines: int
    chunks: int
    """How many passages can be found."""
    ids: list[int]
    """Its parts, in order."""
    created_at: datetime
    """When this version was stored."""
    indexed: bool = True
    """Whether it can be found by its meaning, too, and not only by its words."""
    complete: bool = True
    """Whether all pieces of the upload have arrived."""
    occurred_at: datetime | None = None
    """When it was last changed."""
    agent_name: str | None = None
    """The agent whose key wrote it."""
    written_by: str = ""
    """The key that wrote it."""


class VaultFiles(Page[VaultFile]):
    """A page of files, by path."""


class FileCursor(Cursor, tag="vault"):
    path: str


class FilePart(msgspec.Struct, omit_defaults=True):
    """What a handle of a block leads to."""

    id: int
    path: str
    title: str
    first_line: int
    last_line: int
    text: str
    """Its lines."""
    created_at: datetime
    occurred_at: datetime | None = None


class FilePartAnswer(msgspec.Struct):
    part: FilePart


class FileLines(msgspec.Struct, omit_defaults=True):
    path: str
    first_line: int
    last_line: int
    text: str
    """The lines."""
    indexed: bool
    """False: it was read from the tenant's folder, and no search finds it yet."""
    next_line: int | None = None
    """Where to go on reading, if the range was longer than an answer may be."""


class SearchVaultInput(Body, kw_only=True):
    query: Query
    """A question, or what is wanted."""
    agent_name: Name | None = None
    """Search this agent's folder and what belongs to no agent, mission or user."""
    mission_namespace: Name | None = None
    """Search this mission's folder and what belongs to no agent, mission or user."""
    user_id: Name | None = None
    """Search this user's folder and what belongs to no agent, mission or user."""
    folder: Annotated[str, Meta(min_length=1, max_length=1_000)] | None = None
    """Only files whose path begins so."""
    language: Language | None = None
    """The language of the query, detected by default."""
    limit: Annotated[int, Meta(ge=1, le=50)] = 10


class FoundPassage(msgspec.Struct, omit_defaults=True):
    """The best passage of a file."""

    handle: str
    path: str
    title: str
    first_line: int
    last_line: int
    text: str
    """The passage."""
    score: float
    """The relevance, from 0 to 1."""
    created_at: datetime
    occurred_at: datetime | None = None


class FoundFiles(msgspec.Struct):
    files: list[FoundPassage]
    """One passage of each file, the most relevant first."""
    degraded: list[str]
    """What was not available, such as the embedder: then files were found by their words alone."""
