"""Events of the timeline."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from shared.paging.cursors import Cursor
from shared.paging.pages import Page


class Filter(msgspec.Struct, frozen=True):
    """Which events are read; None narrows nothing."""

    mission: str | None = None
    agent: str | None = None
    kinds: list[str] | None = None
    dispatch_id: int | None = None
    since: datetime | None = None


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


class Events(Page[Event]):
    """A page of the timeline, in order. To read later events, pass the last `seq` as `after`."""


class EventCursor(Cursor, tag="timeline"):
    seq: Annotated[int, Meta(ge=0, le=2**63 - 1)]
