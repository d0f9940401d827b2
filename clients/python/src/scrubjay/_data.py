"""Models to JSON and back. What an answer holds beyond its model is passed over: services grow."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints


class Unset(Enum):
    """Not given, where null would say something."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET


def encode(value: Any) -> Any:
    """As JSON takes it; fields that are None are left out, but for those of mappings."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        given = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
        return {name: encode(item) for name, item in given if item is not None and item is not UNSET}
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).isoformat()
    if isinstance(value, Mapping):
        return {key: encode(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [encode(item) for item in value]
    return value


def decode(kind: Any, value: Any) -> Any:
    """Raises TypeError or ValueError where the answer is not what the model says."""
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return None if value is None else decode(_present(kind), value)
    if origin is list:
        return [decode(get_args(kind)[0], item) for item in value]
    if origin is dict:
        return {key: decode(get_args(kind)[1], item) for key, item in value.items()}
    if kind is datetime:
        return datetime.fromisoformat(value)
    if kind is float:
        return float(value)
    if kind is Any or origin is Literal or not dataclasses.is_dataclass(kind):
        return value
    return _model(kind, value)


def _model(kind: Any, value: Any) -> Any:
    hints = _hints(kind)
    return kind(**{name: decode(hint, value[name]) for name, hint in hints.items() if name in value})


def _present(union: Any) -> Any:
    """What it is when it is not null: models have no other unions."""
    return next(one for one in get_args(union) if one is not type(None))


@cache
def _hints(model: Any) -> dict[str, Any]:
    hints = get_type_hints(model)
    return {field.name: hints[field.name] for field in dataclasses.fields(model) if field.init}
