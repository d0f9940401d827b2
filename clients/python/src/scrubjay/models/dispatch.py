"""Written by `make openapi` from the API's document."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """`output_missing` means that no output entry was ever written for it."""

    id: int
    """Its id, unique in the tenant."""
    status: Literal["completed", "dispatched", "in_progress", "stale"]
    """How it stands now."""
    outcome: Literal["failed", "partial", "success"]
    """How it ended."""
    output_missing: bool
    """No output entry was ever written for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletedAnswer:
    data: Completed
    """The answer: one object, or a page of them."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatch:
    id: int
    """Its id, unique in the tenant."""
    mission_id: str
    """The mission."""
    agent_name: str
    """The agent."""
    task: str
    """What is to be done."""
    status: Literal["completed", "dispatched", "in_progress", "stale"]
    """`stale`: it gave no sign of life for too long, but may still complete."""
    outputs: int
    """How many output entries were written for it."""
    created_at: datetime
    """When it was stored."""
    last_heartbeat: datetime
    """The last sign of life."""
    parent_dispatch_id: int | None
    """The dispatch that it is a part of."""
    session_id: str | None
    """The session that it belongs to."""
    progress: str | None
    """The last note."""
    percent: int | None
    """Null: not reported."""
    outcome: Literal["failed", "partial", "success"] | None
    """How it ended."""
    summary: str | None
    """What came out of it."""
    closed_at: datetime | None
    """When it completed or went stale."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DispatchAnswer:
    data: Dispatch
    """The answer: one object, or a page of them."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DispatchesAnswer:
    """A page of dispatches, newest first."""

    data: list[Dispatch]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""
