"""The lines that answer a question, so that the object that holds them need not come back. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from shared.search import code
from shared.tokens import CHARACTERS_PER_TOKEN, estimate_tokens, width

SHARE = 0.08
"""A passage takes at most this share of the tokens of its text."""
_LEAST = 24
_MOST = 400
_WORD = re.compile(r"\w{2,}")
_MOST_WORDS = 32
_LONGEST_WORD = 100
_HEAD = 500
# A longer line is data rather than code or prose. Its words are not told apart.
_LONGEST_LINE = 10_000
_STOP_WORDS = frozenset(
    ["a", "about", "an", "and", "are", "as", "at", "be", "by", "can", "did", "do", "does", "for", "from", "had", "has",
     "have", "how", "i", "in", "is", "it", "its", "me", "of", "on", "or", "that", "the", "there", "this", "to", "was",
     "we", "were", "what", "when", "where", "which", "who", "why", "will", "with", "you",
     # What they ask for is a definition, which says none of them.
     "declared", "defined", "definition", "mean", "means", "say", "says", "show", "take", "takes", "tell"]
)  # fmt: skip
# A name as it is written says more than a word of it.
_EXACT = 2.0
# Where two lines hold the same words, that which defines or reports something answers.
_TELLING = re.compile(
    r"\b(?:def|class|func|function|fn|interface|struct|const|let|var|type|error|exception|failed)\b|[:={]\s*$",
    re.I,
)
_TELLING_WORTH = 1.3
# So does the line that names it.
_NAMED = re.compile(
    r"\b(?:def|class|func|function|fn|interface|struct|trait|enum|type|const|let|var)\s+(\w+)|^\W*(?:\d+\W+)?([^\W\d]\w*)\s*(?::=|=|:)\s"
)
_NAMED_WORTH = 2.0


class Word(NamedTuple):
    """A word of a question, in lower case."""

    text: str
    is_name: bool
    """It is written as a name is, such as `log_record`."""

    @property
    def worth(self) -> float:
        return _EXACT if self.is_name else 1.0


class Passage(NamedTuple):
    text: str
    first_line: int
    """From 1."""
    last_line: int
    tokens: int
    share: float
    """The share of the question's words that the passage holds, by how rare they are. From 0 to 1."""


class Found(NamedTuple):
    """A passage of one of several texts."""

    place: int
    """Of the text."""
    passage: Passage


def words_of(question: str) -> list[Word]:
    """The words that a text is searched for: names first, then the longest, and few of them however long it is."""
    read = code.read(question)
    names = {name.lower() for name in read.names}
    words = {word.lower() for word in _WORD.findall(read.text)} - _STOP_WORDS - names
    ordered = [Word(name, is_name=True) for name in sorted(names, key=_length)]
    ordered += [Word(word, is_name=False) for word in sorted(words, key=_length)]
    return [word for word in ordered if len(word.text) <= _LONGEST_WORD][:_MOST_WORDS]


def _length(word: str) -> tuple[int, str]:
    return -len(word), word


def answer(question: str, text: str) -> Passage | None:
    """The best passage, or None if no line holds a word of the question."""
    found = best(words_of(question), [text])
    return found and found.passage


def best(words: Sequence[Word], texts: Sequence[str]) -> Found | None:
    """The best passage of any of the texts, the first where two are as good. In time linear in the texts."""
    lines = [text.split("\n") for text in texts]
    held = [[_held(line, words) for line in own] for own in lines]
    counts = Counter(word for own in held for of_line in own for word in of_line)
    if not counts:
        return None
    total = sum(map(len, lines))
    weights = {word: word.worth * math.log1p(total / max(1, counts[word])) for word in words}
    places = ((place, line) for place, own in enumerate(held) for line, of_line in enumerate(own) if of_line)
    place, line = max(places, key=lambda at: _worth(lines[at[0]][at[1]], held[at[0]][at[1]], weights))
    room = min(_MOST, max(_LEAST, int(SHARE * estimate_tokens(texts[place])))) * CHARACTERS_PER_TOKEN
    return Found(place, _passage(lines[place], held[place], line, room, weights))


def around(quote: str, text: str) -> Passage:
    """The whole lines of a text that hold the quote, which stands in it."""
    start = text.index(quote)
    first = text.rfind("\n", 0, start) + 1
    end = text.find("\n", start + len(quote))
    lines = text[first : len(text) if end < 0 else end]
    line = text.count("\n", 0, first) + 1
    return Passage(lines, line, line + lines.count("\n"), estimate_tokens(lines), 1.0)


def _held(line: str, words: Sequence[Word]) -> frozenset[Word]:
    lower = line.lower()
    near = [word for word in words if word.text in lower]
    if not near or len(line) > _LONGEST_LINE:
        return frozenset(near)
    read = code.read(line)
    names, texts = {name.lower() for name in read.names}, set(map(str.lower, _WORD.findall(read.text)))
    return frozenset(word for word in near if word.text in (names if word.is_name else texts))


def _worth(line: str, held: frozenset[Word], weights: Mapping[Word, float]) -> float:
    """What it names counts more."""
    head = line[:_HEAD]
    match = _NAMED.search(head)
    named = (match[1] or match[2]).lower() if match else None
    worth = sum(weights[word] * (_NAMED_WORTH if word.text == named else 1.0) for word in held)
    return worth * (_TELLING_WORTH if _TELLING.search(head) else 1.0)


def _passage(
    lines: Sequence[str],
    held: Sequence[frozenset[Word]],
    start: int,
    room: float,
    weights: Mapping[Word, float],
) -> Passage:
    stop = _stop(lines, start, room)
    words = frozenset[Word]().union(*held[start:stop])
    text = "\n".join(lines[start:stop]) if stop - start > 1 else _cut(lines[start], words, int(room))
    share = sum(map(weights.__getitem__, words)) / sum(weights.values())
    return Passage(text, start + 1, stop, estimate_tokens(text), share)


def _stop(lines: Sequence[str], start: int, room: float) -> int:
    """The line after the last that fits. The first always does."""
    room -= width(lines[start])
    stop = start + 1
    while stop < len(lines) and (room := room - width(lines[stop]) - 1) >= 0:
        stop += 1
    return stop


def _cut(line: str, words: frozenset[Word], room: int) -> str:
    """Of a line that is far longer than the room, what stands around the first of the words."""
    if len(line) <= 2 * room:
        return line
    lower = line.lower()
    first = min(lower.find(word.text) for word in words)
    start = max(0, min(first, len(line)) - room // 4)
    return line[start : start + room]
