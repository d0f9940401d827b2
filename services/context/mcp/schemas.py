"""The schemas of tools, from the API's document: flat, with types that every client understands. Pure.

Some clients drop a tool whose schema is composed at its root, or refuse bounds beyond 2^53; none needs a null.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from services.context.mcp.catalog import FIELDS, KEY, KEY_DESCRIPTION, Tool
from shared.vocabulary import ALIAS

Json = dict[str, Any]
_SAFE = 2**53
# What a string that stands for an id matches. A model reads one way to write an id.
_DIGITS = "^[0-9]{1,19}$"
_JSON = "application/json"


class Route(NamedTuple):
    """How a tool's fields become a request. `nested`: {field: (object of the body, its field)}."""

    method: str
    path: str
    in_path: frozenset[str]
    in_query: frozenset[str]
    names: frozenset[str]
    """Of all fields of the tool."""
    nested: Mapping[str, tuple[str, str]]
    keyed: bool
    has_body: bool
    access: str
    area: str


class Described(NamedTuple):
    route: Route
    input: Json
    output: Json


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
    for name, schema, needed in fields:
        if tool.only and name not in tool.only:
            continue
        simple = {**_simple(inlined(document, schema), FIELDS.get(name)), **_text(tool.fields.get(name))}
        if "properties" in simple:
            # Flat: an object's own fields stand beside the others.
            for part, inner in simple["properties"].items():
                properties[part] = {**inner, **_text(tool.fields.get(part))}
                nested[part] = (name, part)
        else:
            properties[name] = simple
            required += [name] if needed else []
    keyed = any(parameter["name"] == "Idempotency-Key" for parameter in parameters)
    if keyed:
        properties[KEY] = {"type": "string", "minLength": 1, "maxLength": 200, "description": KEY_DESCRIPTION}
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
    return Described(route, _object(ordered, required), answer_schema(document, operation))


def raw_input(document: Json, tool: Tool) -> Json | None:
    """The schema of a tool's twin with one `payload`, which no client can hold an outdated copy of."""
    path, method, operation = _operation(document, tool.operation)
    body = operation.get("requestBody", {}).get("content", {}).get(_JSON, {}).get("schema")
    if body is None or "{" in path:
        return None
    named = [f"{name} (required)" if needed else name for name, _, needed in _body_fields(document, body)]
    payload = {
        "type": "object",
        "description": f"The body of {method.upper()} {path} as it stands. Fields: {', '.join(named)}.",
    }
    return _object({"payload": payload}, ["payload"])


def answer_schema(document: Json, operation: Json) -> Json:
    content = next(
        answer["content"] for status, answer in operation["responses"].items() if status.startswith("2")
    )
    schema = inlined(document, content[_JSON]["schema"])
    return {name: value for name, value in schema.items() if name != "title"}


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
    """Without references and titles."""
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


def _body_fields(document: Json, body: Json | None) -> Iterator[tuple[str, Json, bool]]:
    """A body's fields, and whether each is required. Of a union: the fields of all branches, with the branches
    named that have them; what has one value in each branch is one enumeration."""
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
        if tag is not None and 0 < len(requiring) < len(branches):
            schema = _noted(name, schema, f"Required for {_tags(requiring, tag)}.")
        elif tag is not None and len(own) < len(branches):
            schema = _noted(name, schema, f"For {_tags(own, tag)}.")
        yield name, schema, len(requiring) == len(branches)


def _tags(branches: list[Json], tag: str) -> str:
    return " and ".join(branch["properties"][tag]["enum"][0] for branch in branches)


def _noted(name: str, schema: Json, note: str) -> Json:
    known = schema.get("description") or FIELDS.get(name)
    return {**schema, "description": f"{known} {note}" if known else note}


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


def _parameter_fields(parameters: list[Json], where: str) -> Iterator[tuple[str, Json, bool]]:
    """Name, schema, and whether it is required."""
    for parameter in _in(parameters, where):
        schema = {**parameter["schema"], **_text(parameter.get("description"))}
        yield parameter["name"], schema, parameter.get("required", False)


def _text(description: str | None) -> Json:
    return {} if description is None else {"description": description}


def _simple(schema: Json, description: str | None) -> Json:
    """A field without null and without what clients stumble over. `description`: when it has none of its own."""
    if "anyOf" in schema:
        kinds = [
            kind for kind in schema["anyOf"] if kind.get("type") != "null" and kind.get("pattern") != _DIGITS
        ]
        around = {name: value for name, value in schema.items() if name != "anyOf"}
        schema = {**(kinds[0] if len(kinds) == 1 else {"anyOf": kinds}), **around}
    out: Json = {}
    if "enum" in schema and all(isinstance(choice, str) for choice in schema["enum"]):
        out["type"] = "string"
    for name, value in schema.items():
        if name == "exclusiveMinimum":
            out["minimum"] = value + 1 if schema.get("type") == "integer" else value
        elif name == "items":
            out[name] = _simple(value, None)
        elif name == "properties":
            out[name] = {
                key: _simple(part, FIELDS.get(key)) for key, part in value.items() if ALIAS not in part
            }
        elif not _stumbled_over(name, value):
            out[name] = value
    return {**_text(description), **out}


def _stumbled_over(name: str, value: Any) -> bool:
    if name == "default":
        return value in (None, [], {})
    return name in ("additionalProperties", "exclusiveMaximum", "x-from-key") or (
        name == "maximum" and abs(value) >= _SAFE
    )
