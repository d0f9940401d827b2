"""Writes the typed part of the Python client from the API's document."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

from tools.client import calls, models
from tools.client.calls import Operation
from tools.client.types import Schema, names_in

PACKAGE = Path(__file__).parents[2] / "clients/python/src/scrubjay"
_DIRECT = ("context", "timeline")
_GROUPS = """from scrubjay.groups.async_calls import AsyncCalls
from scrubjay.groups.calls import Calls

__all__ = ["AsyncCalls", "Calls"]
"""


def sources(document: dict[str, Any]) -> dict[str, str]:
    """Modules by their path in the package."""
    by_group: dict[str, list[Operation]] = {}
    for path, methods in document["paths"].items():
        for method, spec in methods.items():
            operation = Operation(method, path, spec, document)
            by_group.setdefault(operation.group, []).append(operation)
    components = document["components"]["schemas"]
    choices = {name: schema for name, schema in components.items() if "enum" in schema}
    taken = set(choices)
    written = {"choices": sorted(choices)}
    files = {"models/choices.py": models.module(choices)}
    for group, operations in by_group.items():
        names = [name for name in _needed(operations, components) if name not in taken]
        taken |= set(names)
        if names:
            written[group] = sorted(names)
            files[f"models/{group}.py"] = models.module(
                {name: components[name] for name in sorted(names)}, written["choices"]
            )
    for group, operations in by_group.items():
        files[f"calls/{group}.py"] = calls.module(operations, sorted(taken))
    files["models/__init__.py"] = models.package(written)
    files["calls/__init__.py"] = models.HEADER
    files["groups/calls.py"] = calls.groups(by_group, _DIRECT, "")
    files["groups/async_calls.py"] = calls.groups(by_group, _DIRECT, "Async")
    files["groups/__init__.py"] = models.HEADER + _GROUPS
    return {name: _formatted(text) for name, text in files.items()}


def _needed(operations: Iterable[Operation], components: dict[str, Schema]) -> set[str]:
    """The components that a group's calls name, and all that these refer to."""
    named = chain.from_iterable(map(_named, operations))
    found: set[str] = set()
    todo = list(named)
    while todo:
        name = todo.pop()
        if name not in found and name in components:
            found.add(name)
            todo += names_in(components[name])
    return found - {"Problem"}


def _named(operation: Operation) -> Iterable[str]:
    yield from names_in([answer for status, answer in operation.spec["responses"].items() if status < "3"])
    yield from names_in([p.get("schema", {}) for p in operation.spec["parameters"]])
    # A flat body becomes the call's arguments, so only its fields' components are needed.
    yield from names_in(operation.flat or operation.spec.get("requestBody", {}))


def _formatted(text: str) -> str:
    for step in (("check", "--fix", "--select", "F401,I"), ("format",)):
        command = [
            sys.executable,
            "-m",
            "ruff",
            *step,
            "--quiet",
            "--stdin-filename",
            str(PACKAGE / "x.py"),
            "-",
        ]
        text = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    return text
