"""A text by lines, and without the numbers that a tool put before them. Pure."""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

_NUMBER = re.compile(r"[ \t]{0,8}+\d{1,7}+(?:→|\t|: |\| )")
# So many lines tell whether a tool numbered them.
_SAMPLE = 40
_NUMBERED = 0.8


class Point(NamedTuple):
    """A place in the plain text: a line from 0, and bytes of UTF-8 after its start."""

    row: int
    column: int


class _Reading:
    """How far a line has been decoded, so that places asked for in order cost one pass over it."""

    def __init__(self, at: Point, line: str) -> None:
        self.at = at
        self.is_blank = True
        self._bytes = line.encode("utf-8", "surrogatepass")
        self._decoder = getincrementaldecoder("utf-8")("ignore")
        self._characters = 0

    def characters_before(self, column: int) -> int:
        """`column` is no smaller than the last."""
        piece = self._bytes[self.at.column : column]
        self._characters += len(self._decoder.decode(piece))
        self.is_blank = self.is_blank and not piece.strip()
        self.at = Point(self.at.row, column)
        return self._characters


class Listing:
    """The lines of a text. `plain` is what a parser reads; offsets are characters of the text as it is."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines: Sequence[str] = text.split("\n")
        self._reading: _Reading | None = None

    @cached_property
    def plain(self) -> Sequence[str]:
        if not self._is_numbered:
            return self.lines
        return [line[mark:] for line, mark in zip(self.lines, self._marks, strict=True)]

    @cached_property
    def numbers(self) -> Sequence[str | None]:
        """Of each line, if a tool put one before it."""
        return [
            line[:mark].strip(" \t→:|") or None for line, mark in zip(self.lines, self._marks, strict=True)
        ]

    @cached_property
    def starts(self) -> Sequence[int]:
        """The offset of each line, and of the end of the text."""
        return [*accumulate((len(line) + 1 for line in self.lines), initial=0)]

    def offset(self, point: Point) -> int:
        """Where a unit begins: at the start of its line, unless other text stands before it."""
        if point.row >= len(self.plain):
            return len(self.text)
        reading = self._reading
        if reading is None or point.row != reading.at.row or point.column < reading.at.column:
            reading = self._reading = _Reading(Point(point.row, 0), self.plain[point.row])
        characters = reading.characters_before(point.column)
        if reading.is_blank:
            return self.starts[point.row]
        return self.starts[point.row] + self._marks[point.row] + characters

    @cached_property
    def _marks(self) -> Sequence[int]:
        """How many characters of each line are its number."""
        if not self._is_numbered:
            return [0] * len(self.lines)
        found = (_NUMBER.match(line) for line in self.lines)
        return [0 if mark is None else mark.end() for mark in found]

    @cached_property
    def _is_numbered(self) -> bool:
        sample = [line for line in self.lines[:_SAMPLE] if line.strip()]
        return bool(sample) and sum(_NUMBER.match(line) is not None for line in sample) >= _NUMBERED * len(
            sample
        )
