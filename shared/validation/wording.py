"""Types in words: what a field takes, and what it was given instead."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec.inspect as mi

from shared.text import SEEN, is_blank

_LARGE = 10**20
Sized = mi.StrType | mi.ListType | mi.DictType
Number = mi.IntType | mi.FloatType


def must_be(kind: mi.Type, value: Any) -> str:
    """Why a field of this type cannot hold `value`."""
    given = _given(bare(kind), value)
    return f"must be {expected(kind)}" + (f", not {given}" if given else "")


def bare(kind: mi.Type) -> mi.Type:
    """The type without what a schema says of it."""
    while isinstance(kind, mi.Metadata):
        kind = kind.type
    return kind


def expected(kind: mi.Type) -> str:
    kind = bare(kind)
    match kind:
        case mi.UnionType():
            return " or ".join(dict.fromkeys(map(expected, kind.types)))
        case mi.LiteralType():
            return _one_of(kind.values)
        case mi.IntType():
            return "a whole number" + _range(kind)
        case mi.FloatType():
            return "a number" + _range(kind)
        case mi.StrType():
            return (
                "a string" + _size(kind, "characters") + (f" like {kind.pattern}" if _is_told(kind) else "")
            )
        case mi.ListType():
            return "a list" + _size(kind, "items")
        case mi.DictType():
            return "an object" + _size(kind, "fields")
        case mi.StructType():
            return "an object"
        case mi.DateTimeType():
            return "a time in ISO 8601, such as 2026-01-31T09:30:00Z"
        case mi.BoolType():
            return "true or false"
        case mi.NoneType():
            return "null"
        case _:
            return "a value of another type"


def _is_told(kind: mi.StrType) -> bool:
    """Whether the pattern says more than that the text must not be blank."""
    return kind.pattern not in (None, SEEN)


def _one_of(values: Iterable[object]) -> str:
    named = [str(value) for value in values]
    return named[0] if len(named) == 1 else "one of " + ", ".join(named)


def _range(kind: Number) -> str:
    whole = isinstance(kind, mi.IntType)
    least = kind.gt + 1 if whole and kind.gt is not None else kind.ge
    most = kind.lt - 1 if whole and kind.lt is not None else kind.le
    if kind.gt is not None and not whole:
        return f" above {_number(kind.gt)}" + ("" if most is None else f" and up to {_number(most)}")
    if least is not None and most is not None:
        return f" from {_number(least)} to {_number(most)}"
    if least is not None:
        return f" of at least {_number(least)}"
    return "" if most is None else f" of at most {_number(most)}"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)


def _size(kind: Sized, unit: str) -> str:
    least, most = kind.min_length, kind.max_length
    if least and most:
        return f" of {least} to {most} {unit}"
    if least:
        return f" of at least {least} {unit}"
    return f" of at most {most} {unit}" if most else ""


def _given(kind: mi.Type, value: Any) -> str:
    """Empty where the value is no news to its sender, or would be a long text."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, int | float):
        return str(value) if abs(value) < _LARGE else "a number that large"
    if isinstance(value, dict):
        return "" if isinstance(kind, mi.StructType | mi.DictType) else "an object"
    if isinstance(value, list):
        return _sized(value, "items") if isinstance(kind, mi.ListType) else "a list"
    if isinstance(kind, mi.StrType):
        return _given_text(kind, value)
    return "" if isinstance(kind, mi.LiteralType | mi.DateTimeType) else "a string"


def _given_text(kind: mi.StrType, value: str) -> str:
    if _is_told(kind):
        return ""
    return "a blank one" if value and kind.pattern and is_blank(value) else _sized(value, "characters")


def _sized(value: str | list[Any], unit: str) -> str:
    return f"one of {len(value)} {unit}" if value else "an empty one"
