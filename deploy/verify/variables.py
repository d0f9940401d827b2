"""The environment variables that the code reads, and whether its settings accept a deployment's values."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from deploy.verify.manifests import Manifest, containers
from deploy.verify.tools import ROOT
from services.agent_memory.settings import Settings as AgentMemory
from services.cache.settings import Settings as Cache
from services.context.settings import Settings as Context
from shared.settings import SettingsError

_VARIABLE = re.compile(r"(SCRUBJAY|VOYAGE|OPENAI|VAULT|DATABASE|REDIS|OTEL)_[A-Z0-9_]*[A-Z0-9]")
_SETTINGS: Mapping[str, Any] = {
    "services.cache": Cache,
    "services.agent_memory": AgentMemory,
    "services.context": Context,
}
_MIGRATION = "alembic"
SERVICES = tuple(_SETTINGS)
# Migrations grant to these roles. shared/database/schema.py builds the variables' names.
ROLES = {f"SCRUBJAY_ROLE_{service.split('.')[1].upper()}" for service in SERVICES}


def program(command: Sequence[str]) -> str | None:
    """The program of ours that a command runs."""
    return next((part for part in command if part in (*SERVICES, _MIGRATION)), None)


@cache
def read_by(program: str) -> set[str]:
    """Every variable named in a program's code or in the shared code."""
    if program == _MIGRATION:
        return {"DATABASE_URL", "SCRUBJAY_DISTRIBUTED", *ROLES}
    return constants(program.replace(".", "/"), _VARIABLE) | constants("shared", _VARIABLE)


def constants(folder: str, pattern: re.Pattern[str]) -> set[str]:
    """The strings in a folder's code that match a pattern completely."""
    nodes = (node for path in (ROOT / folder).rglob("*.py") for node in ast.walk(ast.parse(path.read_text())))
    strings = (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return {string for string in strings if pattern.fullmatch(string)}


def environment(manifests: Sequence[Manifest]) -> Iterator[str]:
    """A container gets every variable that its command needs, none that it does not read, and none twice."""
    for where, container in containers(manifests):
        given = container.get("env", [])
        names = [variable["name"] for variable in given]
        for name in {name for name in names if names.count(name) > 1}:
            yield f"{where} is given {name} twice"
        values = {variable["name"]: variable.get("value", _stand_in(variable["name"])) for variable in given}
        for fault in faults([*container.get("command", []), *container.get("args", [])], values):
            yield f"{where} {fault}"


def faults(command: Sequence[str], values: Mapping[str, str]) -> Iterator[str]:
    """What is wrong with a command's variables."""
    running = program(command)
    if running is None:
        yield f"runs {command}, which is none of our commands"
        return
    for name in sorted(values.keys() - read_by(running)):
        yield f"is given {name}, which {running} does not read"
    if running == _MIGRATION:
        for name in sorted(read_by(running) - values.keys()):
            yield f"is not given {name}"
        return
    try:
        _SETTINGS[running].from_env(values)
    except SettingsError as error:
        yield f"does not start: {error}"


def _stand_in(name: str) -> str:
    return "redis://redis:6379/0" if name == "REDIS_URL" else "stands-for-a-secret"
