"""The client's calls: a function for each operation of the document, and groups with these as methods."""

from __future__ import annotations

import builtins
import re
from collections.abc import Collection, Iterator
from typing import Any

from tools.client.arguments import KEY, TIMEOUT, Argument, argument, asked, declaration, documentation, own
from tools.client.models import HEADER
from tools.client.types import Schema, annotation, means_something_as_null, name_of, python_name

_IMPORTS = """from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from scrubjay._call import Call, PagedCall, fields, nullable, path
from scrubjay._data import UNSET, Unset
from scrubjay.models import {models}


"""
_LINES = "application/x-ndjson"
_JSON = "application/json"


class Operation:
    """One operation of the document, as a function of the client."""

    def __init__(self, method: str, path: str, spec: dict[str, Any], document: dict[str, Any]) -> None:
        self.method, self.path, self.spec = method.upper(), path, spec
        self.group = path.split("/")[2].removeprefix("psychic-").replace("-", "_")
        self.keyed = any(p.get("$ref", "").endswith("/IdempotencyKey") for p in spec["parameters"])
        self.components: dict[str, Schema] = document["components"]["schemas"]
        self.parameters = [p for p in spec["parameters"] if "name" in p and p["in"] != "header"]
        self.of_every_mission = "{mission_id}" in path and _every(path) in document["paths"]
        """Whether another operation does the same for all missions: the function of this one does both."""
        self.covered = "/all/" in path and path.replace("/all/", "/{mission_id}/") in document["paths"]
        self._content: dict[str, Any] = spec.get("requestBody", {}).get("content", {})

    @property
    def name(self) -> str:
        name = str(self.spec["operationId"]).removeprefix(f"{self.group}_")
        if self.of_every_mission or self.covered:
            name = name.removeprefix("mission_").removeprefix("all_")
        return python_name(name)

    @property
    def function_name(self) -> str:
        return f"{self.name}_" if hasattr(builtins, self.name) else self.name

    @property
    def body(self) -> Schema | None:
        return self._content[_JSON]["schema"] if _JSON in self._content else None

    @property
    def flat(self) -> Schema | None:
        """The body's schema, if its fields are the call's arguments."""
        return self.components[name_of(self.body)] if self.body is not None and "$ref" in self.body else None

    @property
    def line(self) -> str | None:
        """The model of a line, if the body is JSON Lines."""
        return name_of(self._content[_LINES]["x-item-schema"]) if _LINES in self._content else None

    @property
    def answer(self) -> str | None:
        (status,) = (status for status in self.spec["responses"] if status.startswith("2"))
        content = self.spec["responses"][status].get("content", {})
        if _LINES in content:
            return f"list[{name_of(content[_LINES]['x-item-schema'])}]"
        return annotation(content[_JSON]["schema"]) if content else None

    @property
    def item(self) -> str | None:
        """What a page of the answer holds, if it is a page."""
        fields = self.components.get((self.answer or ""), {}).get("properties", {})
        return annotation(fields["data"]["items"]) if {"data", "next"} <= fields.keys() else None

    def function(self) -> str:
        arguments = list(self._arguments())
        kind = f"PagedCall[{self.answer}, {self.item}]" if self.item else f"Call[{self.answer}]"
        return (
            f"def {self.function_name}({declaration(arguments)}) -> {kind}:\n"
            + documentation(self.spec["description"], arguments)
            + f"    return {kind.partition('[')[0]}({', '.join(self._call())})\n"
        )

    def _arguments(self) -> Iterator[Argument]:
        yield from (self._placed(p) for p in self.parameters if p["in"] == "path")
        if self.line:
            yield Argument("lines", f"Iterable[{self.line}]", "The items, in order.", positional=True)
        elif self.flat is not None:
            required = self.flat.get("required", ())
            yield from (argument(name, schema, name in required) for name, schema in asked(self.flat).items())
        elif self.body is not None:
            kind = annotation(self.body, given=True)
            yield Argument("body", kind, "The item to write.", positional=True)
        for p in self.parameters:
            if p["in"] == "query":
                yield argument(p["name"], p["schema"], p["required"], p["description"])
        yield from [KEY, TIMEOUT] if self.keyed else [TIMEOUT]

    def _placed(self, parameter: dict[str, Any]) -> Argument:
        """An argument that is a part of the path. A client for one agent may know the mission of what is read."""
        kind, text = annotation(parameter["schema"]), parameter["description"]
        if parameter["name"] != "mission_id":
            return Argument(parameter["name"], kind, text, positional=True)
        if self.spec["x-access"] != "read":
            return Argument("mission", kind, text, positional=True)
        return Argument("mission", f"{kind} | None", f"{text} {self._left_out}", "None", positional=True)

    @property
    def _left_out(self) -> str:
        every = " or else every mission" if self.of_every_mission else ""
        return f"Left out, it is the one that the client is bound to{every}."

    def _call(self) -> list[str]:
        names = [self._placed(p).name for p in self.parameters if p["in"] == "path"]
        in_path = "".join(f", {name}={name}" for name in names)
        template = self.path.replace("{mission_id}", "{mission}")
        where = f'path("{template}"{in_path})' if in_path else f'"{template}"'
        parts = [
            f'method="{self.method}"',
            f"path={where}",
            f"answer={self.answer}",
            f"seconds={self.spec['x-deadline-seconds']}",
            f"repeatable={self.repeatable}",
        ]
        queried = [p["name"] for p in self.parameters if p["in"] == "query"]
        if queried:
            parts.append("query={" + ", ".join(f'"{name}": {name}' for name in queried) + "}")
        if self.line:
            parts.append("lines=lines")
        elif self.body is not None:
            parts.append(f"body={self._body()}")
            parts += self._own()
        if self.of_every_mission:
            parts.append('without_mission="all"')
        if self.keyed:
            parts.append("keyed=True, idempotency_key=idempotency_key")
        return [*parts, "timeout=timeout"]

    def _own(self) -> list[str]:
        found = own(self.body or {}, self.components)
        fields = ", ".join(f'"{short}": "{name}"' for short, name in sorted(found.fields.items()))
        each = [f'each="{found.each}"'] if found.each else []
        return [f"own={{{fields}}}", *each] if fields else []

    @property
    def repeatable(self) -> bool:
        """Whether calling it twice has the same effect and answer as once."""
        return self.keyed or self.spec["x-access"] == "read" or self.method in ("PUT", "PATCH")

    def _body(self) -> str:
        if self.flat is None:
            return "body"
        required = self.flat.get("required", ())
        properties = asked(self.flat).items()
        by_null = [name for name, schema in properties if means_something_as_null(schema, name in required)]
        plain = [name for name, _ in properties if name not in by_null]
        parts = [_given(call, names) for call, names in (("fields", plain), ("nullable", by_null)) if names]
        return " | ".join(parts)


