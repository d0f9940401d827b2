"""In which scope a record goes. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from scrubjay.importing.items import Unfit

_SCOPE = re.compile(r"(?:user|agent|mission|project):\S.*|shared", re.S)
_PART = re.compile(r"\{(\w{1,40})\}")
_FOLDERS = {"user": "users", "agent": "agents", "mission": "missions"}


def scope_problem(scope: str) -> str | None:
    if _SCOPE.fullmatch(scope) is None:
        return f"{scope!r} is no scope: give user:…, agent:…, mission:…, project:… or shared"
    return None


@dataclass(frozen=True, slots=True)
class Placement:
    """`scope` is for records that name no user and no agent. It may name parts of a record in braces."""

    scope: str | None

    def of(self, parts: Mapping[str, str] | None = None) -> str:
        """Raises Unfit where the record does not say what the scope needs."""
        if self.scope is None:
            raise Unfit("names no user and no agent: say with --scope where such records go")
        return _PART.sub(lambda match: _part(match[1], parts or {}), self.scope)

    def folder(self) -> str:
        """The scope's folder in the vault. Raises Unfit for a scope that has none."""
        scope = self.of()
        kind, _, name = scope.partition(":")
        if scope != "shared" and (kind not in _FOLDERS or "/" in name):
            raise Unfit(f"files have no folder of {scope}: give user:…, agent:…, mission:… or shared")
        return scope if scope == "shared" else f"{_FOLDERS[kind]}/{name}"


def _part(name: str, parts: Mapping[str, str]) -> str:
    if not parts.get(name):
        raise Unfit(f"has no {{{name}}}, which --scope names")
    return parts[name]
