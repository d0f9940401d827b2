"""Reads a sentence as a statement: "The staging database is db-7", "Mia lives in Oslo now". Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from services.context.assembly.supersession.parts import Statement, Value, claimed, is_past, plain, value_of
from services.context.assembly.supersession.values import Kind, kind_of
from services.context.assembly.supersession.vocabulary import (
    ARTICLES,
    AUXILIARIES,
    BE,
    BESIDES,
    CHANGES,
    MANY_VALUED,
    MOTIONS,
    NOW,
    OPENINGS,
    PAST,
    PREPOSITIONS,
    PRONOUNS,
    SINGLE_VALUED,
)

_FRAME = re.compile(r"^((?:for|in|on|at|during)\s[^,:]{1,40}),\s+", re.IGNORECASE)
# Verbs whose counted or numbered object is an attribute of the subject.
_HAVING = frozenset({"have", "run", "listen"})
_SAME_PLACE = {"to": "on", "into": "in", "for": "at"}
# The verb stands among the first words, and a measure among the last.
_VERB_WITHIN, _MEASURE_WITHIN = 10, 3
_MEASURED = frozenset({Kind.NUMBER, Kind.CODE, Kind.DAY})


class _Words(NamedTuple):
    text: list[str]
    lower: list[str]


class _Rest:
    """The words from a verb on, read from the front. `change` says whether they or the subject hold a "now"."""

    def __init__(self, words: _Words, at: int) -> None:
        end = at
        while end > 1 and words.lower[end - 1] in NOW:
            end -= 1
        self.subject = words.text[:end]
        self.change = end < at
        self._words, self._at = words, at

    @property
    def word(self) -> str:
        return self._words.lower[self._at] if self._at < len(self._words.lower) else ""

    @property
    def following(self) -> list[str]:
        return self._words.lower[self._at + 1 :]

    @property
    def value(self) -> Value:
        return value_of(" ".join(self._words.text[self._at :]))

    def skip(self, count: int = 1) -> None:
        self._at += count
        while self.word in NOW:
            self._at += 1
            self.change = True

    def preposition(self) -> tuple[str, ...]:
        """Takes a preposition that something follows."""
        word = self.word
        if word not in PREPOSITIONS or not self.following:
            return ()
        self.skip()
        return (word,)


def prose(sentence: str) -> Statement | None:
    """`For alerts, the team uses Slack` says the same as `The team uses Slack for alerts`."""
    frame = _FRAME.match(sentence)
    if frame is None:
        return _clause(sentence)
    found = _clause(sentence[frame.end() :])
    return found and found._replace(relation=(*found.relation, *frame[1].lower().split()))


def _clause(sentence: str) -> Statement | None:
    text = sentence.split()
    words = _Words(text, [plain(word) for word in text])
    first = words.lower[0] if len(text) > 2 else "no"
    if first in OPENINGS or first in PRONOUNS or is_past(first):
        return None
    places = range(1, min(_VERB_WITHIN, len(text) - 1))
    at = next((place for place in places if _is_copula(words.lower, place)), None)
    if at is not None:
        return _copula(_Rest(words, at), past=words.lower[at] in PAST)
    verbs = (_verb(_Rest(words, place)) for place in places if _is_verb(words.lower, place))
    return next(filter(None, verbs), None) or _measure(words)


def _is_copula(lower: list[str], place: int) -> bool:
    word, following = lower[place], lower[place + 1 : place + 5]
    if word in ("was", "were", "has", "have"):
        return any(each in CHANGES or each == "been" for each in following[:2])
    if place == 1 and not (word in MOTIONS and following[0] in ("to", "from")):
        return word in BE
    return word in BE or (word in CHANGES and "to" in following)


def _is_verb(lower: list[str], place: int) -> bool:
    return lower[place - 1] not in ARTICLES and (lower[place] in SINGLE_VALUED or lower[place] in MANY_VALUED)


def _copula(rest: _Rest, *, past: bool) -> Statement | None:
    if rest.word not in CHANGES:
        rest.skip()
    while rest.word in AUXILIARIES:
        rest.skip()
    if rest.word in CHANGES:
        return _changed(rest)
    if past or rest.word in BESIDES or rest.word in PAST:
        return None
    if rest.word in SINGLE_VALUED:
        return _verb(rest)
    relation = ("be", *_participle(rest))
    value = rest.value
    if rest.word in BESIDES or (len(relation) == 1 and _is_description(value)):
        return None
    return claimed(rest.subject, relation, value, change=rest.change)


def _changed(rest: _Rest) -> Statement | None:
    """ "was moved from db-7 to db-9" states what the thing is now, and what it was."""
    verb, following = rest.word, rest.following
    to = next((place for place, word in enumerate(following) if word in ("to", "at", "as")), None)
    if to is None:
        return None
    former = following[1:to] if following[0] == "from" else []
    rest.skip(to + 2)
    found = claimed(rest.subject, ("be",), rest.value, change=True)
    former = [word for word in former if word not in ARTICLES]
    return found and found._replace(motion=MOTIONS.get(verb), former=tuple(former))


def _participle(rest: _Rest) -> tuple[str, ...]:
    """Takes the rest of a relation: "rebuilt every", "with". What was done otherwise is no relation."""
    word = rest.word
    if not word.endswith(("ed", "ing")) and word not in MANY_VALUED:
        return rest.preposition()
    place = next((place for place, each in enumerate(rest.following[:2]) if each in PREPOSITIONS), None)
    if place is None:
        return ()
    relation = (word, *rest.following[: place + 1])
    rest.skip(place + 2)
    return relation


def _is_description(value: Value) -> bool:
    """What was done with the subject, such as "versioned in Git", unless it is a state that another one ends."""
    first = value.words[0].lower() if value.words else ""
    return (is_past(first) or first.endswith("ing")) and value.kind is not Kind.STATE


def _verb(rest: _Rest) -> Statement | None:
    verb = rest.word
    rest.skip()
    relation = (SINGLE_VALUED.get(verb) or _infinitive(verb), *rest.preposition())
    if rest.word in BESIDES:
        return None
    value = rest.value
    numbers = [word for word in value.words if kind_of([word]) is Kind.NUMBER]
    if relation[0] in _HAVING and len(value.words) == 2 and len(numbers) == 1:
        # "has 3 replicas" and "listens on port 80" tell the subject's replicas and its port.
        noun = [word for word in value.words if word not in numbers]
        return claimed([*rest.subject, *noun], ("be",), value._replace(words=numbers), change=rest.change)
    relation = tuple(_SAME_PLACE.get(word, word) for word in relation)
    many = verb not in SINGLE_VALUED or relation in (("work", "on"), ("run",))
    return claimed(rest.subject, relation, value, change=rest.change, many=many)


def _infinitive(verb: str) -> str:
    return "have" if verb in ("has", "have") else verb.removesuffix("s")


def _measure(words: _Words) -> Statement | None:
    """A sentence in the present, whatever its verb, whose end is a number, a code or a day: that is the value."""
    text, lower = words
    if lower[0] not in ARTICLES or any(is_past(word) for word in lower):
        return None
    places = [place for place, word in enumerate(text) if kind_of([word]) in _MEASURED]
    if len(places) != 1 or places[0] < max(3, len(text) - _MEASURE_WITHIN):
        return None
    at = places[0]
    if lower[at - 1] not in PREPOSITIONS:
        return None
    return claimed(text[:at], ("#", *lower[at + 1 :]), value_of(text[at]), change=False)
