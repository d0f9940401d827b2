"""One vocabulary for requests: short names beside the main ones, and ids as numbers or strings of digits.

Bodies with main names are decoded unchanged. Only a body that the decoder refuses is rewritten to main names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl, urlencode

import msgspec.inspect as mi

from shared.errors import FieldError, Invalid

SHORT: Mapping[str, str] = {
    "agent_name": "agent",
    "caller": "agent",
    "mission_id": "mission",
    "mission_namespace": "mission",
}
"""The short name of each main name."""
ID = "x-id"
"""Marks the schema of an id."""
ALIAS = "x-alias-of"
"""In the API's document, names the main name that this field is short for."""
DEFAULT = "x-default"
"""What a field is when it is left out. Generators of types read `default` as: the field is always there."""

# A list without a bound is not looked through beyond so many items.
_MOST_ITEMS = 10_000
_DIGITS = re.compile(r"[0-9]{1,19}")


def shorts(names: Collection[str]) -> dict[str, str]:
    """{short: main} for each of `names` with a short name, unless the short name is itself in `names`."""
    return {short: name for name, short in SHORT.items() if name in names and short not in names}


class Rewritten:
    """A body with main names. `given` holds the paths of the fields that came by their short name."""

    def __init__(self, document: Any, kind: type) -> None:
        """Raises Invalid when a field came by both names, with different values."""
        self.given: dict[str, str] = {}
        self.changed = False
        self.document = self._value(document, _type_info(kind), "")

    def as_given(self, refused: Invalid) -> Invalid:
        """The refusal with the names that the caller used."""
        errors = refused.errors or ()
        return Invalid.of(FieldError({**error, "field": self._path(error["field"])}) for error in errors)

    def _path(self, field: str) -> str:
        for main, short in self.given.items():
            if field == main or field.startswith((f"{main}.", f"{main}[")):
                return short + field[len(main) :]
        return field

    def _value(self, value: Any, kind: mi.Type, path: str) -> Any:
        options = list(_options(kind))
        if isinstance(value, str):
            return self._number(value, options)
        if isinstance(value, dict):
            return self._object(value, options, path)
        if isinstance(value, list):
            return self._list(value, options, path)
        return value

    def _list(self, value: list[Any], options: list[mi.Type], path: str) -> list[Any]:
        kind = next((option for option in options if isinstance(option, mi.ListType)), None)
        if kind is None or len(value) > (kind.max_length or _MOST_ITEMS):
            return value
        if not any(isinstance(option, mi.StructType | mi.Metadata) for option in _options(kind.item_type)):
            return value
        return [self._value(item, kind.item_type, f"{path}[{i}]") for i, item in enumerate(value)]

    def _number(self, value: str, options: list[mi.Type]) -> Any:
        is_id = any(isinstance(option, mi.Metadata) for option in options)
        if not is_id or not _DIGITS.fullmatch(value):
            return value
        self.changed = True
        return int(value)

    def _object(self, value: dict[str, Any], options: list[mi.Type], path: str) -> Any:
        struct = next((o for o in options if isinstance(o, mi.StructType) and _is_tagged(value, o)), None)
        if struct is None:
            return value
        fields = {field.encode_name: field for field in struct.fields}
        value = self._in_main_names(value, fields, path)
        return {
            name: self._value(item, fields[name].type, _join(path, name)) if name in fields else item
            for name, item in value.items()
        }

    def _in_main_names(self, value: dict[str, Any], names: Collection[str], path: str) -> dict[str, Any]:
        for short, main in shorts(names).items():
            if short in value:
                self.changed = True
                value = _renamed(value, short, main, path)
                self.given[_join(path, main)] = _join(path, short)
        return value


def in_query(query_string: bytes, names: Collection[str]) -> bytes:
    """The query string with main names, for a route whose parameters have these `names`. Raises Invalid."""
    known = {short: main for short, main in shorts(names).items() if b"%b=" % short.encode() in query_string}
    if not known:
        return query_string
    pairs = parse_qsl(query_string.decode("latin-1"), keep_blank_values=True)
    for short, main in known.items():
        values = {value for name, value in pairs if name in (short, main)}
        if len(values) > 1:
            raise _differ(short, main)
    return urlencode(list(dict.fromkeys((known.get(name, name), value) for name, value in pairs))).encode()


def renamed(values: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """The values under main names, for fields with these `names`. Raises Invalid."""
    found = dict(values)
    for short, main in shorts(names).items():
        if short in found:
            found = _renamed(found, short, main, "")
    return found


def _renamed(values: dict[str, Any], short: str, main: str, path: str) -> dict[str, Any]:
    given, other = values[short], values.get(main)
    if given is not None and other is not None and given != other:
        raise _differ(_join(path, short), _join(path, main))
    kept = {name: value for name, value in values.items() if name != short}
    return {**kept, main: other if given is None else given}


def _differ(short: str, main: str) -> Invalid:
    errors = [
        FieldError(field=one, message=f"differs from {other}, which names the same: give one of them")
        for one, other in ((short, main), (main, short))
    ]
    return Invalid(f"{short} and {main} name the same and differ: give one of them", errors=errors)


def _options(kind: mi.Type) -> Iterator[mi.Type]:
    """The types that a value may have. Only ids keep their mark."""
    if isinstance(kind, mi.Metadata) and ID not in (kind.extra_json_schema or {}):
        yield from _options(kind.type)
    elif isinstance(kind, mi.UnionType):
        for one in kind.types:
            yield from _options(one)
    else:
        yield kind


def _is_tagged(value: Mapping[str, Any], struct: mi.StructType) -> bool:
    return struct.tag_field is None or value.get(struct.tag_field) == struct.tag


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


_type_info = lru_cache(maxsize=256)(mi.type_info)
