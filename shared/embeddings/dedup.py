"""Whether two near texts say the same, which their distance alone cannot tell. English."""

from __future__ import annotations

import re
from collections import Counter

_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")
_CANNOT = re.compile(r"\bcan(?:['’]t|not)\b")
_NOT = re.compile(r"n['’]t\b")
_TOKEN = re.compile(r"-?\w+(?:[./:-]+\w+)*")
_OPERATOR = re.compile(r"!?[<>=≤≥≠]+|(?<=\s)[-+*/%&|^](?=\s)|->|=>")
# Figures and identifiers: digits, paths, snake_case, dotted names.
_EXACT = re.compile(r"[\d_/]|\w[.:]\w")
_NEGATIONS = frozenset(["no", "not", "never", "without"])
# No word that turns a meaning round: over, under, before, after, more, less, or, off.
_FUNCTION_WORDS = re.compile(
    r"(?:a|an|the|of|is|are|was|were|be|been|to|in|on|at|by|for|with|and|it|its|that|this|from|as|than|then|so"
    r"|if|when|because|there|has|have|had|do|does|must|should|will|would|can|s|t)"
)
_STEM = 5


def normal_form(text: str) -> str:
    """The text without its case, punctuation and spacing: equal forms are repeats, whatever their vectors."""
    text = _THOUSANDS.sub("", text.casefold())
    return " ".join(_TOKEN.findall(_NOT.sub(" not", _CANNOT.sub("can not", text))))


def same_fact(a: str, b: str) -> bool:
    """For texts within `dedup_distance`: False when a figure, a negation, a content word or their order changed.

    Words may be added or left out on one side. A synonym counts as a swap, and so does "Bob asks Alice" for
    "Alice asks Bob": a second row is cheaper than a lost memory.
    """
    if _OPERATOR.findall(a) != _OPERATOR.findall(b):
        return False
    left, right = normal_form(a), normal_form(b)
    if left == right:
        return True
    if _exact_tokens(left) != _exact_tokens(right):
        return False
    left_words, right_words = _content_words(left), _content_words(right)
    shorter, longer = sorted((left_words, right_words), key=len)
    return _within(shorter, longer)


def _exact_tokens(normal: str) -> Counter[str]:
    return Counter(word for word in normal.split() if word in _NEGATIONS or _EXACT.search(word))


def _content_words(normal: str) -> list[str]:
    """Cut to a crude stem, so that migration and migrations are one."""
    words = re.findall(r"\w+", normal)
    return [word[:_STEM] for word in words if not _FUNCTION_WORDS.fullmatch(word)]


def _within(shorter: list[str], longer: list[str]) -> bool:
    """True when `longer` holds all of `shorter` in its order."""
    rest = iter(longer)
    return all(word in rest for word in shorter)
