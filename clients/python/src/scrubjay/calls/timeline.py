"""Written by `make openapi` from the API's document."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from scrubjay._call import PagedCall
from scrubjay.models import Event, Events


def timeline(
    *,
    after: int | None = None,
    cursor: str | None = None,
    limit: int | None = None,
    mission: str | None = None,
    agent: str | None = None,
    kind: Sequence[str] | None = None,
    dispatch_id: int | None = None,
    since: datetime | None = None,
    timeout: float | None = None,
) -> PagedCall[Events, Event]:
    """Read events in order: a page of JSON, or a stream with `Accept: text/event-stream`. A page begins
    after `cursor` or event `after`, or else with the first event. A stream begins after `Last-Event-
    ID`, or else after `after`, or else with the next event. It never ends by itself, and sends a keep-
    alive every 15 s. A key and a tenant may open a limited number of streams.

    Args:
        after: The last number of the previous page.
        cursor: The `next` of the previous page. Omit it for the first page.
        limit: The largest number of items in a page.
        mission: Only this mission's events.
        agent: Only this agent's events.
        kind: Only events of this kind, such as cache_write. Repeat it for several kinds.
        dispatch_id: Only this dispatch's events.
        since: Only what was recorded at this time or later. A time without an offset is UTC.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
        method="GET",
        path="/api/timeline",
        answer=Events,
        seconds=2.0,
        repeatable=True,
        query={
            "after": after,
            "cursor": cursor,
            "limit": limit,
            "mission": mission,
            "agent": agent,
            "kind": kind,
            "dispatch_id": dispatch_id,
            "since": since,
        },
        timeout=timeout,
    )
