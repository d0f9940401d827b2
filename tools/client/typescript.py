"""Writes the typed part of the TypeScript client from the API's document: interfaces, and calls as methods."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tools.client.arguments import asked, own
from tools.client.calls import Operation
from tools.client.types import Schema, name_of, named, names_in

FOLDER = Path(__file__).parents[2] / "clients/typescript/src"
# The client itself has the calls of these groups as its methods.
_DIRECT = ("context", "timeline")
_HEADER = "// Written by `make openapi` from the API's document.\n\n"
_PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean"}
_MISSION = "mission_id"
_WIDTH = 110
_JSON, _LINES = "application/json", "application/x-ndjson"


def sources(document: dict[str, Any]) -> dict[str, str]:
    """Modules by their path in the folder of the client's source."""
    components = document["components"]["schemas"]
    by_group: dict[str, list[Operation]] = {}
    for path, methods in document["paths"].items():
        for method, spec in methods.items():
            operation = Operation(method, path, spec, document)
            if not operation.covered:
                by_group.setdefault(operation.group, []).append(operation)
    every = [operation for operations in by_group.values() for operation in operations]
    models = sorted(_needed(every, components))
    return {
        "models.ts": _HEADER + "\n".join(_model(name, components[name]) for name in models),
        **{f"calls/{group}.ts": _group(group, some, models) for group, some in by_group.items()},
        "calls/index.ts": _client(by_group),
    }


def method_name(operation: Operation) -> str:
    return _camel(operation.name.removesuffix("_"))


def group_name(operation: Operation) -> str | None:
    """The client's attribute that has the method; None where the client has it itself."""
    return None if operation.group in _DIRECT else _camel(operation.group)


def _needed(operations: Iterable[Operation], components: dict[str, Schema]) -> set[str]:
    """The components that arguments and answers name, and all that these refer to."""
    todo = [name for operation in operations for name in _named(operation)]
    found: set[str] = set()
    while todo:
        name = todo.pop()
        if name not in found and name in components:
            found.add(name)
            todo += names_in(components[name])
    return found


def _named(operation: Operation) -> Iterator[str]:
    yield from names_in([answer for status, answer in operation.spec["responses"].items() if status < "3"])
    yield from names_in(operation.parameters)
    yield from names_in(operation.flat or operation.spec.get("requestBody", {}))


def kind_of(schema: Schema, *, given: bool = False) -> str:
    """The type of a value. What a caller gives may be read-only."""
    if "$ref" in schema:
        return name_of(schema)
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(kind_of(one, given=given) for one in schema["anyOf"]))
    if "enum" in schema:
        return " | ".join(map(json.dumps, schema["enum"]))
    kind = schema.get("type")
    if kind == "array":
        inner = kind_of(schema["items"], given=given)
        inner = f"({inner})" if " " in inner else inner
        return f"{'readonly ' if given else ''}{inner}[]"
    if kind == "object":
        return f"Record<string, {kind_of(schema.get('additionalProperties') or {}, given=given)}>"
    return "null" if kind == "null" else _PLAIN.get(kind or "", "unknown")


def _model(name: str, schema: Schema) -> str:
    text = _comment(schema.get("description", ""), "")
    if "enum" in schema:
        return f"{text}export type {name} = {kind_of(schema)};\n"
    required = schema.get("required", ())
    fields = (_field(key, part, key in required) for key, part in named(schema).items())
    return f"{text}export interface {name} {{\n{''.join(fields)}}}\n"


def _field(name: str, schema: Schema, required: bool, text: str = "", *, given: bool = False) -> str:
    shown = name if name.isidentifier() else json.dumps(name)
    comment = _comment(text or schema.get("description", ""), "  ")
    return f"{comment}  {shown}{'' if required else '?'}: {kind_of(schema, given=given)};\n"


def _group(group: str, operations: list[Operation], models: Iterable[str]) -> str:
    """The arguments of each call, what there is to know to send it, and the class of the group."""
    parts = [_arguments(one) + _description(one) for one in operations]
    if group not in _DIRECT:
        parts.append(f"export class {_title(group)}Calls extends Group {{\n{_methods(operations)}}}\n")
    text = "\n".join(parts)
    code = re.sub(r"/\*\*.*?\*/", "", text, flags=re.S)
    used = [name for name in models if re.search(rf"\b{name}\b", code)]
    imported = f'import type {{ {", ".join(used)} }} from "../models.js";\n' if used else ""
    return _HEADER + _imports(text, "../") + imported + "\n" + text


def _client(by_group: dict[str, list[Operation]]) -> str:
    others = [group for group in by_group if group not in _DIRECT]
    attributes = "".join(
        f"  readonly {_camel(group)} = new {_title(group)}Calls(this);\n" for group in others
    )
    methods = "".join(_methods(by_group[group], f"{group}.") for group in _DIRECT)
    text = f"/** Every call of the API. */\nexport abstract class Calls extends Root {{\n{attributes}{methods}}}\n"
    answers = set(re.findall(r"\w+", " ".join(map(_answered, _of(by_group, _DIRECT)))))
    models = sorted(name for name in answers if name[0].isupper() and name not in ("Promise", "Pages"))
    imports = [f'import {{ {_title(group)}Calls }} from "./{group}.js";\n' for group in others]
    imports += [f'import * as {group} from "./{group}.js";\n' for group in _DIRECT]
    imports.append(f'import type {{ {", ".join(models)} }} from "../models.js";\n')
    exported = "".join(_exported(group, some) for group, some in by_group.items())
    return _HEADER + _imports(text, "../") + "".join(imports) + "\n" + exported + "\n" + text


