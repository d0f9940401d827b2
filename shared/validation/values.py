"""Every error of a JSON value, by walking it along the type that it should have.

The decoder stops at the first error. It decides what is valid; this says what is not, after it has refused a value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import msgspec
import msgspec.inspect as mi

from shared.bindings import LEFT_OUT, mark_of
from shared.errors import FieldError
from shared.validation.nearest import nearest
from shared.validation.wording import bare, expected, must_be
from shared.vocabulary import shorts

MISSING = "is required"
UNKNOWN_FIELD = "unknown field"
MOST_ERRORS = 50
# Values looked at in one body. A walk takes about a microsecond for each.
_MOST_VALUES = 20_000
# Items of a list that a struct's own checks look at once it is refused.
_MOST_CHECKED = 1_000
_LONGEST_NAME = 100

_KINDS: dict[type[mi.Type], type | tuple[type, ...]] = {
    mi.StrType: str,
    mi.DateTimeType: str,
    mi.BoolType: bool,
    mi.NoneType: type(None),
    mi.ListType: list,
    mi.DictType: dict,
    mi.StructType: dict,
}


class FieldsRefused(ValueError):
    """What a struct's own checks say of fields that have the right types."""

    def __init__(self, errors: Iterable[tuple[str, str]]) -> None:
        self.errors = list(errors)
        super().__init__("; ".join(f"{field}: {message}" for field, message in self.errors))


def errors_of(kind: mi.Type, value: Any, unbound: Mapping[str, str] | None = None) -> list[FieldError]:
    """At most MOST_ERRORS, in the order of the type's fields.

    `unbound` are the marks that no key fills in, and why their fields are required then (`shared.bindings`).
    """
    walk = _Walk(unbound or {})
    walk.value(kind, value, "")
    return walk.errors[:MOST_ERRORS]


def fits(kind: mi.Type, value: Any) -> bool:
    """Whether a scalar is of the type and within its bounds."""
    kind = bare(kind)
    match kind:
        case mi.LiteralType():
            return any(value == choice and type(value) is type(choice) for choice in kind.values)
        case mi.IntType():
            return type(value) is int and _within(kind, value)
        case mi.FloatType():
            return type(value) in (int, float) and _within(kind, value)
        case mi.StrType():
            return isinstance(value, str) and _has_size(kind, value) and _matches(kind.pattern, value)
        case mi.DateTimeType():
            return isinstance(value, str) and _is_time(value)
        case _:
            return isinstance(value, _KINDS.get(type(kind), object))


def choices(kind: mi.Type) -> list[Any]:
    """The values that the type allows, where it lists them."""
    kind = bare(kind)
    if isinstance(kind, mi.UnionType):
        return [choice for one in kind.types for choice in choices(one)]
    return list(kind.values) if isinstance(kind, mi.LiteralType) else []


def field_error(
    field: str, message: str, allowed: Iterable[Any] = (), given: object = None, known: Iterable[str] = ()
) -> FieldError:
    """`given` is compared with `allowed`, else with the names that are `known`."""
    error = FieldError(field=field or "body", message=message)
    if allowed := list(allowed):
        error["allowed"] = allowed
    if (meant := nearest(given, allowed or known)) is not None:
        error["did_you_mean"] = meant
    return error


