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
    """Where it belongs: `mission:…`, `agent:…`, `user:…`, `project:…` or `shared`."""
    mission_id: str | None
    """The mission."""
    agent_name: str | None
    """The agent."""
    session_id: str | None
    """The session that it belongs to."""
    dispatch_id: int | None
    """The dispatch that it belongs to."""
    payload: dict[str, Any]
    """Ids and counts; never content."""
    created_at: datetime
    """When it was stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """A page of the timeline, in order. To read later events, pass the last `seq` as `after`."""

    data: list[Event]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""
