"""What stands in a request in place of a block: an excerpt or a line, with the handle that brings it back. Pure.

The same block gives the same bytes on every replica. A form that requests have been sent in never changes: a better one
gets a new number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import IntEnum

import msgspec

from services.context.gateway.paging.blocks import Block, ToolCall, tokens_of

FORM = 1
MARK = "[memory "
_ARGUMENT = ("file_path", "path", "notebook_path", "url", "command", "pattern", "query")
_LONGEST_ARGUMENT, _FIRST = 120, 40
_EXCERPT_SHARE, _EXCERPT_MOST = 0.2, 3_200
# The excerpt is made of the text's ends: looking at more of it would cost time in every turn.
_LOOKED_AT = 120_000
_LINE = 160
_HEAD, _TAIL = 0.3, 0.2
_NUMBER = re.compile(r"\s{0,12}+\d{1,7}+[→\t|:]")
_DEFINING = re.compile(
    r"async def |def |class |func |fn |pub |export |interface |type |struct |impl |#{1,6} |@@|diff --git ",
    re.I,
)
_TROUBLE = re.compile(r"error|exception|fail|panic|traceback|denied|\d passed", re.I)


class Level(IntEnum):
    """How much of a block is sent. The numbers are those of the levels of a session's objects."""

    FULL = 0
    EXCERPT = 1
    STUB = 3


def handle_of(key: str) -> str:
    return f"m-{key[:12]}"


def most_tokens(tokens: int, level: Level) -> int:
    """About what a block of so many tokens takes at a level."""
    if level == Level.FULL:
        return tokens
    stub = 45
    return min(tokens, stub if level == Level.STUB else stub + _excerpt_size(4 * tokens) // 4)


def written(body: bytes, block: Block, level: Level, form: int = FORM) -> bytes | None:
    """The JSON string that stands in its place; None for a text that is no Unicode, or is shorter."""
    if form != FORM:
        return None
    try:
        text = msgspec.json.decode(body[block.start : block.end], type=str)
    except (msgspec.DecodeError, UnicodeError):
        return None
    note = _note(block, text)
    made = _excerpt(text) + "\n" + note if level == Level.EXCERPT else note
    encoded = msgspec.json.encode(made)
    return encoded if len(encoded) < block.end - block.start else None


def _note(block: Block, text: str) -> str:
    first = next((line.strip() for line in text[:_LOOKED_AT].splitlines() if line.strip()), "")
    about = f"{_about(block.call)}: " if block.call is not None else ""
    size = f"{text.count(chr(10)) + 1} lines, {tokens_of(block.end - block.start)} tokens"
    return f"{MARK}{handle_of(block.key)}] {about}{size}, “{_cut(first, _FIRST)}”"


def _about(call: ToolCall) -> str:
    try:
        given = msgspec.json.decode(call.arguments)
        given = msgspec.json.decode(given) if isinstance(given, str) else given
    except (msgspec.DecodeError, UnicodeError):
        given = None
    named = given if isinstance(given, dict) else {}
    value = next((named[name] for name in _ARGUMENT if isinstance(named.get(name), str)), "")
    return f"{call.name} {_cut(' '.join(value.split()), _LONGEST_ARGUMENT)}".strip() or "a tool's result"


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _excerpt_size(size: int) -> int:
    return min(int(size * _EXCERPT_SHARE), _EXCERPT_MOST)


def _excerpt(text: str) -> str:
    """The first lines, the last ones, and between them those that define something or tell of trouble."""
    lines = text[:_LOOKED_AT].splitlines()
    if len(text) > _LOOKED_AT:
        lines += text[-_LOOKED_AT // 8 :].splitlines()
    excerpt = _Excerpt(lines, _excerpt_size(len(text)))
    excerpt.take(range(len(lines)), _HEAD)
    excerpt.take(range(len(lines) - 1, -1, -1), _HEAD + _TAIL)
    excerpt.take((row for row, line in enumerate(lines) if _tells(line)), 1.0)
    return excerpt.text()


def _tells(line: str) -> bool:
    number = _NUMBER.match(line)
    said = line[number.end() if number else 0 : _LINE].lstrip(" \t")
    return (_DEFINING.match(said) or _TROUBLE.search(said)) is not None


class _Excerpt:
    def __init__(self, lines: Sequence[str], room: int) -> None:
        self._lines, self._room, self._taken = lines, room, 0
        self._kept: dict[int, str] = {}

    def take(self, rows: Iterable[int], share: float) -> None:
        """Until so much of the room is taken."""
        for row in rows:
            line = self._lines[row][:_LINE].rstrip()
            if row in self._kept:
                continue
            if self._taken + len(line) + 1 > self._room * share:
                break
            self._kept[row] = line
            self._taken += len(line) + 1

    def text(self) -> str:
        pieces: list[str] = []
        before = -1
        for row in sorted(self._kept):
            pieces += ["…"] if row != before + 1 else []
            pieces.append(self._kept[row])
            before = row
        return "\n".join([*pieces, "…"])