class _Walk:
    def __init__(self, unbound: Mapping[str, str]) -> None:
        self.errors: list[FieldError] = []
        self._unbound = unbound
        self._left = _MOST_VALUES

    def value(self, kind: mi.Type, value: Any, path: str) -> None:
        if self._full():
            return
        self._left -= 1
        kind = bare(kind)
        match kind:
            case mi.UnionType():
                self._union(kind, value, path)
            case mi.StructType():
                self._struct([kind], value, path)
            case mi.ListType() if isinstance(value, list):
                self._list(kind, value, path)
            case mi.DictType() if isinstance(value, dict):
                self._dict(kind, value, path)
            case _ if not fits(kind, value):
                self._refuse(kind, value, path)

    def _full(self) -> bool:
        return self._left == 0 or len(self.errors) >= MOST_ERRORS

    def _refuse(self, kind: mi.Type, value: Any, path: str) -> None:
        self.errors.append(field_error(path, must_be(kind, value), choices(kind), value))

    def _union(self, kind: mi.UnionType, value: Any, path: str) -> None:
        types = [bare(one) for one in kind.types if not isinstance(one, mi.NoneType)]
        if value is None and kind.includes_none:
            return
        structs = [one for one in types if isinstance(one, mi.StructType)]
        alike = [one for one in types if _is_like(one, value)]
        if len(structs) == len(types):
            self._struct(structs, value, path)
        elif len(types) == 1 or len(alike) == 1:
            self.value((alike or types)[0], value, path)
        elif not any(fits(one, value) for one in alike):
            self._refuse(kind, value, path)

    def _list(self, kind: mi.ListType, value: list[Any], path: str) -> None:
        if not _has_size(kind, value):
            self._refuse(kind, value, path)
        for place, item in enumerate(value[: kind.max_length]):
            if self._full():
                return
            self.value(kind.item_type, item, f"{path}[{place}]")

    def _dict(self, kind: mi.DictType, value: dict[str, Any], path: str) -> None:
        for name, item in value.items():
            if self._full():
                return
            where = _joined(path, name)
            if fits(kind.key_type, name):
                self.value(kind.value_type, item, where)
            else:
                self._refuse(kind.key_type, name, where)

    def _struct(self, branches: list[mi.StructType], value: Any, path: str) -> None:
        """One struct, or the branches of a tagged union."""
        if not isinstance(value, dict):
            self.errors.append(field_error(path, must_be(branches[0], value)))
            return
        tag, chosen = branches[0].tag_field, branches
        if tag is not None:
            chosen = [one for one in branches if one.tag == value.get(tag)]
            if not chosen:
                self._tag(tag, [one.tag for one in branches], value, path)
        self._fields(chosen or branches, value, path)
        if len(chosen) == 1:
            self._own_checks(chosen[0], value, path)

    def _tag(self, tag: str, tags: list[Any], value: Mapping[str, Any], path: str) -> None:
        message = f"must be {expected(mi.LiteralType(tuple(tags)))}" if tag in value else MISSING
        self.errors.append(field_error(_joined(path, tag), message, tags, value.get(tag)))

    def _fields(self, branches: list[mi.StructType], value: Mapping[str, Any], path: str) -> None:
        """Where the branch is not known: the fields that every branch has, and those that none has."""
        by_branch = [{field.encode_name: field for field in one.fields} for one in branches]
        known = {name for fields in by_branch for name in fields}
        for name in by_branch[0]:
            if all(name in fields for fields in by_branch):
                self._field([fields[name] for fields in by_branch], value, path)
        if branches[0].forbid_unknown_fields:
            tag = branches[0].tag_field
            self._unknown(known if tag is None else {*known, tag}, value, path)

    def _field(self, alike: list[mi.Field], value: Mapping[str, Any], path: str) -> None:
        name = alike[0].encode_name
        if name in value:
            self.value(alike[0].type, value[name], _joined(path, name))
        elif (why := self._missing(alike)) is not None:
            self.errors.append(field_error(_joined(path, name), why, choices(alike[0].type)))

    def _missing(self, alike: list[mi.Field]) -> str | None:
        if all(field.required for field in alike):
            return MISSING
        if any(field.default != LEFT_OUT for field in alike):
            return None
        return self._unbound.get(mark_of(alike[0].type))

    def _unknown(self, known: set[str], value: Mapping[str, Any], path: str) -> None:
        left = sorted(name for name in {*known, *shorts(known)} if name not in value)
        for name in value:
            if name in known:
                continue
            if self._full():
                return
            self.errors.append(field_error(_joined(path, name), UNKNOWN_FIELD, given=name, known=left))

    def _own_checks(self, kind: mi.StructType, value: Mapping[str, Any], path: str) -> None:
        """Those of the struct, on fields as they came: an error says nothing new where a type is wrong already."""
        given = {
            field.name: _given(field, value.get(field.encode_name))
            for field in kind.fields
            if _is_set(field, value)
        }
        try:
            kind.cls(**given)
        except FieldsRefused as refused:
            found = {_field_of(error["field"], path) for error in self.errors}
            self.errors += [
                field_error(_joined(path, name), message)
                for name, message in refused.errors
                if _field_of(name, "") not in found
            ]
        except (AttributeError, TypeError, ValueError):
            return


_FIELD = re.compile(r"[^.\[]*")


def _field_of(place: str, path: str) -> str:
    """The field of the struct at `path` that a place is in; empty for a place elsewhere."""
    if path and not place.startswith(f"{path}."):
        return ""
    match = _FIELD.match(place.removeprefix(f"{path}."))
    return match[0] if match else ""


def _given(field: mi.Field, value: Any) -> Any:
    """What the struct's checks look at: the beginning of a list, and times instead of their text."""
    if isinstance(value, list):
        return value[:_MOST_CHECKED]
    return _time(value) if isinstance(value, str) and _is_instant(field.type) else value


def _is_instant(kind: mi.Type) -> bool:
    kind = bare(kind)
    types = kind.types if isinstance(kind, mi.UnionType) else (kind,)
    return any(isinstance(bare(one), mi.DateTimeType) for one in types)


def _time(text: str) -> datetime | None:
    return msgspec.convert(text, datetime) if _is_time(text) else None


def _is_set(field: mi.Field, value: Mapping[str, Any]) -> bool:
    return field.required or field.encode_name in value


def _is_like(kind: mi.Type, value: Any) -> bool:
    """Whether the value is of the JSON type that this one is written as."""
    if isinstance(kind, mi.IntType | mi.FloatType):
        return type(value) in (int, float)
    if isinstance(kind, mi.LiteralType):
        return any(type(value) is type(choice) for choice in kind.values)
    return isinstance(value, _KINDS.get(type(kind), object))


def _within(kind: mi.IntType | mi.FloatType, value: float) -> bool:
    return (
        (kind.gt is None or value > kind.gt)
        and (kind.ge is None or value >= kind.ge)
        and (kind.lt is None or value < kind.lt)
        and (kind.le is None or value <= kind.le)
    )


def _has_size(kind: mi.StrType | mi.ListType, value: str | list[Any]) -> bool:
    return (kind.min_length or 0) <= len(value) and (kind.max_length is None or len(value) <= kind.max_length)


def _matches(pattern: str | None, value: str) -> bool:
    return pattern is None or re.search(pattern, value) is not None


def _is_time(text: str) -> bool:
    try:
        msgspec.convert(text, datetime)
    except msgspec.ValidationError:
        return False
    return True


def _joined(path: str, name: str) -> str:
    name = name if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME] + "…"
    return f"{path}.{name}" if path else name
