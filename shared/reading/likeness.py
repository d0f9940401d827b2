"""Whether two texts say the same in nearly the same words. Pure.

It asks for the same words in the same order. Only articles, some small words, plurals, punctuation and case are passed
over. Texts that differ in a number, a sign, a negation or a name say different things, however much they share.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

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

    def _adds_little(self, other: Wording) -> bool:
        rest = iter(self.words)
        added: list[str] = []
        for word in other.words:
            for own in rest:
                if own == word:
                    break
                added.append(own)
            else:
                return False
        return all(word.isalpha() and word not in _TURNS for word in (*added, *rest))


def read(text: str) -> Wording:
    return Wording(tuple(_words(text)))


def _words(text: str) -> Iterator[str]:
    for token in text.casefold().split():
        word = token.strip(_AROUND)
        if word.strip("-–—•") and word not in _EMPTY:
            yield _singular(word)


def _singular(word: str) -> str:
    return (
        word[:-1]
        if len(word) > 4 and word.endswith("s") and not word.endswith("ss") and word.isalpha()
        else word
    )
