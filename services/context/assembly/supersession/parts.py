"""The parts of a statement, and how its words become them. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from services.context.assembly.supersession.values import Kind, kind_of
from services.context.assembly.supersession.vocabulary import (
    ARTICLES,
    ATTRIBUTES,
    BE,
    BESIDES,
    EVENTS,
    IRREGULAR_PAST,
    NOT_PAST,
    PAST,
    PREPOSITIONS,
)

# Words of a subject and of a value.
SUBJECT_WORDS, VALUE_WORDS = 9, 8
_TRIMMED = "\"'`*.,;:!?()[]“”’"
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_POSSESSIVE = re.compile(r"['’]s?(?=\s)")
_TAIL = re.compile(
    r"(?:[;(]|,\s|\s(?:[-–—]\s|(?=[abefginrstu])(?:instead|rather than|as of|since|because|from now on|going forward"
    r"|anymore|now|starting|effective|until further notice|for now|for the time being|at the moment|right now"
    r"|these days|this (?:week|month|year|quarter)|replacing|not|after the)\b)).*$",
    re.IGNORECASE | re.DOTALL,
)
# A tail that begins otherwise tells more than the value.
_IDLE_TAIL = re.compile(
    r"^\W*(?:(?:not|no|instead|rather|as|since|because|now|effective|starting|from|replacing|after|anymore|going"
    r"|until|for|at|right|these|this|was|it was|previously|formerly|moved|changed)\b|$)",
    re.IGNORECASE,
)


class Statement(NamedTuple):
    """`subject` and `relation` are equal for statements of which only the newest holds."""

    subject: tuple[str, ...]
    relation: tuple[str, ...]
    value: tuple[str, ...]
    kind: Kind
    note: bool = False
    """It is a `key: value` pair."""
    many: bool = False
    """The subject may have several such values."""
    bare: bool = False
    """The subject is a mere name, as of a person, of which many things can be said."""
    change: bool = False
    """It says that the value is new."""
    alone: bool = True
    """The text says nothing else."""
    motion: str | None = None
    """The verb of MOTIONS by which it says that the value is new."""
    former: tuple[str, ...] = ()
    """The value that it says it replaces."""
    shown: tuple[str, ...] = ()
    """The value as it is written."""


class Value(NamedTuple):
    words: Sequence[str]
    change: bool = False
    """What follows it says that it is new."""
    alone: bool = True
    """Nothing else follows it."""

    @property
    def kind(self) -> Kind:
        return kind_of(self.words)


def plain(word: str) -> str:
    return word.strip(_TRIMMED).lower()


def is_past(word: str) -> bool:
    return word in IRREGULAR_PAST or (len(word) > 4 and word.endswith("ed") and word not in NOT_PAST)


def subject_of(words: Sequence[str]) -> tuple[str, ...]:
    """The words of a subject: "the database of staging" is "staging database"."""
    text = _POSSESSIVE.sub("", _CAMEL.sub(" ", " ".join(words)).lower())
    parts = [word.strip(_TRIMMED) for word in re.split(r"[\s_\-/]+", text)]
    parts = [word for word in parts if word and word not in ARTICLES]
    for place, word in enumerate(parts[1:-1], 1):
        if word in ("of", "for"):
            return (*parts[place + 1 :], *parts[:place])
    return tuple(parts)


def value_of(text: str) -> Value:
    tail = _TAIL.search(text, 1)
    alone = tail is None or _IDLE_TAIL.match(tail[0]) is not None
    words = [
        word
        for each in text[: None if tail is None else tail.start()].split()
        if (word := each.strip(_TRIMMED))
    ]
    start = next((place for place, word in enumerate(words) if word.lower() not in ARTICLES), 0)
    return Value(words[start:], change=tail is not None and alone, alone=alone)


def stated(
    subject: Sequence[str],
    relation: tuple[str, ...],
    value: Value,
    *,
    note: bool = False,
    many: bool = False,
    change: bool = False,
) -> Statement | None:
    """None if the subject or the value says too much to be one."""
    words = subject_of(subject)
    if not value.words or len(value.words) > VALUE_WORDS or len(subject) > SUBJECT_WORDS:
        return None
    if _says_more(value.words) or not any(word[0].isalpha() for word in words):
        return None
    return Statement(
        words,
        relation,
        tuple(map(str.lower, value.words)),
        value.kind,
        note=note,
        many=many,
        bare=_is_name(subject),
        change=change or value.change,
        alone=value.alone,
        shown=tuple(value.words),
    )


def claimed(
    subject: Sequence[str], relation: tuple[str, ...], value: Value, *, change: bool, many: bool = False
) -> Statement | None:
    """A statement in prose. What the value is for belongs to the relation: "uses Slack for alerts"."""
    lower = [plain(word) for word in subject]
    if any(word in BESIDES or word in PAST or word in ("and", "or") for word in lower):
        return None
    if lower[-1] in EVENTS and lower[0] not in ARTICLES:
        return None
    purposes = PREPOSITIONS if many else ("for", "as", "per")
    place = next(
        (place for place, word in enumerate(value.words) if place and word.lower() in purposes), None
    )
    if place is not None:
        relation = (*relation, *(word.lower() for word in value.words[place:]))
        value = value._replace(words=value.words[:place])
    return stated(subject, relation, value, change=change, many=many)


def _is_name(subject: Sequence[str]) -> bool:
    if len(subject) == 1:
        return subject[0].lower() not in ARTICLES
    return len(subject) == 2 and all(map(str.istitle, subject)) and plain(subject[1]) not in ATTRIBUTES


def _says_more(words: Sequence[str]) -> bool:
    return any((low := word.lower()) in BE or low in PAST or low in ("and", "but") for word in words)
