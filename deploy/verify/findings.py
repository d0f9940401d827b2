"""Findings of checks, and their report."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from deploy.verify.tools import ToolError

Check = Callable[[], Iterable[object]]
"""Yields findings, which are printed. A check that yields nothing has passed."""


@dataclass(frozen=True)
class Finding:
    check: str
    message: str

    def __str__(self) -> str:
        return f"{self.check}: {self.message}"


def report(checks: Mapping[str, Check]) -> list[str]:
    """Runs each check and prints its outcome. Returns the names of those that failed."""
    return [name for name, check in checks.items() if not _passes(name, check)]


def _passes(name: str, check: Check) -> bool:
    begun = time.monotonic()
    try:
        findings = list(check())
    except ToolError as error:
        findings = [error]
    print(f"{'FAILED' if findings else 'ok':<8}{name} ({time.monotonic() - begun:.1f} s)", flush=True)
    for finding in findings:
        print(f"   {finding}")
    return not findings
