"""Lines of a file that may still grow, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

LONGEST = 16 * 2**20
"""Bytes of a line. Longer ones hold pictures."""
_CHUNK = 2**20


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    """Counted from 1."""
    text: bytes | None
    """None for a line that is too long."""
    end: int
    """The offset at which the next line begins."""


def lines(file: BinaryIO, number: int, offset: int) -> Iterator[Line]:
    """The whole lines from `offset` on, whose first has this number. One without an end is left for later."""
    file.seek(offset)
    while part := file.readline(LONGEST):
        text: bytes | None = part
        end = offset + len(part)
        while part and not part.endswith(b"\n"):
            part = file.readline(_CHUNK)
            end += len(part)
            text = None
        if not part:
            return
        offset = end
        yield Line(number, text, end)
        number += 1
