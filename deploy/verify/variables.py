"""The environment variables that the code reads, and whether its settings accept those that a deployment gives."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from deploy.verify.findings import Finding, Manifest, containers
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
SERVICES = tuple(_SETTINGS)
# Migrations grant to these roles; their names are put together in shared/database/schema.py.
MIGRATION = {"DATABASE_URL", *(f"SCRUBJAY_ROLE_{name.split('.')[1].upper()}" for name in SERVICES)}


@cache
def read_by(module: str) -> set[str]:
    """Every variable named in a service's code, or in what the services share."""
    return _named_in(module.replace(".", "/")) | _named_in("shared")


def _named_in(folder: str) -> set[str]:
    return {
        node.value
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _VARIABLE.fullmatch(node.value)
    }


def environment(manifests: Sequence[Manifest]) -> Iterator[Finding]:
    """A container is given what its command needs, nothing that its code does not know, and nothing twice."""
    for where, container in containers(manifests):
        names = [variable["name"] for variable in container.get("env", [])]
        for name in {name for name in names if names.count(name) > 1}:
            yield Finding("environment", f"{where} is given {name} twice")
        values = {one["name"]: one.get("value", _stand_in(one["name"])) for one in container.get("env", [])}
        yield from told(where, [*container.get("command", []), *container.get("args", [])], values)


def told(where: str, command: Sequence[str], values: Mapping[str, str]) -> Iterator[Finding]:
    module = next((part for part in command if part in _SETTINGS or part == "alembic"), None)
    if module is None:
        yield Finding("environment", f"{where} runs {command}, which is none of our commands")
        return
    known = MIGRATION if module == "alembic" else read_by(module)
    for name in sorted(values.keys() - known):
        yield Finding("environment", f"{where}: {module} does not know {name}")
    if module == "alembic":
        for name in sorted(MIGRATION - values.keys()):
            yield Finding("environment", f"{where}: {name} is missing")
        return
    try:
        _SETTINGS[module].from_env(values)
    except SettingsError as error:
        yield Finding("environment", f"{where}: {error}")


def _stand_in(name: str) -> str:
    return "redis://redis:6379/0" if name == "REDIS_URL" else "from-a-secret"
