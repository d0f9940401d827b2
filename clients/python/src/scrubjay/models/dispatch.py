"""Written by `make openapi` from the API's document."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """`output_missing`: no output entry was ever written for it."""

    id: int
    status: Literal["completed", "dispatched", "in_progress", "stale"]
    outcome: Literal["failed", "partial", "success"]
    output_missing: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletedAnswer:
    data: Completed


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatch:
    id: int
    mission_id: str
    agent_name: str
    task: str
    status: Literal["completed", "dispatched", "in_progress", "stale"]
    """`stale`: it was silent for too long; it may still complete."""
    outputs: int
    """Output entries that were written for it."""
    created_at: datetime
    last_heartbeat: datetime
    """The last sign of life."""
    parent_dispatch_id: int | None
    session_id: str | None
    progress: str | None
    """The last note."""
    percent: int | None
    """Null: not said."""
    outcome: Literal["failed", "partial", "success"] | None
    summary: str | None
    closed_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DispatchAnswer:
    data: Dispatch


@dataclass(frozen=True, slots=True, kw_only=True)
class DispatchesAnswer:
    """A page of dispatches, newest first."""

    data: list[Dispatch]
    next: str | None
    """The `cursor` of the next page; null on the last."""
