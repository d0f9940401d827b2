"""Lines of texts that answer a question, by their words. Pure; in linear time."""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

_WORD = re.compile(r"\w{2,}")
_MOST_WORDS = 24
_MOST_LOOKED_AT = 2_000_000
_MOST_LINES = 12
_LONGEST_LINE = 400


class Line(NamedTuple):
    handle: str
    """Of its text."""
    number: int
    """From 1."""
    start: int
    """The character from which on it is shown."""


class _Found(NamedTuple):
    words: frozenset[str]
    line: Line


def lines_about(question: str, texts: Iterable[tuple[str, str]]) -> list[Line]:
    """Those that hold most of what is rare in the question; `texts` have handles before them.

    A line's score is the sum of its words' inverse document frequencies, of the lines among those found (Spärck Jones,
    1972). At most two million characters of the first texts are looked at.
    """
    words = [*dict.fromkeys(word.casefold() for word in _WORD.findall(question))][:_MOST_WORDS]
    if not words:
        return []
    found = [*_found(words, texts)]
    often = Counter(word for each in found for word in each.words)
    weight = {word: math.log(1 + len(found) / count) for word, count in often.items()}
    best = heapq.nlargest(_MOST_LINES, found, key=lambda each: sum(weight[word] for word in each.words))
    return [each.line for each in best]


def shown(lines: Sequence[Line], text_of: Callable[[str], str | None]) -> str | None:
    """None where a text or a line is not there."""
    rows: dict[str, list[str]] = {}
    told: list[str] = []
    for handle, number, start in lines:
        if handle not in rows:
            rows[handle] = (text_of(handle) or "").splitlines()
        if not 0 < number <= len(rows[handle]):
            return None
        line = rows[handle][number - 1]
        cut = line[start : start + _LONGEST_LINE].strip()
        told.append(f"[{handle} line {number}] {'…' if start else ''}{cut}")
    return "\n".join(told)


def _found(words: list[str], texts: Iterable[tuple[str, str]]) -> Iterator[_Found]:
    asked = re.compile("|".join(re.escape(word) for word in sorted(words, key=len, reverse=True)))
    left = _MOST_LOOKED_AT
    for handle, whole in texts:
        text = whole[:left]
        left -= len(text)
        for number, line in enumerate(text.splitlines(), 1):
            folded = line.casefold()
            if found := frozenset(asked.findall(folded)):
                yield _Found(found, Line(handle, number, _start(folded, asked)))
        if left <= 0:
            return


def _start(line: str, asked: re.Pattern[str]) -> int:
    """A long line is shown around the first word that was asked for."""
    match = asked.search(line)
    if len(line) <= _LONGEST_LINE or match is None:
        return 0
    return max(0, match.start() - _LONGEST_LINE // 2)
