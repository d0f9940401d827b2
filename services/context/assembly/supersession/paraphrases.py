"""Statements of the same in other words: "The lease is 80 s" and "The lease lasts 81 s". Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from services.context.assembly.supersession.parts import Statement
from services.context.assembly.supersession.values import Kind, is_short

# A number with a unit is the same attribute in each of these relations.
_MEASURES = frozenset({("be",), ("last",), ("cost",), ("weigh",), ("stay", "at"), ("limit", "to")})
_PLACES = frozenset({("run", "in"), ("run", "on"), ("be", "in"), ("be", "on"), ("be", "at")})
_NAMED = frozenset({Kind.CODE, Kind.NAME})
_PURPOSES = frozenset({"for", "as", "per"})
_DIGITS = re.compile(r"(?<![.,])[.,]*\d[\d.,]*")
_UNITS = {
    form: unit
    for unit, forms in {
        "s": "sec secs second seconds",
        "min": "mins minute minutes",
        "h": "hr hrs hour hours",
        "d": "day days",
        "w": "week weeks",
        "$": "usd dollar dollars",
        "€": "eur euro euros",
        "%": "percent",
    }.items()
    for form in forms.split()
}


def matters(statement: Statement) -> Iterator[tuple[str, ...]]:
    """What the statement says of its subject: statements of one matter may replace each other."""
    yield statement.relation
    yield "value", *statement.value
    if statement.former:
        yield "value", *statement.former
    if units := _units(statement):
        yield "measure", *units
    if statement.motion == "move" or statement.relation in _PLACES:
        yield ("place",)


def restates(newer: Statement, older: Statement) -> bool:
    """Whether `newer` replaces `older`, which has the same subject, another relation and another value."""
    if newer.value == older.value:
        return False
    if newer.former and newer.former == older.value:
        return older.kind is not Kind.NUMBER and _purpose(newer) in ((), _purpose(older))
    if units := _units(newer):
        return units == _units(older)
    return _is_another_place(newer, older)


def _is_another_place(newer: Statement, older: Statement) -> bool:
    moved = [each.motion == "move" for each in (newer, older)]
    if not any(moved) or newer.former:
        return False
    if not all(moved) and (older if moved[0] else newer).relation not in _PLACES:
        return False
    return (
        newer.kind is older.kind and newer.kind in _NAMED and is_short(newer.value) and is_short(older.value)
    )


def _purpose(statement: Statement) -> Sequence[str]:
    """What the value is for: "for alerts"."""
    relation = statement.relation
    start = next((place for place, word in enumerate(relation) if word in _PURPOSES), len(relation))
    return relation[start:]


def _units(statement: Statement) -> tuple[str, ...]:
    """The units of a single number with a unit; empty for every other value."""
    if statement.kind is not Kind.NUMBER or statement.relation not in _MEASURES:
        return ()
    if sum(_DIGITS.search(word) is not None for word in statement.value) != 1:
        return ()
    words = [left for word in statement.value if (left := _DIGITS.sub("", word))]
    return tuple(_UNITS.get(word, word) for word in words)
