"""The lines of an object that answer a question, so that the object need not come back. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from shared.search import code
from shared.tokens import CHARACTERS_PER_TOKEN, estimate_tokens, width

SHARE = 0.08
"""A passage takes at most this share of the tokens of its text."""
_LEAST = 40
_MOST = 400
_WORD = re.compile(r"\w{2,}")
_STOP_WORDS = frozenset(
    ["a", "about", "an", "and", "are", "as", "at", "be", "by", "did", "do", "does", "for", "from", "had", "has", "have",
     "how", "i", "in", "is", "it", "its", "of", "on", "or", "that", "the", "this", "to", "was", "we", "were", "what",
     "when", "where", "which", "who", "why", "will", "with", "you"]
)  # fmt: skip
# A name as it is written says more than a word of it.
_EXACT = 2.0
# Where two lines hold the same words, that which defines or reports something answers.
_TELLING = re.compile(
    r"\b(?:def|class|func|function|fn|interface|struct|const|let|var|type|error|exception|failed)\b|[:={]\s*$",
    re.I,
)
_TELLING_WORTH = 1.3


class Passage(NamedTuple):
    text: str
    first_line: int
    """From 1."""
    last_line: int
    tokens: int
    score: float
    """The share of the question's words that the passage holds, by how rare they are in the text; from 0 on."""


def answer(question: str, text: str) -> Passage | None:
    """The best passage, or None if no line holds a word of the question. In time linear in both."""
    lines = text.split("\n")
    wanted = _terms(question) - _STOP_WORDS
    held = [_terms(line) & wanted for line in lines]
    counts = Counter(term for terms in held for term in terms)
    if not counts:
        return None
    weights = {
        term: (_EXACT if _is_name(term) else 1.0) * math.log1p(len(lines) / count)
        for term, count in counts.items()
    }
    worth = [
        _worth(line, sum(map(weights.__getitem__, terms))) for line, terms in zip(lines, held, strict=True)
    ]
    best = max(range(len(lines)), key=worth.__getitem__)
    stop = _stop(lines, best, min(_MOST, max(_LEAST, int(SHARE * estimate_tokens(text)))))
    quoted = "\n".join(lines[best:stop])
    score = sum(weights[term] for term in set().union(*held[best:stop]))
    return Passage(quoted, best + 1, stop, estimate_tokens(quoted), score)


def _worth(line: str, weight: float) -> float:
    return weight * (_TELLING_WORTH if weight and _TELLING.search(line[:500]) else 1.0)


def _stop(lines: Sequence[str], start: int, tokens: int) -> int:
    """The line after the last that fits. The first always does."""
    room = tokens * CHARACTERS_PER_TOKEN - width(lines[start])
    stop = start + 1
    while stop < len(lines) and (room := room - width(lines[stop]) - 1) >= 0:
        stop += 1
    return stop


def _terms(text: str) -> set[str]:
    read = code.read(text)
    return {
        *(f"={name.lower()}" for name in read.names),
        *(word.lower() for word in _WORD.findall(read.text)),
    }


def _is_name(term: str) -> bool:
    return term.startswith("=")
