"""Fills a request's body from its key: the key's agent, and its mission if it has exactly one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple

import msgspec.inspect as mi
from msgspec import Meta

from shared.auth import Principal
from shared.errors import FieldError, Invalid
from shared.text import mission_problem

FROM_KEY = "x-from-key"
"""Marks the schema of a field that a bound key can fill in."""
LEFT_OUT = ""
"""The default of a field that is required unless the key fills it in. No caller can send this value."""

OwnAgent = Annotated[str, Meta(min_length=1, max_length=200, extra_json_schema={FROM_KEY: "agent"})]
OwnMission = Annotated[str, Meta(min_length=1, max_length=200, extra_json_schema={FROM_KEY: "mission"})]

_REQUIRED = {
    "agent": "is required: this key is bound to no agent",
    "mission": "is required: this key is not bound to one mission",
}


class _Field(NamedTuple):
    name: str
    of: Literal["agent", "mission"]


class _Plan(NamedTuple):
    """The fields of a body that a key fills in, and its bodies and lists of bodies with such fields."""

    fields: tuple[_Field, ...]
    bodies: tuple[str, ...]
    lists: tuple[str, ...]


def fill_in(body: Any, principal: Principal) -> None:
    """Fills in the key's agent and mission where `body` names none. Raises Invalid if the key has none either."""
    missing = list(_fill(body, principal, ""))
    if missing:
        raise Invalid.of(missing)


def unbound(principal: Principal | None) -> Mapping[str, str]:
    """What the key fills in for nobody, as {mark: why a field with this mark is required}; nothing without a key."""
    if principal is None:
        return {}
    own = {"agent": principal.agent, "mission": _mission(principal)}
    return {mark: why for mark, why in _REQUIRED.items() if own[mark] is None}


def _fill(body: Any, principal: Principal, path: str) -> Iterator[FieldError]:
    plan = _plan(body.__class__)
    for name, of in plan.fields:
        value = getattr(body, name)
        if value is None or value == LEFT_OUT:
            own = principal.agent if of == "agent" else _mission(principal)
            if own is not None:
                setattr(body, name, own)
            elif value is not None:
                yield FieldError(field=path + name, message=_REQUIRED[of])
    for name in plan.bodies:
        if (inner := getattr(body, name)) is not None:
            yield from _fill(inner, principal, f"{path}{name}.")
    for name in plan.lists:
        for place, item in enumerate(getattr(body, name)):
            yield from _fill(item, principal, f"{path}{name}[{place}].")


def _mission(principal: Principal) -> str | None:
    """None also for a key that is bound to a name which no mission can have."""
    return None if principal.mission is None or mission_problem(principal.mission) else principal.mission


@cache
def _plan(kind: type) -> _Plan:
    info = mi.type_info(kind)
    fields = info.fields if isinstance(info, mi.StructType) else ()
    return _Plan(
        tuple(_Field(field.name, of) for field in fields if (of := mark_of(field.type))),
        tuple(field.name for field in fields if _is_marked(field.type)),
        tuple(
            field.name
            for field in fields
            if isinstance(field.type, mi.ListType) and _is_marked(field.type.item_type)
        ),
    )


def mark_of(kind: mi.Type) -> Any:
    """What a key fills in for a field of this type, if anything."""
    if isinstance(kind, mi.UnionType):
        return next((mark for one in kind.types if (mark := mark_of(one))), None)
    if isinstance(kind, mi.Metadata):
        return (kind.extra_json_schema or {}).get(FROM_KEY) or mark_of(kind.type)
    return None


def _is_marked(kind: mi.Type) -> bool:
    """Whether it is a body, or null, with fields that a key fills in."""
    if isinstance(kind, mi.UnionType):
        return any(_is_marked(one) for one in kind.types)
    return isinstance(kind, mi.StructType) and any(_plan(kind.cls))
