"""Events of the timeline."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec


class Event(msgspec.Struct):
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


class Events(msgspec.Struct):
    """A page of the timeline. The next page begins after `next_after`."""

    data: list[Event]
    next_after: int
