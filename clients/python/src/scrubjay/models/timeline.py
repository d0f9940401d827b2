"""Written by `make openapi` from the API's document."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    seq: int
    """Its number: events come in this order, and none is skipped."""
    kind: str
    """What happened, as in `cache_write`."""
    scope: str
    mission_id: str | None
    agent_name: str | None
    session_id: str | None
    dispatch_id: int | None
    payload: dict[str, Any]
    """Ids and counts; never content."""
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """A page of the timeline; `next_after` is where the next one begins."""

    data: list[Event]
    next_after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Monitored:
    data: list[MonitoredAgent]
    """Who did something last comes first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitoredAgent:
    agent_name: str
    status: str
    """`active`: it did something within five minutes; else `idle`."""
    last_event: str
    """What it did last, as in `cache_write`."""
    at: datetime
    mission_id: str | None
    session_id: str | None
    dispatch_id: int | None
    open_dispatches: list[int]
    events: dict[str, int]
    """What it did within the time asked about, by kind."""
