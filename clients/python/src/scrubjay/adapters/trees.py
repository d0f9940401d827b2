"""MessagePack as JSON and back, byte for byte.

Text stays text, so that the service finds the secrets in it. What JSON has not stands in an object with one name that
begins with `~`; what is nested too deeply for a request stays MessagePack.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import ormsgpack

_MARK = "~"
# A request may hold a hundred levels. An extension takes two or three.
_LEVELS = 40
_OPTIONS = ormsgpack.OPT_NON_STR_KEYS


class _Extension(NamedTuple):
    code: int
    data: bytes


def tree_of(packed: bytes) -> Any:
    """The JSON value for one value of MessagePack."""
    return _tree(_unpacked(packed), 0)


def packed_of(tree: Any) -> bytes:
    """The value of MessagePack that a tree was made of."""
    packed: bytes = ormsgpack.packb(_value(tree), option=_OPTIONS)
    return packed


def _unpacked(packed: bytes) -> Any:
    return ormsgpack.unpackb(packed, ext_hook=_Extension, option=_OPTIONS)


def _tree(value: Any, level: int) -> Any:
    if isinstance(value, _Extension):
        return _of_extension(value, level)
    if isinstance(value, str):
        return value if _is_plain(value) else _marked("text", value.encode("utf-8", "surrogatepass"))
    if isinstance(value, bytes):
        return _marked("bytes", value)
    if isinstance(value, float):
        return value if _is_exact(value) else {f"{_MARK}float": repr(value)}
    if not isinstance(value, list | tuple | dict):
        return value
    if level > _LEVELS:
        return _marked("packed", ormsgpack.packb(_extended(value), option=_OPTIONS))
    if isinstance(value, dict):
        return _of_object(value, level)
    return [_tree(each, level + 1) for each in value]


def _of_object(value: dict[Any, Any], level: int) -> Any:
    if all(isinstance(name, str) and _is_plain(name) and not name.startswith(_MARK) for name in value):
        return {name: _tree(each, level + 1) for name, each in value.items()}
    return {f"{_MARK}map": [[_tree(name, level + 2), _tree(each, level + 2)] for name, each in value.items()]}


def _of_extension(value: _Extension, level: int) -> Any:
    """What a framework packs into an extension is MessagePack, too, as a rule."""
    try:
        inner = _tree(_unpacked(value.data), level + 1)
        if level <= _LEVELS and packed_of(inner) == value.data:
            return {f"{_MARK}{value.code}": inner}
    except (ValueError, TypeError):
        pass
    return {f"{_MARK}{value.code}": _marked("raw", value.data)}


def _extended(value: Any) -> Any:
    if isinstance(value, _Extension):
        return ormsgpack.Ext(value.code, value.data)
    if isinstance(value, dict):
        return {_extended(name): _extended(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(_extended, value))
    return value


def _is_plain(text: str) -> bool:
    """Whether a request may hold it."""
    return "\x00" not in text and (
        text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)
    )


def _is_exact(number: float) -> bool:
    """Whether JSON tells it from an integer and from its neighbours, whoever reads it."""
    return math.isfinite(number) and "e" not in repr(number) and repr(number) != "-0.0"


def _marked(name: str, data: bytes) -> dict[str, str]:
    return {f"{_MARK}{name}": base64.b64encode(data).decode()}


_OF_MARK: dict[str, Callable[[Any], Any]] = {
    "text": lambda told: base64.b64decode(told).decode("utf-8", "surrogatepass"),
    "bytes": base64.b64decode,
    "float": float,
    "packed": lambda told: _extended(_unpacked(base64.b64decode(told))),
    "map": lambda told: {_hashable(_value(name)): _value(each) for name, each in told},
}


def _value(tree: Any) -> Any:
    if isinstance(tree, list):
        return [_value(each) for each in tree]
    if not isinstance(tree, dict):
        return tree
    ((name, told), *_) = tree.items() if tree else (("", None),)
    if not name.startswith(_MARK):
        return {name: _value(each) for name, each in tree.items()}
    kind = name.removeprefix(_MARK)
    if kind in _OF_MARK:
        return _OF_MARK[kind](told)
    return ormsgpack.Ext(int(kind), _data(told))


def _data(told: Any) -> bytes:
    if isinstance(told, dict) and told.keys() == {f"{_MARK}raw"}:
        return base64.b64decode(told[f"{_MARK}raw"])
    return packed_of(told)


def _hashable(name: Any) -> Any:
    return tuple(map(_hashable, name)) if isinstance(name, list) else name
