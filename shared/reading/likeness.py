"""Whether two texts say the same in nearly the same words. Pure.

It asks for the same words in the same order. Only articles, some small words, plurals, punctuation and case are passed
over. Texts that differ in a number, a sign, a negation or a name say different things, however much they share.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from functools import lru_cache
from typing import Generic, NamedTuple, TypeVar

from shared.reading.memo import remembered

T = TypeVar("T")

# The longest token that is remembered, in characters.
_MOST_KEPT = 40
# A longer text says what a shorter one does if at most this share of its words is more.
_MORE = 0.1
_AROUND = ".,;:!\"'`()[]{}*_…“”‘’«»。、，"
# Without them, a sentence says the same. What tells a direction or a time, such as `to` or `was`, is not among them.
_EMPTY = frozenset(
    [
        "a",
        "an",
        "the",
        "this",
        "that",
        "is",
        "are",
        "of",
        "on",
        "in",
        "at",
        "it",
        "its",
        "please",
        "also",
        "so",
    ]
)
# What a text says with one of these, another does not say without it.
_TURNS = frozenset(
    [
        "not",
        "no",
        "never",
        "none",
        "nobody",
        "nothing",
        "without",
        "except",
        "unless",
        "until",
        "before",
        "after",
    ]
) | frozenset(["if", "when", "only", "almost", "nearly", "but", "or", "old", "former", "previous", "cannot"])


class Wording(NamedTuple):
    """The words of a text that say something, in their order."""

    words: tuple[str, ...]

    def says(self, other: Wording) -> bool:
        """Whether it has all words of `other`, and few more. A text without words says nothing."""
        more = len(self.words) - len(other.words)
        if not 0 <= more <= _MORE * len(self.words) or not other.words:
            return False
        return self.words == other.words or (more > 0 and self._adds_little(other))

    @property
    def longer(self) -> range:
        """How many words a longer text may have that says the same."""
        own = len(self.words)
        return range(own + 1, int(own / (1 - _MORE)) + 2)

    def _adds_little(self, other: Wording) -> bool:
        rest = iter(self.words)
        more = len(self.words) - len(other.words)
        added: list[str] = []
        for word in other.words:
            for own in rest:
                if own == word:
                    break
                added.append(own)
                if len(added) > more:
                    return False
            else:
                return False
        return all(word.isalpha() and word not in _TURNS for word in (*added, *rest))


class Wordings(Generic[T]):
    """Wordings with a value each, in the order in which they were added."""

    def __init__(self) -> None:
        self._count = itertools.count()
        self._equal: dict[Wording, tuple[int, T]] = {}
        # Only those of nearly the same length can say the same.
        self._by_length: defaultdict[int, list[tuple[int, Wording, T]]] = defaultdict(list)

    def add(self, wording: Wording, value: T) -> None:
        place = next(self._count)
        self._equal.setdefault(wording, (place, value))
        self._by_length[len(wording.words)].append((place, wording, value))

    def first_that_says(self, wording: Wording) -> T | None:
        """The value of the first one added that says what `wording` does."""
        if not wording.words:
            return None
        equal = self._equal.get(wording)
        found = [] if equal is None else [equal]
        before, last = len(wording.words) - 1, wording.words[-1]
        for length in wording.longer:
            for place, known, value in self._by_length.get(length, ()):
                # Most differ at the end.
                if last in known.words[before:] and known.says(wording):
                    found.append((place, value))
                    break
        return min(found, key=lambda known: known[0])[1] if found else None


@remembered
def read(text: str) -> Wording:
    tokens = text.casefold().split()
    is_kept = max(map(len, tokens), default=0) <= _MOST_KEPT
    return Wording(tuple(filter(None, map(_kept_word if is_kept else _word, tokens))))


def _word(token: str) -> str:
    """What the token says, or an empty string."""
    word = token.strip(_AROUND)
    return _singular(word) if word.strip("-–—•") and word not in _EMPTY else ""


# Texts share most of their words.
_kept_word = lru_cache(maxsize=8_192)(_word)


def _singular(word: str) -> str:
    return (
        word[:-1]
        if len(word) > 4 and word.endswith("s") and not word.endswith("ss") and word.isalpha()
        else word
    )
