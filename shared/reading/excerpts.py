"""Excerpts of a text: its first passage and those that say most about a question. Pure.

A passage is a sentence of prose, a line of code or of a list, or a whole fenced block of code.
"""

from __future__ import annotations

import bisect
import heapq
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple

from shared.packing import shorten
from shared.reading.memo import remembered

GAP = "…"
"""Stands where an excerpt leaves passages out before or between others."""
# A word that the excerpt already holds counts by this share in further passages.
_KNOWN = 0.5
_FENCE = re.compile(r"^ {0,3}(?:`{3,}|~{3,})([^\n]*)\n?", re.MULTILINE)
_LINE = re.compile(r"[^\n]+\n*|\n+")
_SENTENCE = re.compile(r"[.!?][\"')\]*]*\s+(?=\S)|[。！？｡।][」』”’）》】]*")
# A line that is indented, quoted or ends like this is no prose.
_NO_PROSE = re.compile(r"\A(?:[\s>$#|]|.*[:{};,)\]\\]\s*$)")
_WORD = re.compile(r"\w+")


class Wanted:
    """The lexemes of a question with their weights. A text holds one if a word of it begins like it."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self._lexemes = weights

    def words(self, text: str) -> list[tuple[int, str]]:
        """Where the text holds a lexeme, and which. Its order is not that of the text."""
        lower = text.lower()
        starts, parts = self._forms
        found = [
            (place, form)
            for form in starts
            if form in lower
            for place in _places(lower, form)
            if _begins(lower, place)
        ]
        # Words of one place are in the order of the weights, as sorting is stable.
        found.sort(key=_first)
        found.extend((place, part) for part in parts if part in lower for place in _places(lower, part))
        return found

    @cached_property
    def weights(self) -> Mapping[str, float]:
        """A lexeme of a further language follows the name of its configuration."""
        found: dict[str, float] = {}
        for lexeme, weight in self._lexemes.items():
            form = _stem(lexeme.rpartition(" ")[2])
            if weight > 0 and form:
                found[form] = max(weight, found.get(form, 0.0))
        return found

    @cached_property
    def _forms(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Those that words begin with, and those that stand anywhere: paths, and pairs of signs without spaces."""
        starts = tuple(form for form in self.weights if form.isascii() and _WORD.fullmatch(form))
        return starts, tuple(form for form in self.weights if form not in starts)


_first = itemgetter(0)


def _places(text: str, part: str) -> Iterator[int]:
    """Where the text holds a part, without overlaps."""
    place = text.find(part)
    while place >= 0:
        yield place
        place = text.find(part, place + len(part))


def _begins(text: str, place: int) -> bool:
    """Whether a word begins there."""
    before = text[place - 1] if place else " "
    return not (before.isalnum() or before == "_")


def _stem(form: str) -> str:
    """`studi` is the stem of `study`."""
    return form[:-1] if len(form) > 3 and form.endswith("i") else form


class Passages:
    """A text as passages, with the words that each of them holds. Nothing is read before the first excerpt."""

    def __init__(self, text: str, wanted: Wanted) -> None:
        self._text = text
        self._wanted = wanted
        self._spans: Sequence[Span] = ()
        self._shortest = 0
        self._held: Mapping[int, Set[str]] | None = None

    def excerpt(self, characters: int) -> str:
        """At most so many characters. A beginning, where no passage that fits holds a word of the question."""
        if not self._spans:
            self._spans = _spans_of(self._text)
            self._shortest = min((_size(span) for span in self._spans), default=0)
        if characters < self._shortest:
            # As with a text that is one passage. Nobody need know what it holds.
            return self._beginning(characters)
        if self._held is None:
            self._held = self._words_held()
        if not self._held:
            return self._beginning(characters)
        room = _Room(self._text, self._spans, characters)
        best = _Best(self._held, self._wanted.weights)
        known = best.take(room, frozenset())
        if not known:
            return self._beginning(characters)
        if room.fits(0):
            # It says what the text is about.
            room.take(0)
            known = known | best.without(0)
        while more := best.take(room, known):
            known = known | more
        room.widen()
        return room.excerpt()

    def _beginning(self, characters: int) -> str:
        """Without a part of a block of code, if anything else fits, and never with a part of a line of one."""
        if not _is_fenced(self._text) or _FENCE.search(self._text) is None:
            return shorten(self._text, characters)
        room = _Room(self._text, self._spans, characters)
        first = next(filter(room.fits, range(len(self._spans))), None)
        if first is None:
            return self._text[:characters].rpartition("\n")[0] or shorten(self._text, characters)
        room.take(first)
        room.widen()
        return room.excerpt()

    def _words_held(self) -> Mapping[int, Set[str]]:
        held: dict[int, set[str]] = {}
        words = self._wanted.words(self._text)
        stops = [span.stop for span in self._spans] if words else []
        for start, word in words:
            held.setdefault(bisect.bisect_right(stops, start), set()).add(word)
        return held


