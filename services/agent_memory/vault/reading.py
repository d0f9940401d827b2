"""The lines of a text. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import asyncpg

MOST = 100_000
"""The characters of an answer, about."""
LAST_LINE = 2**31 - 1


class Lines(NamedTuple):
    text: str
    first: int
    last: int
    """Of the text, which may be less than what was asked for."""
    more: bool
    """Whether some lines that were asked for are missing at the end."""


def lines_of_text(text: str, first: int, last: int, *, begins: int = 1, ends: bool = True) -> Lines | None:
    """The lines from `first` to `last` of a text that begins on the line `begins`. None: it has none of them.

    `ends` says whether the text is all that there is.
    """
    lines = _split(text)
    wanted = lines[max(0, first - begins) : last - begins + 1]
    if not wanted:
        return None
    size, count = 0, 0
    for line in wanted:
        if count and size + len(line) > MOST:
            break
        size, count = size + len(line), count + 1
    start = max(first, begins)
    cut = count < len(wanted) or (not ends and len(lines) + begins <= last)
    return Lines("".join(wanted[:count]), start, start + count - 1, cut)


def _split(text: str) -> list[str]:
    pieces = text.split("\n")
    return [piece + "\n" for piece in pieces[:-1]] + pieces[-1:] * bool(pieces[-1])


def of_passages(rows: Sequence[asyncpg.Record], first: int, last: int, *, ends: bool) -> Lines | None:
    """From passages that follow each other."""
    if not rows:
        return None
    text = "".join(row["body"] for row in rows)
    return lines_of_text(text, first, last, begins=rows[0]["first_line"], ends=ends)
