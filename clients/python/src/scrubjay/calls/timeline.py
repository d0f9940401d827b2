"""Written by `make openapi` from the API's document."""

from __future__ import annotations

from scrubjay._call import Call
from scrubjay.models import Events, Monitored


def monitor(
    *,
    mission: str | None = None,
    minutes: int | None = None,
    timeout: float | None = None,
) -> Call[Monitored]:
    """What each agent is doing now: its last event, open dispatches, and how much it did lately."""
    return Call(
        method="GET",
        path="/api/context/monitor",
        answer=Monitored,
        seconds=2.0,
        repeatable=True,
        query={"mission": mission, "minutes": minutes},
        timeout=timeout,
    )


def timeline(
    *,
    after: int | None = None,
    limit: int | None = None,
    mission: str | None = None,
    kind: str | None = None,
    dispatch_id: int | None = None,
    last_event_id: int | None = None,
    timeout: float | None = None,
) -> Call[Events]:
    """What happened, in order: a page of JSON, or a stream of events with `Accept: text/event-stream`. A
    page begins after event `after`, else with the first there is. A stream begins after `Last-Event-
    ID`, else after `after`, else with what comes next; it does not end by itself, and says that it
    lives every 15 s.
    """
    return Call(
        method="GET",
        path="/api/timeline",
        answer=Events,
        seconds=2.0,
        repeatable=True,
        query={
            "after": after,
            "limit": limit,
            "mission": mission,
            "kind": kind,
            "dispatch_id": dispatch_id,
            "last_event_id": last_event_id,
        },
        timeout=timeout,
    )
