"""Reads a short text as statements: a subject, a relation and its value. Pure; the rules understand English.

"The staging database is db-7", "staging database: db-9" and "The database of staging has moved to db-9" state the same
relation of the same subject.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from services.context.assembly.supersession.parts import (
    SUBJECT_WORDS,
    Statement,
    is_past,
    plain,
    stated,
    subject_of,
    value_of,
)
from services.context.assembly.supersession.prose import prose
from services.context.assembly.supersession.values import Kind
from services.context.assembly.supersession.vocabulary import (
    ATTRIBUTES,
    BE,
    EVENTS,
    LABELS,
    LISTED,
    OPENINGS,
    PAST,
)
from shared.reading.memo import remembered

# Characters of a text that may be a statement.
LONGEST = 300
# What follows a key of one word is prose if it is longer.
_SHORT_VALUE = 4
_NUMBER_LENGTH = 4
# It begins with a class of characters: a search passes over all others at once.
_SENTENCES = re.compile(r"\s(?:(?<=[.!?]\s)\s*(?=[A-Z])|(?<=\n)\n*)")
_BULLET = re.compile(r"^(?:[-*•+]|\[[ x]\])\s+")
_NUMBERED = re.compile(r"^(?:#?\d+[.):]\s|\[?\d{4}-\d\d-\d\d|\[?\d{1,2}:\d\d)")
_OPENING = re.compile(
    r"^(?:(?:as of|from|since|starting|effective|beginning|after|following)\s[^,:]{1,40},"
    r"|(?:now|currently|actually|today|meanwhile|fyi|again|finally|apparently|recently),?)\s+",
    re.IGNORECASE,
)
_PAIR = re.compile(r"^([^:=→]{1,80}?)(?::(?=\s)|=>|->|→|=)(.*)$", re.DOTALL)


@remembered
def split(text: str) -> Sequence[str]:
    """The sentences of a text; none of a text that is too long to be a statement."""
    if len(text) > LONGEST:
        return ()
    return tuple(sentence for part in _SENTENCES.split(text) if (sentence := part.strip()))


def read(sentences: Sequence[str]) -> Sequence[Statement]:
    """The statements of a text. A question, an event or a story is none."""
    found = [statement for sentence in sentences if (statement := _alone(sentence)) is not None]
    return found if len(sentences) == 1 else [each._replace(alone=False) for each in found]


@remembered
def _alone(sentence: str) -> Statement | None:
    return _sentence(sentence)


def _sentence(sentence: str, *, labelled: bool = False) -> Statement | None:
    sentence = _BULLET.sub("", sentence).rstrip(" .!")
    if not sentence or sentence.endswith("?") or _NUMBERED.match(sentence):
        return None
    opening = _OPENING.match(sentence)
    if opening is not None:
        sentence = sentence[opening.end() :]
    pair = _PAIR.match(sentence)
    found = _pair(pair[1], pair[2], labelled=labelled) if pair is not None else prose(sentence)
    return found._replace(change=True) if found is not None and opening is not None else found


def _pair(key: str, text: str, *, labelled: bool) -> Statement | None:
    words = key.split()
    if not words:
        return None
    if plain(key) in LABELS:
        return None if labelled else _sentence(text, labelled=True)
    if words[-1].lower() in BE:
        return prose(f"{key} {text}")
    if not _is_key([plain(word) for word in words]):
        return None
    inner = prose(text)
    if inner is not None:
        return inner._replace(subject=(*subject_of(words), *inner.subject))
    value = value_of(text)
    if (len(words) == 1 and len(value.words) > _SHORT_VALUE) or (
        value.kind is Kind.PLAIN and _is_name(words)
    ):
        return None
    return stated(words, ("be",), value, note=True)


def _is_key(words: list[str]) -> bool:
    """Whether a key names an attribute: not one of many events, steps or points of a list."""
    counts = EVENTS | LABELS
    if len(words) >= SUBJECT_WORDS or words[-1] in counts or words[-1] in LISTED:
        return False
    if len(words) > 1 and words[-2] in counts and len(words[-1]) <= _NUMBER_LENGTH:
        return False
    return not (
        is_past(words[0]) or words[0] in OPENINGS or any(word in BE or word in PAST for word in words)
    )


def _is_name(words: list[str]) -> bool:
    """Whether a key may say who speaks: "Mia Torres: sounds good"."""
    return all(word[:1].isupper() for word in words) and plain(words[-1]) not in ATTRIBUTES
