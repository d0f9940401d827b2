"""The rows of a file: its parts, with the words of their chunks. SQL takes these structs as jsonb. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Literal, NamedTuple

import msgspec

from services.agent_memory.vault.conversion.formats import MARKDOWN
from services.agent_memory.vault.folders import scope_of, user_of
from services.agent_memory.vault.graph.notes import Statement, statements
from shared.provenance import head
from shared.search import code
from shared.search.lexicon import Hints, IndexedText, indexed
from shared.text import Language

Origin = Literal["upload", "folder"]
PART = 200_000
"""The characters of a part, at most."""
EVERY_FOLDER = "*"
"""The words of all files are indexed under this too, beside their folder's scope."""
_MOST_TITLE = 200
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.{0,20000}?)^(?:---|\.\.\.)[ \t]*$", re.DOTALL | re.MULTILINE)
_TITLE = re.compile(r"^title:[ \t]*(\S.*)$", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6}[ \t]+(\S.*)$", re.MULTILINE)
# Where a heading may name the file.
_BEGINNING = 4_000


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a file besides its text."""

    path: str
    format: str
    origin: Origin
    hash: bytes
    written_by: str
    agent_name: str | None = None
    piece: int = 1
    pieces: int = 1
    occurred_at: datetime | None = None
    title: str | None = None
    """None: that of the text."""


class Place(NamedTuple):
    """Where a text begins in its file."""

    part: int = 0
    line: int = 1


class FileRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of `memory.files`."""

    path: str
    part: int
    piece: int
    pieces: int
    origin: Origin
    hash: str
    """In Postgres's hex format of a bytea."""
    scope: str
    user_id: str | None
    format: str
    title: str
    characters: int
    first_line: int
    last_line: int
    next_line: int
    chunks: int
    agent_name: str | None
    written_by: str
    source_kind: str
    occurred_at: datetime | None


class ChunkWords(IndexedText, frozen=True, kw_only=True):
    """The arguments of `memory.chunk_words`, and the text and the lines of each chunk."""

    head: str
    bodies: list[str]
    first_lines: list[int]
    last_lines: list[int]


class Rows(NamedTuple):
    files: list[FileRow]
    words: list[ChunkWords]
    statements: list[Statement]
    """What it states, if it is a note."""


def rows_of(source: Source, text: str, place: Place, likely: Language | None) -> Rows:
    """`likely` is the language of a text that does not tell its own."""
    rows = Rows([], [], _statements(source, text, place))
    title = (source.title or title_of(text, source.path))[:_MOST_TITLE]
    for piece in parts(text):
        words = _words(source.path, title, piece, place.line, likely)
        rows.words.append(words)
        rows.files.append(_row(source, title, piece, place, words))
        place = Place(place.part + 1, rows.files[-1].next_line)
    return rows


def _statements(source: Source, text: str, place: Place) -> list[Statement]:
    if source.format != MARKDOWN:
        return []
    return statements(source.path, text, line=place.line, begins=source.piece == 1)


def parts(text: str) -> Iterator[str]:
    """Of at most PART characters, cut after a line where there is one."""
    start = 0
    while len(text) - start > PART:
        stop = text.rfind("\n", start, start + PART) + 1 or start + PART
        yield text[start:stop]
        start = stop
    yield text[start:]


def title_of(text: str, path: str) -> str:
    """That of the front matter, or else the first heading, or else the file's name."""
    front = _FRONT_MATTER.match(text)
    match = _TITLE.search(front[1]) if front else None
    match = match or _HEADING.search(text, 0, _BEGINNING)
    title = match[1].strip(" \t\"'#") if match else ""
    return title or path.rpartition("/")[2].rpartition(".")[0] or path


def _words(path: str, title: str, text: str, line: int, likely: Language | None) -> ChunkWords:
    hints = Hints(terms=code.given([path]), likely=likely or "en")
    words = indexed(text, hints)
    bodies = [text[start:stop] for start, stop in zip(words.starts, words.stops, strict=True)]
    first_lines = list(_lines(bodies, line))
    return ChunkWords(
        **msgspec.structs.asdict(words),
        head=head(title, None, code.spaced(path)),
        bodies=bodies,
        first_lines=first_lines,
        last_lines=[last_line(body, first) for body, first in zip(bodies, first_lines, strict=True)],
    )


def _lines(bodies: Sequence[str], line: int) -> Iterator[int]:
    for body in bodies:
        yield line
        line += body.count("\n")


def last_line(text: str, first: int) -> int:
    """The line on which a text ends that begins on `first`."""
    return first + text.count("\n") - (1 if text.endswith("\n") and len(text) > 0 else 0)


def _row(source: Source, title: str, text: str, place: Place, words: ChunkWords) -> FileRow:
    scope = scope_of(source.path)
    return FileRow(
        path=source.path,
        part=place.part,
        piece=source.piece,
        pieces=source.pieces,
        origin=source.origin,
        hash=f"\\x{source.hash.hex()}",
        scope=scope,
        user_id=user_of(scope),
        format=source.format,
        title=title,
        characters=len(text),
        first_line=place.line,
        last_line=last_line(text, place.line),
        next_line=place.line + text.count("\n"),
        chunks=len(words.starts),
        agent_name=source.agent_name,
        written_by=source.written_by,
        source_kind="document",
        occurred_at=source.occurred_at,
    )