def _exported(group: str, operations: Iterable[Operation]) -> str:
    names = [_interface(operation) for operation in operations if _takes(operation)]
    return f'export type {{ {", ".join(names)} }} from "./{group}.js";\n'


def _of(by_group: dict[str, list[Operation]], groups: Iterable[str]) -> list[Operation]:
    return [operation for group in groups for operation in by_group[group]]


def _imports(text: str, up: str) -> str:
    values = [name for name in ("Group", "Root") if f"extends {name} " in text]
    types = [name for name in ("CallOptions", "Operation") if re.search(rf"\b{name}\b", text)]
    names = [*values, *(f"type {name}" for name in types)]
    lines = f'import {{ {", ".join(names)} }} from "{up}group.js";\n'
    return lines + (f'import type {{ Pages }} from "{up}pages.js";\n' if "Pages<" in text else "")


def _interface(operation: Operation) -> str:
    return f"{_title(operation.group)}{_title(operation.name.removesuffix('_'))}Args"


def _arguments(operation: Operation) -> str:
    """An interface, or a type where the body is one of several."""
    fields = "".join(_fields(operation))
    name = _interface(operation)
    text = f"/** What `{method_name(operation)}` takes. */\nexport "
    if operation.body is not None and operation.flat is None:
        return f"{text}type {name} = ({kind_of(operation.body, given=True)}) & {{\n{fields}}};\n\n"
    return f"{text}interface {name} {{\n{fields}}}\n\n" if fields else ""


def _fields(operation: Operation) -> Iterator[str]:
    for one in operation.parameters:
        if one["in"] == "path":
            # A client for one agent may know the mission of what is read.
            required = one["name"] != _MISSION or operation.spec["x-access"] != "read"
            yield _field(_placed(one["name"]), one["schema"], required, one["description"])
    if operation.line:
        yield f"  /** The items, in order. */\n  lines: Iterable<{operation.line}>;\n"
    if operation.flat is not None:
        needed = operation.flat.get("required", ())
        for name, schema in asked(operation.flat).items():
            yield _field(name, schema, name in needed, given=True)
    for one in operation.parameters:
        if one["in"] == "query":
            yield _field(one["name"], one["schema"], one["required"], one["description"], given=True)


def _description(operation: Operation) -> str:
    """How the call is sent."""
    template = operation.path.replace("{" + _MISSION + "}", "{mission}")
    told: dict[str, Any] = {
        "method": operation.method,
        "path": template,
        "seconds": operation.spec["x-deadline-seconds"],
        "repeatable": operation.repeatable,
    }
    queried = [one["name"] for one in operation.parameters if one["in"] == "query"]
    if queried:
        told["query"] = queried
    if operation.line or operation.body is not None:
        told["body"] = "lines" if operation.line else "json"
    told |= _own(operation)
    if operation.of_every_mission:
        told["withoutMission"] = "all"
    if operation.keyed:
        told["keyed"] = True
    lines = "".join(f"  {name}: {json.dumps(value)},\n" for name, value in told.items())
    return f"export const {_constant(operation)}: Operation = {{\n{lines}}};\n"


def _own(operation: Operation) -> dict[str, Any]:
    found = own(operation.body or {}, operation.components)
    if not found.fields:
        return {}
    return {"own": dict(sorted(found.fields.items())), **({"each": found.each} if found.each else {})}


def _methods(operations: Iterable[Operation], module: str = "") -> str:
    return "".join(_method(operation, module) for operation in operations)


def _method(operation: Operation, module: str) -> str:
    args = f"{module}{_interface(operation)}" if _takes(operation) else "Record<string, never>"
    default = "" if _needs(operation) else " = {}"
    call = "pages" if operation.item else "call"
    return (
        f"\n{_comment(operation.spec['description'], '  ')}"
        f"  {method_name(operation)}(args: {args}{default}, options?: CallOptions): {_answered(operation)} {{\n"
        f"    return this.{call}({module}{_constant(operation)}, args, options);\n  }}\n"
    )


def _takes(operation: Operation) -> bool:
    return bool(_arguments(operation))


def _needs(operation: Operation) -> bool:
    """Whether something must be given."""
    one_of_several = operation.body is not None and operation.flat is None
    return one_of_several or any(re.search(r"^  [\w\"-]+: ", field, re.M) for field in _fields(operation))


def _answered(operation: Operation) -> str:
    (status,) = (status for status in operation.spec["responses"] if status.startswith("2"))
    content = operation.spec["responses"][status].get("content", {})
    if _LINES in content:
        return f"Promise<{name_of(content[_LINES]['x-item-schema'])}[]>"
    if not content:
        return "Promise<void>"
    schema = content[_JSON]["schema"]
    if operation.item:
        fields = operation.components[name_of(schema)]["properties"]
        return f"Pages<{kind_of(schema)}, {kind_of(fields['data']['items'])}>"
    return f"Promise<{kind_of(schema)}>"


def _comment(text: str, indent: str) -> str:
    words = " ".join(text.split()).replace("*/", "*\\/")
    if not words:
        return ""
    lines = textwrap.wrap(words, _WIDTH - len(indent))
    if len(lines) == 1:
        return f"{indent}/** {lines[0]} */\n"
    return f"{indent}/**\n" + "".join(f"{indent} * {line}\n" for line in lines) + f"{indent} */\n"


def _placed(name: str) -> str:
    return "mission" if name == _MISSION else name


def _constant(operation: Operation) -> str:
    return operation.name.removesuffix("_").upper()


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.title, others))


def _title(name: str) -> str:
    return "".join(map(str.title, name.split("_")))
