"""A call's arguments: how they are declared, what they are for, and which of them a client for one agent fills in."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from shared.bindings import FROM_KEY
from shared.vocabulary import ALIAS
from tools.client.types import Schema, annotation, means_something_as_null, name_of

_WIDTH = 104


class Argument(NamedTuple):
    name: str
    kind: str
    text: str
    default: str | None = None
    positional: bool = False

    @property
    def declared(self) -> str:
        return f"{self.name}: {self.kind}" + (f" = {self.default}" if self.default else "")


TIMEOUT = Argument("timeout", "float | None", "Seconds for the call with all its tries.", "None")
KEY = Argument(
    "idempotency_key",
    "str | None",
    "A write under one key happens once; else the client makes one up.",
    "None",
)
# Named by nobody who asks one question or says one thing.
_PLAIN = ("query", "text")


def argument(name: str, schema: Schema, required: bool, text: str | None = None) -> Argument:
    """Of a field of a body, or of a parameter of a query."""
    kind, default = annotation(schema, given=True), None
    if means_something_as_null(schema, required):
        kind, default = f"{kind.removesuffix(' | None')} | Unset | None", "UNSET"
    elif not required:
        kind, default = kind if kind.endswith("| None") else f"{kind} | None", "None"
    return Argument(name, kind, text or schema.get("description", ""), default, positional=name in _PLAIN)


def asked(schema: Schema) -> dict[str, Schema]:
    """A body's fields. A short name stands beside its main one only if that may be left out."""
    required = schema.get("required", ())
    return {name: part for name, part in schema["properties"].items() if part.get(ALIAS) not in required}


def declaration(arguments: Iterable[Argument]) -> str:
    """What may be given by its place goes first, and what must be given before what may be left out."""
    ordered = sorted(arguments, key=lambda argument: (not argument.positional, argument.default is not None))
    placed = [one.declared for one in ordered if one.positional]
    return "".join(f"{one}, " for one in [*placed, "*", *(o.declared for o in ordered if not o.positional)])


def documentation(text: str, arguments: Iterable[Argument]) -> str:
    lines = textwrap.wrap(" ".join(text.split()), _WIDTH - 4)
    lines += ["", "Args:"]
    for one in arguments:
        words = " ".join(f"{one.name}: {one.text}".split())
        lines += textwrap.wrap(words, _WIDTH - 4, initial_indent="    ", subsequent_indent="        ")
    body = "\n".join(f"    {line}" if line else "" for line in lines[1:])
    return f'    """{lines[0]}\n{body}\n    """\n'


class Own(NamedTuple):
    """The fields for `agent` and `mission`, of a body or of the items of its list `each`."""

    fields: Mapping[str, str]
    each: str | None = None


def own(schema: Schema, components: Mapping[str, Schema]) -> Own:
    """What a key that is bound to an agent and a mission says in a body's place."""
    found = _fields(schema, components)
    if not found and "$ref" in schema:
        for name, one in components[name_of(schema)]["properties"].items():
            if inner := _fields(one.get("items", {}), components):
                return Own(inner, name)
    return Own(found)


def _fields(schema: Schema, components: Mapping[str, Schema]) -> dict[str, str]:
    if "anyOf" in schema:
        return {short: name for one in schema["anyOf"] for short, name in _fields(one, components).items()}
    held = components[name_of(schema)].get("properties", {}) if "$ref" in schema else {}
    return {short: name for name, one in held.items() if ALIAS not in one and (short := _mark(one))}


def _mark(schema: Schema) -> Any:
    return schema.get(FROM_KEY) or next((m for one in schema.get("anyOf", ()) if (m := _mark(one))), None)
