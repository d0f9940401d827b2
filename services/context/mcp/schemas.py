"""The schemas of tools, from the API's document: flat, short, with types that every client understands. Pure.

Some clients drop a tool whose schema is composed at its root, or refuse bounds beyond 2^53; none needs a null. A model
reads every character of a list and counts none of what it writes: bounds that it would not meet by chance are left out,
and so is what a nested answer holds beyond the names that are always there. The owner of a route checks everything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from services.context.mcp.fields import FIELDS, KEY, KEY_DESCRIPTION
from services.context.mcp.tool import Tool
from shared.text import SEEN
from shared.vocabulary import ALIAS, DEFAULT

Json = dict[str, Any]
# A greater bound than any that a model comes near.
_FAR = 1_000_000
_LENGTHS = ("minLength", "maxLength", "minItems", "maxItems")
# Matches an id as a string. Models see only one way to write an id.
_DIGITS = "^[0-9]{1,19}$"
_JSON = "application/json"
BLOCK = "context_block"
# Any answer may have the first, and any write's the other, so no schema of a list repeats them.
_OF_EVERY_ANSWER = ("masked", "review")
# Between two sentences.
_SENTENCE = re.compile(r"(?<=\.) (?=[A-Z`])")


class Route(NamedTuple):
    """How a tool's fields become a request. `nested` maps a field to (object of the body, its field)."""

    method: str
    path: str
    in_path: frozenset[str]
    in_query: frozenset[str]
    names: frozenset[str]
    """The names of all the tool's fields."""
    nested: Mapping[str, tuple[str, str]]
    keyed: bool
    has_body: bool
    access: str
    area: str


class Described(NamedTuple):
    route: Route
    input: Json
    output: Json | None
    """None where the answer is a block: a model reads it as text."""


class Field(NamedTuple):
    name: str
    schema: Json
    required: bool = False
    note: str = ""
    """Which types it is for, where it is not for all."""


def describe(document: Json, tool: Tool) -> Described:
    path, method, operation = _operation(document, tool.operation)
    parameters = [_resolve(document, parameter) for parameter in operation.get("parameters", [])]
    body = operation.get("requestBody", {}).get("content", {}).get(_JSON, {}).get("schema")
    fields = [
        *_parameter_fields(parameters, "path"),
        *_body_fields(document, body),
        *_parameter_fields(parameters, "query"),
    ]
    properties: Json = {}
    required: list[str] = []
    nested: dict[str, tuple[str, str]] = {}
    for field in fields:
        if (tool.only and field.name not in tool.only) or field.name in tool.without:
            continue
        schema = _without(inlined(document, field.schema), field.name, tool.without)
        simple = _simple(schema, {**FIELDS, **tool.fields}, field.name, field.note)
        if "properties" in simple:
            # Flatten: an object's fields stand beside the others.
            properties |= simple["properties"]
            nested |= {part: (field.name, part) for part in simple["properties"]}
        else:
            properties[field.name] = simple
            required += [field.name] if field.required else []
    keyed = any(parameter["name"] == "Idempotency-Key" for parameter in parameters)
    if keyed:
        properties[KEY] = {"type": "string", "description": KEY_DESCRIPTION}
    route = Route(
        method=method.upper(),
        path=path,
        in_path=frozenset(parameter["name"] for parameter in _in(parameters, "path")),
        in_query=frozenset(parameter["name"] for parameter in _in(parameters, "query")),
        names=frozenset(properties),
        nested=nested,
        keyed=keyed,
        has_body=body is not None,
        access=operation["x-access"],
        area=operation["tags"][0],
    )
    ordered = {name: properties[name] for name in (*required, *(n for n in properties if n not in required))}
    return Described(route, _object(ordered, required), _answer(document, operation, tool))


def raw_input(document: Json, tool: Tool) -> Json | None:
    """The schema of a tool's twin with one `payload`, which no client can hold an outdated copy of."""
    path, method, operation = _operation(document, tool.operation)
    body = operation.get("requestBody", {}).get("content", {}).get(_JSON, {}).get("schema")
    if body is None or "{" in path:
        return None
    fields = _body_fields(document, body)
    named = [f"{field.name} (required)" if field.required else field.name for field in fields]
    payload = {
        "type": "object",
        "description": f"The body of {method.upper()} {path} as it stands. Fields: {', '.join(named)}.",
    }
    return _object({"payload": payload}, ["payload"])


def _answer(document: Json, operation: Json, tool: Tool) -> Json | None:
    schema = answer_schema(document, operation)
    if schema is None or tool.names:
        return schema
    parts = {
        name: {k: v for k, v in part.items() if k != "required"}
        for name, part in schema["properties"].items()
    }
    return {**schema, "properties": parts}


def answer_schema(document: Json, operation: Json) -> Json | None:
    content = next(
        answer["content"] for status, answer in operation["responses"].items() if status.startswith("2")
    )
    schema = inlined(document, content[_JSON]["schema"])
    own = schema.get("properties", {})
    if BLOCK in own or BLOCK in own.get("data", {}).get("properties", {}):
        return None
    return _outlined(schema)


def _outlined(schema: Json) -> Json:
    """Types, the fields of the answer itself, and of what it holds the names that are always there."""
    if "properties" not in schema:
        return _typed(schema)
    return {
        "type": "object",
        "properties": {
            name: _typed(part) for name, part in schema["properties"].items() if name not in _OF_EVERY_ANSWER
        },
    }


