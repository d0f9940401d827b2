"""Values of statements, and whether one can stand in the place of another. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

from services.context.assembly.supersession.vocabulary import MONTHS, NUMBERS, STATES, WEEKDAYS

_PLAIN_WORDS = 4
_NUMBER = re.compile(r"^[#$€£~<>+-]*\d")


class Kind(Enum):
    NUMBER = "number"
    CODE = "code"
    DAY = "day"
    NAME = "name"
    STATE = "state"
    PLAIN = "plain"


_ALIKE = frozenset({frozenset({Kind.NUMBER, Kind.DAY}), frozenset({Kind.DAY, Kind.PLAIN})})


def kind_of(words: Sequence[str]) -> Kind:
    if any(_NUMBER.match(word) or word.lower() in NUMBERS for word in words):
        return Kind.NUMBER
    if any(map(str.isdigit, "".join(words))):
        return Kind.CODE
    if any(word.lower() in WEEKDAYS or word.lower() in MONTHS for word in words):
        return Kind.DAY
    if len(words) == 1 and words[0].lower() in STATES:
        return Kind.STATE
    return Kind.NAME if words and words[0][:1].isupper() and words[-1][:1].isupper() else Kind.PLAIN


def alike(first: Kind, second: Kind) -> bool:
    return first is second or frozenset({first, second}) in _ALIKE


def differ_in_a_number(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether both say the same but for numbers: "3 replicas" and "5 replicas", "Node 18" and "Node 20"."""
    if len(first) != len(second):
        return False
    other = [(a, b) for a, b in zip(first, second, strict=True) if a != b]
    return bool(other) and all(_has_digit(a) and _has_digit(b) for a, b in other)


def _has_digit(word: str) -> bool:
    return word in NUMBERS or any(character.isdigit() for character in word)


def is_short(words: Sequence[str]) -> bool:
    return len(words) <= _PLAIN_WORDS
