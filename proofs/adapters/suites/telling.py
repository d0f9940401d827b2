"""What a suite of a framework runs with, and what it tells. It runs in an environment of the frameworks."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from scrubjay import AsyncClient, Client

OWN = "scrubjay"
CONTROL = os.environ.get("SCRUBJAY_CONTROL") == "1"
"""The adapter drops a write: the suite has to notice."""


def client() -> Client:
    return Client(os.environ["SCRUBJAY_URL"], os.environ["SCRUBJAY_TOKEN"])


def async_client() -> AsyncClient:
    return AsyncClient(os.environ["SCRUBJAY_URL"], os.environ["SCRUBJAY_TOKEN"])


def tell(suite: str, package: str, passed: int, failed: Sequence[str]) -> None:
    """`package` is whose suite it is."""
    of = package if package == OWN else f"{package} {version(package)}"
    told = {"suite": suite, "of": of, "passed": passed, "failed": list(failed)}
    print(json.dumps(told), flush=True)


class Drops:
    """Says of every third write that it is to be dropped."""

    def __init__(self) -> None:
        self._seen = 0

    def next(self) -> bool:
        self._seen += 1
        return CONTROL and self._seen % 3 == 0


class Counts:
    """Of a run of pytest."""

    def __init__(self) -> None:
        self.passed = 0
        self.failed: list[str] = []

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed.append(f"{report.nodeid}: {report.longreprtext[-1500:]}")
        elif report.when == "call":
            self.passed += 1
