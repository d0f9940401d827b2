"""Written by `make openapi` from the API's document."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLines:
    path: str
    """Where the file lies in the vault."""
    first_line: int
    """Its first line in the file, from 1."""
    last_line: int
    """Its last line in the file."""
    text: str
    """The lines."""
    indexed: bool
    """False: it was read from the tenant's folder, and no search finds it yet."""
    next_line: int | None = None
    """Where to go on reading, if the range was longer than an answer may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePart:
    """What a handle of a block leads to."""

    id: int
    """Its id, unique in the tenant."""
    path: str
    """Where the file lies in the vault."""
    title: str
    """What the file calls itself, or else its name."""
    first_line: int
    """Its first line in the file, from 1."""
    last_line: int
    """Its last line in the file."""
    text: str
    """Its lines."""
    created_at: datetime
    """When it was stored."""
    occurred_at: datetime | None = None
    """When it happened, where that was said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePartAnswer:
    part: FilePart
    """The part of the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFiles:
    files: list[FoundPassage]
    """One passage of each file, the most relevant first."""
    degraded: list[str]
    """What was not available, such as the embedder: then files were found by their words alone."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPassage:
    """The best passage of a file."""

    handle: str
    """How a block names the item."""
    path: str
    """Where the file lies in the vault."""
    title: str
    """What the file calls itself, or else its name."""
    first_line: int
    """Its first line in the file, from 1."""
    last_line: int
    """Its last line in the file."""
    text: str
    """The passage."""
    score: float
    """The relevance, from 0 to 1."""
    created_at: datetime
    """When it was stored."""
    occurred_at: datetime | None = None
    """When it happened, where that was said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LastRun:
    """The last run over the tenant's folder, or the present one."""

    files: int
    """How many files were looked at."""
    unchanged: int
    """How many were indexed as they are."""
    changed: int
    """How many were indexed, because they are new or differ."""
    removed: int
    """How many left the index, because they are gone or no longer a file that can be indexed."""
    refused: list[RefusedFile]
    """The files that are not indexed, each with the reason: the first thousand."""
    refusals: int
    """How many they are."""
    started_at: datetime | None
    """Null: there was no run yet."""
    finished_at: datetime | None
    """Null: it is under way, or was broken off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PutFileResult:
    status: Literal["changed", "created", "unchanged"]
    """`unchanged`: nothing was written."""
    ids: list[int]
    """The ids of the parts that the piece was stored as; those of handles `vault:<id>`."""
    chunks: int
    """How many passages can be found."""
    last_line: int
    """The last line of the piece, counted from the file's first."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedFile:
    path: str
    """Where the file lies in the vault."""
    reason: str
    """Why it is not indexed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedFile:
    removed: int
    """How many parts are gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultFile:
    """A file that can be found."""

    path: str
    """Where the file lies in the vault."""
    title: str
    """What the file calls itself, or else its name."""
    format: str
    """What kind of text it is, such as markdown."""
    origin: Literal["folder", "upload"]
    """`folder`: it is indexed from the tenant's folder of the vault."""
    characters: int
    """How many characters it has."""
    lines: int
    """How many lines it has."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultFiles:
    """A page of files, by path."""

    data: list[VaultFile]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""
