"""Python annotations of the document's schemas."""

from __future__ import annotations

import keyword
import textwrap
from collections.abc import Iterator
from typing import Any

from shared.vocabulary import ALIAS, DEFAULT

Schema = dict[str, Any]

_PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}


def named(schema: Schema) -> dict[str, Schema]:
    """An object's properties, without aliases."""
    return {name: part for name, part in schema["properties"].items() if ALIAS not in part}


def python_name(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) else name


def annotation(schema: Schema, *, given: bool = False) -> str:
    """An argument takes any sequence or mapping."""
    if "$ref" in schema:
        return name_of(schema)
    if "anyOf" in schema:
        return " | ".join(annotation(one, given=given) for one in schema["anyOf"])
    if "enum" in schema:
        return f"Literal[{', '.join(map(_quoted, schema['enum']))}]"
    kind = schema.get("type")
    if kind == "array":
        return f"{'Sequence' if given else 'list'}[{annotation(schema['items'], given=given)}]"
    if kind == "object":
        inner = annotation(schema.get("additionalProperties") or {}, given=given)
        return f"{'Mapping' if given else 'dict'}[str, {inner}]"
    if kind == "null":
        return "None"
    if schema.get("format") == "date-time":
        return "datetime"
    return _PLAIN.get(kind or "", "Any")


def name_of(schema: Schema) -> str:
    return str(schema["$ref"]).rsplit("/", 1)[-1]


def is_null(schema: Schema) -> bool:
    return schema.get("type") == "null"


def may_be_null(schema: Schema) -> bool:
    return any(map(is_null, schema.get("anyOf", ())))


def means_something_as_null(schema: Schema, required: bool) -> bool:
    """Whether null differs from leaving the field out, because null is not its default."""
    return not required and may_be_null(schema) and DEFAULT not in schema


def names_in(schema: Any) -> Iterator[str]:
    """The components that a schema refers to directly."""
    if isinstance(schema, dict):
        if "$ref" in schema:
            yield name_of(schema)
        # Skip a discriminator, which names them again.
        for key, item in schema.items():
            if key != "discriminator":
                yield from names_in(item)
    elif isinstance(schema, list):
        for item in schema:
            yield from names_in(item)


def docstring(text: str, indent: str) -> str:
    lines = textwrap.wrap(" ".join(text.split()), 104 - len(indent))
    if len(lines) == 1:
        return f'{indent}"""{lines[0]}"""\n'
    body = "\n".join(indent + line for line in lines[1:])
    return f'{indent}"""{lines[0]}\n{body}\n{indent}"""\n'


def _quoted(value: str) -> str:
    return f'"{value}"'
