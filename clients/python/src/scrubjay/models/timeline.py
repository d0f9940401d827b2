"""Written by `make openapi` from the API's document."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    seq: int
    """The event's number. Events arrive in this order, and none is skipped."""
    kind: str
    """What happened, such as `cache_write`."""
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
    """A page of the timeline, in order. To read later events, pass the last `seq` as `after`."""

    data: list[Event]
    next: str | None
    """The `cursor` of the next page; null on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Monitored:
    """A page of agents, the most recently active first."""

    data: list[MonitoredAgent]
    next: str | None
    """The `cursor` of the next page; null on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitoredAgent:
    seq: int
    """The number of its last event."""
    agent_name: str
    status: str
    """`active` if it did something in the last five minutes, or else `idle`."""
    last_event: str
    """The kind of its last event, such as `cache_write`."""
    at: datetime
    mission_id: str | None
    session_id: str | None
    dispatch_id: int | None
    open_dispatches: list[int]
    events: dict[str, int]
    """How many events of each kind it caused in the requested time."""