def module(operations: list[Operation], models: list[str]) -> str:
    text = "\n\n".join(operation.function() for operation in operations if not operation.covered)
    used = [name for name in models if re.search(rf"\b{name}\b", text)]
    return HEADER + _IMPORTS.format(models=", ".join(used)) + text


def groups(by_group: dict[str, list[Operation]], direct: Collection[str], prefix: str) -> str:
    """The client has the methods of the groups in `direct` itself, and an attribute for each other group.

    `prefix` begins the names of its classes: nothing, or `Async`.
    """
    others = {name: some for name, some in by_group.items() if name not in direct}
    direct_operations = [operation for name in direct for operation in by_group[name]]
    text = HEADER + _GROUP_IMPORTS.format(modules=", ".join(sorted(by_group)))
    for name, some in others.items():
        text += f"class {prefix}{_title(name)}({prefix}Group):\n" + _methods(prefix, some) + "\n\n"
    held = "".join(f"        self.{name} = {prefix}{_title(name)}(self)\n" for name in others)
    client = _CLIENT.format(prefix=prefix, held=held, a="async " if prefix else "")
    return text + client + _methods(prefix, direct_operations)


def _methods(prefix: str, operations: list[Operation]) -> str:
    return "".join(
        f"    {operation.name} = {prefix}{'Listing' if operation.item else 'Method'}"
        f"({operation.group}.{operation.function_name})\n"
        for operation in operations
        if not operation.covered
    )


def _every(path: str) -> str:
    return path.replace("/{mission_id}/", "/all/")


def _title(name: str) -> str:
    return "".join(map(str.title, name.split("_")))


def _given(call: str, names: list[str]) -> str:
    return f"{call}({', '.join(f'{name}={name}' for name in names)})"


_GROUP_IMPORTS = """from typing import TypeVar

from scrubjay._call import Call
from scrubjay._methods import AsyncGroup, AsyncListing, AsyncMethod, Group, Listing, Method
from scrubjay.calls import {modules}

T = TypeVar("T")


"""
_CLIENT = '''class {prefix}Calls:
    """Every call of the API."""

    def __init__(self) -> None:
{held}
    {a}def send(self, call: Call[T]) -> T:
        raise NotImplementedError

'''
