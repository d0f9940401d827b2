"""Reads settings from the environment and reports all problems at once before refusing to start."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from typing import TypeVar

N = TypeVar("N", int, float)

# Seconds from the stop signal until the listener and idle connections close. Our services keep connections to each
# other for less (KEPT_SECONDS), so that none closes while a request is on its way.
LINGER_SECONDS = 2.5
KEPT_SECONDS = 2.0
# Megabytes of copies of scopes that an owner keeps in memory.
HOT_SCOPES_MB = 64


class SettingsError(SystemExit):
    """Refuses to start, naming every setting that is missing or wrong."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("settings: " + "; ".join(problems))
        self.problems = problems


class Env:
    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        self._values = os.environ if values is None else values
        self._problems: list[str] = []

    def text(self, name: str, default: str | None = None) -> str:
        value = self._values.get(name) or default
        if value is None:
            self._problems.append(f"{name} is missing")
            return ""
        return value

    def optional(self, name: str) -> str | None:
        return self._values.get(name) or None

    def number(self, name: str, default: float, low: float, high: float) -> float:
        return self._within(name, default, low, high, float, "a number")

    def integer(self, name: str, default: int, low: int, high: int) -> int:
        return self._within(name, default, low, high, int, "a whole number")

    def choice(self, name: str, default: str, choices: Collection[str]) -> str:
        value = self._values.get(name) or default
        if value not in choices:
            self._problems.append(f"{name} must be one of {', '.join(choices)}: {value!r}")
        return value

    def names(self, name: str, choices: Collection[str] | None = None) -> tuple[str, ...]:
        """Comma-separated names."""
        names = tuple(part for text in self._values.get(name, "").split(",") if (part := text.strip()))
        if choices is not None and (unknown := [part for part in names if part not in choices]):
            self._problems.append(f"{name} must be of {', '.join(choices)}: {unknown[0]!r}")
        return names

    def secrets(self, name: str) -> tuple[str, ...]:
        """Comma-separated secrets, at least one: we use the first and accept all, so that they can be rotated."""
        secrets = self.names(name)
        if not secrets:
            self._problems.append(f"{name} is missing")
        return secrets

    def _within(
        self, name: str, default: N, low: float, high: float, kind: Callable[[str], N], what: str
    ) -> N:
        raw = self._values.get(name)
        if not raw:
            return default
        try:
            value = kind(raw)
        except ValueError:
            self._problems.append(f"{name} is not {what}: {raw!r}")
            return default
        if not low <= value <= high:
            self._problems.append(f"{name} must lie in [{low:g}, {high:g}]: {raw}")
        return value

    def refuse(self, problem: str) -> None:
        self._problems.append(problem)

    def done(self) -> None:
        """Raises SettingsError with every problem found so far."""
        if self._problems:
            raise SettingsError(self._problems)
