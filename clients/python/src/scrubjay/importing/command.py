"""An import from its order to its summary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from scrubjay.client import Client
from scrubjay.importing.items import Unfit
from scrubjay.importing.placing import Placement, scope_problem
from scrubjay.importing.reporting import Report
from scrubjay.importing.sending import Sender
from scrubjay.importing.sources import SYSTEMS, System

AGAIN = "Run the same command again: it goes on, and changes nothing of what was imported."
# A service may restart or be full for a while.
CALL_SECONDS, RETRIES = 300.0, 100

Connect = Callable[[], Client]


@dataclass(frozen=True, slots=True)
class Order:
    system: str
    path: Path
    placement: Placement
    dry_run: bool = False


def import_(order: Order, connect: Connect, report: Report) -> None:
    system = SYSTEMS[order.system]
    _require(system, order.path)
    items = system.read(order.path, order.placement)
    if order.dry_run:
        for item in items:
            report.plan(item)
        return
    with connect() as client:
        for outcome in Sender(client).outcomes(items):
            report.done(outcome)


def placement(scope: str | None, agent: str | None) -> Placement:
    """Raises Unfit."""
    given = scope if agent is None else f"agent:{agent}"
    if given is not None and (problem := scope_problem(given)):
        raise Unfit(problem)
    return Placement(given)


def _require(system: System, source: Path) -> None:
    if system.folder and not source.is_dir():
        raise ValueError(f"{source} is not a folder")
    if not system.folder and not source.is_file():
        raise ValueError(f"{source} is not a file")
