"""Server-sent events as they arrive, each with its own bytes. Pure; in linear time, wherever the pieces are cut.

The fields are those of the HTML standard. A line ends with CR LF, LF or CR, and a blank line ends an event.
"""

from __future__ import annotations

import re
from typing import NamedTuple

# A CR at the end of what has come may be half of a CR LF.
_LINE_END = re.compile(rb"\r\n|\n|\r(?=[^\n])")
_HALF_END = (b"\r\r", b"\n\r")
_LINE = re.compile(rb"([^\r\n]*)(\r\n|\n|\r|\Z)")
_MARK = b"\xef\xbb\xbf"


class Event(NamedTuple):
    raw: bytes
    """All its bytes, with the blank line that ends it."""
    data: bytes | None
    """Its `data` lines; None if it has none, such as a comment, or is only half of an event."""


class Splitter:
    """What it has given, joined, is always the beginning of what it was fed."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self._line = 0
        self._seen = 0

    def feed(self, piece: bytes) -> list[Event]:
        """The events that have ended."""
        self._kept += piece
        events: list[Event] = []
        begin, line, at = 0, self._line, self._seen
        while end := _LINE_END.search(self._kept, at):
            if end.start() == line:
                raw = bytes(self._kept[begin : end.end()])
                events.append(Event(raw, data_of(raw)))
                begin = end.end()
            line = at = end.end()
        del self._kept[:begin]
        self._line = line - begin
        self._seen = max(self._line, len(self._kept) - 1)
        return events

    def end(self) -> list[Event]:
        """What is left when the stream ends, which mostly is half an event and means nothing."""
        rest = bytes(self._kept)
        self._kept.clear()
        self._line = self._seen = 0
        whole = rest.endswith(_HALF_END)
        return [Event(rest, data_of(rest) if whole else None)] if rest else []


def data_of(raw: bytes) -> bytes | None:
    lines = [value for name, value in map(_field, _lines(raw)) if name == b"data"]
    return b"\n".join(lines) if lines else None


def with_data(event: Event, data: bytes) -> bytes:
    """The event with other data of one line, and its other lines and line ends as they were."""
    pieces: list[bytes] = []
    put = False
    for line, end in _LINE.findall(event.raw):
        if _field(line)[0] != b"data":
            pieces += (line, end)
        elif not put:
            pieces += (b"data: ", data, end)
            put = True
    return b"".join(pieces)


def written(data: bytes, name: bytes | None = None) -> bytes:
    head = b"event: " + name + b"\n" if name is not None else b""
    return head + b"data: " + data + b"\n\n"


def _lines(raw: bytes) -> list[bytes]:
    return [line for line, _ in _LINE.findall(raw)]


def _field(line: bytes) -> tuple[bytes, bytes]:
    name, _, value = line.removeprefix(_MARK).partition(b":")
    return name, value.removeprefix(b" ")