class _Best:
    """The passages that hold words of the question, the one that is worth most next first.

    A passage is worth less once its words are known, and never more. So one at the top of the heap whose worth is up to
    date is the best, and each is looked at again at most once for each of its words.
    """

    def __init__(self, held: Mapping[int, Set[str]], weights: Mapping[str, float]) -> None:
        self._held = dict(held)
        self._weights = weights
        self._heap = [
            (-self._worth(place, frozenset()), order, place) for order, place in enumerate(self._held)
        ]
        heapq.heapify(self._heap)

    def take(self, room: _Room, known: Set[str]) -> Set[str]:
        """The words of the passage taken; none if no passage that fits holds one."""
        while self._heap:
            _, order, place = heapq.heappop(self._heap)
            # The room only shrinks: what does not fit now never will.
            if place not in self._held or not room.fits(place):
                continue
            current = (-self._worth(place, known), order, place)
            if self._heap and self._heap[0] < current:
                heapq.heappush(self._heap, current)
                continue
            room.take(place)
            return self._held.pop(place)
        return frozenset()

    def without(self, place: int) -> Set[str]:
        """The words of a passage that has been taken anyway."""
        return self._held.pop(place, frozenset())

    def _worth(self, place: int, known: Set[str]) -> float:
        return sum(self._weights[word] * (_KNOWN if word in known else 1.0) for word in self._held[place])


class Span(NamedTuple):
    """A passage's characters, end exclusive, with the space after it."""

    start: int
    stop: int


def split(text: str) -> Iterator[Span]:
    """The passages of a text. Together they are all of it."""
    place = 0
    for code in _fenced(text) if _is_fenced(text) else ():
        yield from _lines(text, place, code.start)
        yield code
        place = code.stop
    yield from _lines(text, place, len(text))


@remembered
def _spans_of(text: str) -> Sequence[Span]:
    return tuple(split(text))


def _is_fenced(text: str) -> bool:
    """Whether it may be. Most texts are not."""
    return "```" in text or "~~~" in text


def _fenced(text: str) -> Iterator[Span]:
    """Blocks of code. A chunk may hold only the end of one, or only the beginning."""
    marks = list(_FENCE.finditer(text))
    if len(marks) % 2 and not marks[0][1].strip():
        yield Span(0, marks.pop(0).end())
    for opening, closing in itertools.zip_longest(marks[::2], marks[1::2]):
        yield Span(opening.start(), len(text) if closing is None else closing.end())


def _lines(text: str, start: int, stop: int) -> Iterator[Span]:
    for line in _LINE.finditer(text, start, stop):
        ends = [line.end()]
        if _NO_PROSE.match(line[0]) is None:
            sentences = (end.end() for end in _SENTENCE.finditer(text, line.start(), line.end()))
            ends = [*(end for end in sentences if end < line.end()), *ends]
        yield from itertools.starmap(Span, itertools.pairwise([line.start(), *ends]))


class _Room:
    """So many characters of a text, while they fill with passages."""

    def __init__(self, text: str, spans: Sequence[Span], characters: int) -> None:
        self._text = text
        self._spans = spans
        self._left = characters
        self._taken: set[int] = set()

    def fits(self, place: int) -> bool:
        return self._size(place) <= self._left

    def take(self, place: int) -> None:
        if place not in self._taken:
            self._left -= self._size(place)
            self._taken.add(place)

    def widen(self) -> None:
        """Takes what follows the passages, then what precedes them, as far as it fits. The first passage comes last."""
        for step in (1, -1):
            for place in sorted(self._taken, reverse=True):
                beside = place + step
                while beside in range(len(self._spans)) and beside not in self._taken and self.fits(beside):
                    self.take(beside)
                    beside += step

    def excerpt(self) -> str:
        places = sorted(self._taken)
        last = places[-1]
        pieces = [] if places[0] == 0 else [f"{GAP} "]
        for place in places:
            piece = self._text[slice(*self._spans[place])]
            pieces.append(piece if place == last or place + 1 in self._taken else _with_gap(piece))
        return "".join(pieces).rstrip()

    def _size(self, place: int) -> int:
        return _size(self._spans[place])


def _size(span: Span) -> int:
    """With the mark of a gap."""
    return span.stop - span.start + len(GAP) + 2


def _with_gap(piece: str) -> str:
    """The mark of a gap stands on a line of its own after a whole line."""
    said = piece.rstrip()
    space = "\n" if "\n" in piece[len(said) :] else " "
    return f"{said}{space}{GAP}{space}"