def _typed(schema: Json) -> Json:
    kinds = [kind for kind in schema.get("anyOf", [schema]) if kind.get("type") != "null"]
    if len(kinds) > 1:
        return {}
    kind = kinds[0]
    out: Json = {name: kind[name] for name in ("type", "required") if name in kind}
    if "anyOf" in schema and "type" in out:
        out["type"] = [out["type"], "null"]
    if "items" in kind:
        out["items"] = _typed(kind["items"])
    return out


def _object(properties: Json, required: list[str]) -> Json:
    return {"type": "object", "properties": properties, "required": required}


def _operation(document: Json, wanted: str) -> tuple[str, str, Json]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if operation["operationId"] == wanted:
                return path, method, operation
    raise LookupError(wanted)


def _resolve(document: Json, node: Json) -> Json:
    while "$ref" in node:
        target: Any = document
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        node = target
    return node


def inlined(document: Json, schema: Any) -> Any:
    """The schema without references and titles."""
    if isinstance(schema, list):
        return [inlined(document, part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        around = {name: value for name, value in schema.items() if name != "$ref"}
        schema = {**_resolve(document, schema), **around}
    return {
        name: {key: inlined(document, part) for key, part in value.items()}
        if name == "properties"
        else inlined(document, value)
        for name, value in schema.items()
        if name not in ("title", "discriminator", "example", "examples")
    }


def _without(schema: Json, name: str, hidden: Sequence[str]) -> Json:
    """The schema of a list without the hidden fields of its items."""
    fields = schema.get("items", {}).get("properties", {})
    shown = {field: part for field, part in fields.items() if f"{name}.{field}" not in hidden}
    return schema if shown == fields else {**schema, "items": {**schema["items"], "properties": shown}}


def _body_fields(document: Json, body: Json | None) -> Iterator[Field]:
    """A body's fields. Of a union: the fields of all branches, with the branches named that have them; what has one
    value in each branch is one enumeration."""
    if body is None:
        return
    body = _resolve(document, body)
    tag = body.get("discriminator", {}).get("propertyName")
    branches = [_resolve(document, branch) for branch in body.get("anyOf", [body])]
    merged: Json = {}
    for branch in branches:
        for name, schema in branch["properties"].items():
            if ALIAS not in schema:
                merged[name] = _united(merged.get(name), schema)
    for name, schema in merged.items():
        own = [branch for branch in branches if name in branch["properties"]]
        requiring = [branch for branch in own if name in branch.get("required", [])]
        note = ""
        if tag is not None and 0 < len(requiring) < len(branches):
            note = f"Required for {_tags(requiring, tag)}."
        elif tag is not None and len(own) < len(branches):
            note = f"For {_tags(own, tag)}."
        yield Field(name, schema, len(requiring) == len(branches), note)


def _tags(branches: list[Json], tag: str) -> str:
    return " and ".join(branch["properties"][tag]["enum"][0] for branch in branches)


def _united(known: Json | None, schema: Json) -> Json:
    if known is None:
        return schema
    if "enum" in known and "enum" in schema:
        return {
            **schema,
            "enum": [*known["enum"], *(choice for choice in schema["enum"] if choice not in known["enum"])],
        }
    return known if "anyOf" in known else schema


def _in(parameters: list[Json], where: str) -> Iterator[Json]:
    return (parameter for parameter in parameters if parameter["in"] == where and ALIAS not in parameter)


def _parameter_fields(parameters: list[Json], where: str) -> Iterator[Field]:
    for parameter in _in(parameters, where):
        schema = {**parameter["schema"], **_text(parameter.get("description"))}
        yield Field(parameter["name"], schema, parameter.get("required", False))


def _text(description: str | None) -> Json:
    return {"description": description} if description else {}


def _simple(schema: Json, known: Mapping[str, str], name: str = "", note: str = "") -> Json:
    """A field without null and without what clients stumble over or models need not read.

    `known`: descriptions by name, which go before the first sentence of the schema's own.
    """
    if "anyOf" in schema:
        kinds = [
            kind for kind in schema["anyOf"] if kind.get("type") != "null" and kind.get("pattern") != _DIGITS
        ]
        around = {key: value for key, value in schema.items() if key != "anyOf"}
        schema = {**(kinds[0] if len(kinds) == 1 else {"anyOf": kinds}), **around}
    out: Json = {}
    if "enum" in schema and all(isinstance(choice, str) for choice in schema["enum"]):
        out["type"] = "string"
    for key, value in schema.items():
        if key == "items":
            out[key] = _simple(
                {part: inner for part, inner in value.items() if part != "description"}, FIELDS
            )
        elif key == "properties":
            out[key] = {
                part: _simple(inner, known, part) for part, inner in value.items() if ALIAS not in inner
            }
        elif not _left_out(key, value):
            out["default" if key == DEFAULT else key] = value
    own = _SENTENCE.split(schema.get("description", ""), maxsplit=1)[0]
    description = " ".join(filter(None, (known.get(name) or own, note)))
    return {**out, **_text(description)}


def _left_out(key: str, value: Any) -> bool:
    if key in ("default", DEFAULT):
        return value in (None, [], {})
    if key == "pattern":
        return bool(value == SEEN)
    if key == "minimum":
        return bool(value <= 1)
    if key == "maximum":
        return bool(abs(value) >= _FAR)
    return key in (
        "additionalProperties",
        "description",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "x-from-key",
        *_LENGTHS,
    )
