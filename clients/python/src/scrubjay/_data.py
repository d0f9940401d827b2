"""Models to JSON and back. What an answer holds beyond its model is passed over: services grow."""

from __future__ import annotations

import dataclasses
import keyword
import types
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from typing import Any, Final, Union, get_args, get_origin, get_type_hints


class Unset(Enum):
    """Not given, where null would say something."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET


def encode(value: Any) -> Any:
    """As JSON takes it; fields that are None are left out, but for those of mappings."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        given = ((_key(field.name), getattr(value, field.name)) for field in dataclasses.fields(value))
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
    read = _reader(kind)
    return value if read is None else read(value)


Read = Callable[[Any], Any]


@cache
def _reader(kind: Any) -> Read | None:
    """What reads a value of this type, made once; None where JSON has given it already."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        # A union is one with None, or of models that a tag tells apart.
        kinds = [one for one in inner if one is not type(None)]
        present = _reader(kinds[0]) if len(kinds) == 1 else _tagged_reader(kinds)
        return present and (lambda value: None if value is None else present(value))
    if origin is list:
        item = _reader(inner[0])
        return item and (lambda value: [item(one) for one in value])
    if origin is dict:
        held = _reader(inner[1])
        return held and (lambda value: {key: held(one) for key, one in value.items()})
    if kind is datetime:
        return datetime.fromisoformat
    return _model_reader(kind) if dataclasses.is_dataclass(kind) else None


def _tagged_reader(kinds: Sequence[Any]) -> Read | None:
    """None for other unions than of models. A model that a later release adds stays as it came."""
    readers = {tag: _model_reader(kind) for kind in kinds if (tag := _tag(kind)) is not None}
    if len(readers) < len(kinds):
        return None

    def read(value: Any) -> Any:
        found = next((readers[tag] for tag in readers if value.get(tag[0]) == tag[1]), None)
        return value if found is None else found(value)

    return read


def _tag(kind: Any) -> tuple[str, Any] | None:
    """The name and the value of the field that tells a model from the others of its union."""
    fields = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
    return next(((field.name, field.default) for field in fields if not field.init), None)


def _model_reader(model: Any) -> Read:
    hints = get_type_hints(model)
    names = [field.name for field in dataclasses.fields(model) if field.init]
    fields = [(name, _key(name), _reader(hints[name])) for name in names]

    def read(value: Any) -> Any:
        given = {}
        for name, key, inner in fields:
            if key in value:
                one = value[key]
                given[name] = one if inner is None else inner(one)
        return model(**given)

    return read


def _key(name: str) -> str:
    """A field's name in JSON: one that Python keeps for itself ends with an underscore in a model."""
    plain = name.removesuffix("_")
    return plain if keyword.iskeyword(plain) else name
