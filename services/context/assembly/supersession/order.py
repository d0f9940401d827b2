"""Which of the candidates that say nearly the same was said last. Pure.

Imported history is all one age, and so is what is written within a minute. There, only the order tells what is newer.
"""

from __future__ import annotations

import heapq
import itertools
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from operator import attrgetter
from typing import NamedTuple

from shared.provenance import TRUSTED
from shared.reading.memo import remembered
from shared.search.evidence import Candidate
from shared.search.relevance import Scored

Item = tuple[str, int]
"""A store and an item's id there."""

# The first of several that are alike loses this share of its score, the last one nothing.
_LOSS = 0.05
# Two texts are alike if they share this part of the shorter one's words, and at least two words.
_ALIKE, _SHARED_WORDS = 0.6, 2
# Only the most relevant are compared with each other, and only texts short enough to be a statement.
_COMPARED, _LONGEST = 24, 300
_WORD = re.compile(r"\w+")
_IDLE = frozenset(
    _WORD.findall(
        "the a an is are was were to of in on at for and or i you it that this my your he she we they with be have has"
        " had do did so but not as just"
    )
)


_relevance = attrgetter("relevance")


class _Telling(NamedTuple):
    item: Item
    candidate: Candidate

    @property
    def time(self) -> tuple[float, float, int, int]:
        candidate = self.candidate
        return (
            candidate.stated_at.timestamp(),
            candidate.created_at.timestamp(),
            candidate.seq or 0,
            candidate.id,
        )

    @property
    def bounds(self) -> Hashable:
        """Only within these does order count, and never that of what is trusted less."""
        candidate = self.candidate
        return self.item[0], candidate.scope, candidate.user_id, candidate.source_kind in TRUSTED


def position(scored: Iterable[Scored]) -> Mapping[Item, float]:
    """A factor for each item that others of its scope are like: less the more of them came later."""
    scored = list(scored)
    relevances = heapq.nlargest(_COMPARED, map(_relevance, scored))
    near = (each for each in scored if each.relevance >= relevances[-1])
    best = sorted(near, key=_by_relevance)[:_COMPARED]
    older: Counter[Item] = Counter()
    newer: Counter[Item] = Counter()
    for first, second in _alike(best):
        before, after = (first, second) if first.time < second.time else (second, first)
        newer[before.item] += 1
        older[after.item] += 1
    return {item: 1 - _LOSS * count / (count + older[item]) for item, count in newer.items()}


def _by_relevance(scored: Scored) -> tuple[float, str, int, int]:
    return -scored.relevance, scored.store, scored.candidate.id, scored.candidate.chunk


def _alike(scored: Iterable[Scored]) -> Iterator[tuple[_Telling, _Telling]]:
    places: dict[str, int] = {}
    tellings = [
        (words, words.bit_count(), _Telling((each.store, each.candidate.id), each.candidate))
        for each in scored
        if len(each.candidate.text) <= _LONGEST
        for words in (_words(each.candidate.text, places),)
    ]
    for (words, size, first), (others, other_size, second) in itertools.combinations(tellings, 2):
        shared = (words & others).bit_count()
        if shared < _SHARED_WORDS or shared < _ALIKE * min(size, other_size):
            continue
        if first.item != second.item and first.bounds == second.bounds:
            yield first, second


def _words(text: str, places: dict[str, int]) -> int:
    """A bit for each word, at its place among the words of all texts."""
    found = 0
    for word in _words_of(text):
        found |= 1 << places.setdefault(word, len(places))
    return found


@remembered
def _words_of(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower())) - _IDLE
