"""The sections of Markdown, by their headings. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from markdown_it import MarkdownIt

from services.cache.sessions.paging.segmentation.listing import Point
from services.cache.sessions.paging.segmentation.units import Unit

# Blocks alone: what stands inside a paragraph takes the parser most of its time. A quote may take the square of it,
# and no heading of the first level stands in one.
_BLOCKS = MarkdownIt("commonmark").disable(["inline", "blockquote"])
_QUOTE = re.compile(r" {0,3}+>")
# A parser of Markdown is slow where lists nest.
_DEEPEST = 20


def units(lines: Sequence[str]) -> list[Unit]:
    found: list[Unit] = []
    above: list[tuple[int, int]] = []
    for row, level, title in headings(lines):
        while above and above[-1][0] >= level:
            above.pop()
        found.append(Unit(Point(row, 0), "section", title, above[-1][1] if above else None))
        above.append((level, len(found) - 1))
    return found


def headings(lines: Sequence[str]) -> list[tuple[int, int, str]]:
    """The row, level and title of each heading of the text's first level."""
    tokens = _BLOCKS.parse("\n".join(map(_without_nesting, lines)))
    return [
        (token.map[0], int(token.tag[1]), tokens[place + 1].content[:200])
        for place, token in enumerate(tokens)
        if token.type == "heading_open" and token.map is not None and token.level == 0
    ]


def _without_nesting(line: str) -> str:
    if _QUOTE.match(line):
        return ""
    marks = line[: len(line) - len(line.lstrip(" >*+-\t"))]
    return line if len(marks) <= _DEEPEST else line[len(marks) :]
