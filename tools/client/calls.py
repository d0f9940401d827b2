"""The client's calls: a function for each operation of the document, and groups with these as methods."""

from __future__ import annotations

import builtins
import re
from collections.abc import Collection
from typing import Any

from shared.vocabulary import ALIAS
from tools.client.models import HEADER
from tools.client.types import (
    Schema,
    annotation,
    docstring,
    means_something_as_null,
    name_of,
    named,
    python_name,
)

_IMPORTS = """from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from scrubjay._call import Call, fields, nullable, path
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
        self._components: dict[str, Schema] = document["components"]["schemas"]
        self._parameters = [
            p for p in spec["parameters"] if "name" in p and p["in"] != "header" and ALIAS not in p
        ]
        self._content: dict[str, Any] = spec.get("requestBody", {}).get("content", {})

    @property
    def name(self) -> str:
        name = str(self.spec["operationId"]).removeprefix(f"{self.group}_")
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
        return self._components[name_of(self.body)] if self.body is not None and "$ref" in self.body else None

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

    def function(self) -> str:
        arguments = "".join(f"{argument}, " for argument in self._arguments())
        return (
            f"def {self.function_name}({arguments}) -> Call[{self.answer}]:\n"
            + docstring(self.spec["description"], "    ")
            + f"    return Call({', '.join(self._call())})\n"
        )

    def _arguments(self) -> list[str]:
        first = [f"{p['name']}: {annotation(p['schema'])}" for p in self._parameters if p["in"] == "path"]
        if self.line:
            first.append(f"lines: Iterable[{self.line}]")
        elif self.body is not None and self.flat is None:
            first.append(f"body: {annotation(self.body, given=True)}")
        named = sorted(self._body_arguments() + self._query_arguments(), key=lambda one: " = " in one)
        if self.keyed:
            named.append("idempotency_key: str | None = None")
        return [*first, "*", *named, "timeout: float | None = None"]

    def _body_arguments(self) -> list[str]:
        if self.flat is None:
            return []
        required = self.flat.get("required", ())
        return [_argument(name, schema, name in required) for name, schema in named(self.flat).items()]

    def _query_arguments(self) -> list[str]:
        queried = [p for p in self._parameters if p["in"] == "query"]
        return [_argument(p["name"], p["schema"], p["required"]) for p in queried]

    def _call(self) -> list[str]:
        in_path = "".join(f", {p['name']}={p['name']}" for p in self._parameters if p["in"] == "path")
        where = f'path("{self.path}"{in_path})' if in_path else f'"{self.path}"'
        parts = [
            f'method="{self.method}"',
            f"path={where}",
            f"answer={self.answer}",
            f"seconds={self.spec['x-deadline-seconds']}",
            f"repeatable={self._repeatable()}",
        ]
        queried = [p["name"] for p in self._parameters if p["in"] == "query"]
        if queried:
            parts.append("query={" + ", ".join(f'"{name}": {name}' for name in queried) + "}")
        if self.line:
            parts.append("lines=lines")
        elif self.body is not None:
            parts.append(f"body={self._body()}")
        if self.keyed:
            parts.append("keyed=True, idempotency_key=idempotency_key")
        return [*parts, "timeout=timeout"]

    def _repeatable(self) -> bool:
        """Whether calling it twice has the same effect and answer as once."""
        return self.keyed or self.spec["x-access"] == "read" or self.method in ("PUT", "PATCH")

    def _body(self) -> str:
        if self.flat is None:
            return "body"
        required = self.flat.get("required", ())
        properties = named(self.flat).items()
        by_null = [name for name, schema in properties if means_something_as_null(schema, name in required)]
        plain = [name for name, _ in properties if name not in by_null]
        parts = [_given(call, names) for call, names in (("fields", plain), ("nullable", by_null)) if names]
        return " | ".join(parts)


def module(operations: list[Operation], models: list[str]) -> str:
    text = "\n\n".join(operation.function() for operation in operations)
    used = [name for name in models if re.search(rf"\b{name}\b", text)]
    return HEADER + _IMPORTS.format(models=", ".join(used)) + text


def groups(by_group: dict[str, list[Operation]], direct: Collection[str]) -> str:
    """The client has the methods of the groups in `direct` itself, and an attribute for each other group."""
    others = {name: some for name, some in by_group.items() if name not in direct}
    own = [operation for name in direct for operation in by_group[name]]
    text = HEADER + _GROUP_IMPORTS.format(modules=", ".join(sorted(by_group)))
    for prefix, kind in (("", "Method"), ("Async", "AsyncMethod")):
        for name, some in others.items():
            text += f"class {prefix}{_title(name)}({prefix}Group):\n" + _methods(kind, some) + "\n\n"
        held = "".join(f"        self.{name} = {prefix}{_title(name)}(self)\n" for name in others)
        text += (
            _CLIENT.format(prefix=prefix, held=held, a="async " if prefix else "")
            + _methods(kind, own)
            + "\n\n"
        )
    return text


def _methods(kind: str, operations: list[Operation]) -> str:
    return "".join(
        f"    {operation.name} = {kind}({operation.group}.{operation.function_name})\n"
        for operation in operations
    )


def _title(name: str) -> str:
    return "".join(map(str.title, name.split("_")))


def _argument(name: str, schema: Schema, required: bool) -> str:
    kind = annotation(schema, given=True)
    if required:
        return f"{name}: {kind}"
    if means_something_as_null(schema, required):
        return f"{name}: {kind.removesuffix(' | None')} | Unset | None = UNSET"
    return f"{name}: {kind} = None" if kind.endswith("| None") else f"{name}: {kind} | None = None"


def _given(call: str, names: list[str]) -> str:
    return f"{call}({', '.join(f'{name}={name}' for name in names)})"


_GROUP_IMPORTS = """from typing import TypeVar

from scrubjay._call import Call
from scrubjay._methods import AsyncGroup, AsyncMethod, Group, Method
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
