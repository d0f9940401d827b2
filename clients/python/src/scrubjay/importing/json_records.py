"""Reads the records of a JSON document or of JSON Lines one by one, however large the file is."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, TextIO

from scrubjay.importing.items import Refused

_CHUNK = 1 << 16
_LONGEST = 1 << 24
"""Characters. A longer value is not a record."""
# An error this near to the end of what was read may come from the end: no JSON token but a string is longer.
_TOKEN = 16
_CUT = "Unterminated string"


@dataclass(frozen=True, slots=True)
class Record:
    place: str
    """Where it begins in the file, such as `line 12`, or `line 1, results[7]` within a list."""
    list: str
    """The name of the list that holds it; empty outside of lists."""
    value: Any


class _Unreadable(ValueError):
    """What stands at the place that was reached is not JSON."""


def records(file: TextIO, lists: Collection[str]) -> Iterator[Record | Refused]:
    """Records are the file's values, or the elements of an array, or those of an object's lists of these names.

    What cannot be read costs its line. Within a list it costs the rest of the file, because nothing tells where the
    next record begins.
    """
    text = _Text(file)
    while text.peek():
        line = text.line
        in_list = False
        try:
            for record in _value(text, lists):
                in_list = in_list or text.depth > 0
                yield record
        except _Unreadable as error:
            if in_list or text.depth:
                yield Refused(f"line {text.line}", f"{error}; the rest of the file was not read")
                return
            yield Refused(f"line {line}", str(error))
            text.resume_after(line)


def _value(text: _Text, lists: Collection[str]) -> Iterator[Record]:
    first = text.peek()
    if first == "[":
        yield from _elements(text, "")
    elif first == "{" and lists:
        yield from _object(text, lists)
    else:
        line = text.line
        yield Record(f"line {line}", "", text.value())


def _object(text: _Text, lists: Collection[str]) -> Iterator[Record]:
    """The elements of the object's lists, or the object itself if it has none of them."""
    line = text.line
    fields: dict[str, Any] = {}
    listed = False
    for _ in _members(text, "{", "}"):
        if text.peek() != '"':
            raise _Unreadable("is not JSON: a name is missing")
        name = text.value()
        text.take(":")
        if name in lists and text.peek() == "[":
            listed = True
            yield from _elements(text, name)
        else:
            fields[name] = text.value()
    if not listed:
        yield Record(f"line {line}", "", fields)


def _elements(text: _Text, name: str) -> Iterator[Record]:
    text.depth += 1
    for index, _ in enumerate(_members(text, "[", "]")):
        place = f"line {text.line}, {name}[{index}]"
        yield Record(place, name, text.value())
    text.depth -= 1


def _members(text: _Text, first: str, last: str) -> Iterator[None]:
    """Stops before each member, so that the caller can read it."""
    text.take(first)
    if text.peek() == last:
        text.take(last)
        return
    while True:
        text.peek()
        yield
        if text.peek() == last:
            text.take(last)
            return
        text.take(",")


class _Text:
    """What is read of a file, and the line that was reached."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._read = ""
        self._at = 0
        self._ended = False
        self._decoder = json.JSONDecoder()
        self.line = 1
        self.depth = 0
        """In how many lists."""

    def peek(self) -> str:
        """The next character that is no space; empty at the end."""
        while True:
            found = next(
                (at for at in range(self._at, len(self._read)) if not self._read[at].isspace()), None
            )
            self._advance(len(self._read) if found is None else found)
            if found is not None or not self._more():
                return self._read[self._at : self._at + 1]

    def take(self, character: str) -> None:
        if self.peek() != character:
            raise _Unreadable(f"is not JSON: {character!r} is missing")
        self._advance(self._at + 1)

    def value(self) -> Any:
        self.peek()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._read, self._at)
            except json.JSONDecodeError as error:
                if not self._may_be_cut(error) or not self._more():
                    raise _Unreadable(f"is not JSON: {error.msg}") from None
            except (ValueError, RecursionError) as error:
                raise _Unreadable(f"is not JSON that can be read: {error}") from None
            else:
                # A number may go on.
                if end < len(self._read) or self._read[end - 1] in '"}]' or not self._more():
                    self._advance(end)
                    return value

    def _may_be_cut(self, error: json.JSONDecodeError) -> bool:
        return error.msg.startswith(_CUT) or error.pos > len(self._read) - _TOKEN

    def resume_after(self, line: int) -> None:
        """Goes on at the next line, or at a record that begins on a later line than the one that could not be read."""
        if self.line > line and self._read[self._at : self._at + 1] == "{":
            return
        while (end := self._read.find("\n", self._at)) < 0:
            self._advance(len(self._read))
            if not self._more():
                return
        self._advance(end + 1)

    def _advance(self, to: int) -> None:
        self.line += self._read.count("\n", self._at, to)
        self._at = to

    def _more(self) -> bool:
        """Reads on, twice as far each time. Raises _Unreadable for a value without end."""
        if self._ended:
            return False
        left = len(self._read) - self._at
        if left > _LONGEST:
            raise _Unreadable(f"has more than {_LONGEST:,} characters")
        chunk = self._file.read(max(_CHUNK, left))
        self._ended = not chunk
        self._read = self._read[self._at :] + chunk
        self._at = 0
        return bool(chunk)
