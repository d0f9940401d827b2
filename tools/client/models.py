"""The client's models: a dataclass or a choice for each component of the document, except those that are a call's
arguments."""

from __future__ import annotations

from collections.abc import Sequence

from shared.vocabulary import DEFAULT
from tools.client.types import (
    Schema,
    annotation,
    docstring,
    may_be_null,
    means_something_as_null,
    named,
    python_name,
)

HEADER = '"""Written by `make openapi` from the API\'s document."""\n\nfrom __future__ import annotations\n\n'
_IMPORTS = """from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

"""


def module(components: dict[str, Schema], choices: Sequence[str] = ()) -> str:
    """`choices` are of the module of that name."""
    imported = f"from scrubjay.models.choices import {', '.join(choices)}\n\n" if choices else ""
    return (
        HEADER
        + _IMPORTS
        + imported
        + "\n\n".join(_model(name, schema) for name, schema in components.items())
    )


def package(modules: dict[str, list[str]]) -> str:
    lines = [f"from scrubjay.models.{module} import {', '.join(names)}" for module, names in modules.items()]
    names = sorted(name for some in modules.values() for name in some)
    listed = "".join(f'    "{name}",\n' for name in names)
    return HEADER + "\n".join(lines) + f"\n\n__all__ = [\n{listed}]\n"


def _model(name: str, schema: Schema) -> str:
    if "enum" in schema:
        return f"{name} = {annotation(schema)}\n"
    required = set(schema.get("required", ()))
    text = docstring(schema["description"], "    ") + "\n" if "description" in schema else ""
    fields = "".join(_field(key, part, key in required) for key, part in named(schema).items())
    return f"@dataclass(frozen=True, slots=True, kw_only=True)\nclass {name}:\n{text}{fields}"


def _field(name: str, schema: Schema, required: bool) -> str:
    kind = annotation(schema)
    default = "" if required else f" = {_default(schema)}"
    if required and len(schema.get("enum", ())) == 1:
        # A union's tag has a fixed value.
        default = f' = field(default="{schema["enum"][0]}", init=False)'
    elif not required and not may_be_null(schema) and DEFAULT not in schema:
        kind += " | None"
    text = docstring(schema["description"], "    ") if "description" in schema else ""
    return f"    {python_name(name)}: {kind}{default}\n{text}"


def _default(schema: Schema) -> str:
    assert not means_something_as_null(schema, required=False), "a model has no way to leave it out"
    value = schema.get(DEFAULT)
    if isinstance(value, list | dict):
        return f"field(default_factory={type(value).__name__})"
    return repr(value).replace("'", '"')
