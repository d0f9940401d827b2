"""Written by `make openapi` from the API's document."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from scrubjay._call import Call, PagedCall, fields, path
from scrubjay.models import CompletedAnswer, Dispatch, DispatchAnswer, DispatchesAnswer


def list_(
    *,
    mission_id: str | None = None,
    agent_name: str | None = None,
    status: Literal["completed", "dispatched", "in_progress", "stale"] | None = None,
    since: datetime | None = None,
    cursor: str | None = None,
    limit: int | None = None,
    agent: str | None = None,
    mission: str | None = None,
    timeout: float | None = None,
) -> PagedCall[DispatchesAnswer, Dispatch]:
    """List dispatches, newest first.

    Args:
        mission_id: The mission's name.
        agent_name: Of this agent only.
        status: Of this status only.
        since: Only what was recorded at this time or later. A time without an offset is UTC.
        cursor: The `next` of the previous page. Omit it for the first page.
        limit: The largest number of items in a page.
        agent: Short for `agent_name`, in requests.
        mission: Short for `mission_id`, in requests.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
        method="GET",
        path="/api/dispatch",
        answer=DispatchesAnswer,
        seconds=2.0,
        repeatable=True,
        query={
            "mission_id": mission_id,
            "agent_name": agent_name,
            "status": status,
            "since": since,
            "cursor": cursor,
            "limit": limit,
            "agent": agent,
            "mission": mission,
        },
        timeout=timeout,
    )


def report(
    *,
    task: str,
    mission_id: str | None = None,
    agent_name: str | None = None,
    parent_dispatch_id: int | str | None = None,
    session_id: str | None = None,
    agent: str | None = None,
    mission: str | None = None,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[DispatchAnswer]:
    """Report that an agent was given work. Entries that name its id keep it alive.

    Args:
        mission_id: The mission. Required unless the key is bound to one.
        agent_name: The agent that does it. Required unless the key is bound to one.
        task: What to do.
        parent_dispatch_id: The dispatch that it belongs to.
        session_id: The session that works on it.
        agent: Short for `agent_name`, in requests.
        mission: Short for `mission_id`, in requests.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path="/api/dispatch/report",
        answer=DispatchAnswer,
        seconds=5.0,
        repeatable=True,
        body=fields(
            mission_id=mission_id,
            agent_name=agent_name,
            task=task,
            parent_dispatch_id=parent_dispatch_id,
            session_id=session_id,
            agent=agent,
            mission=mission,
        ),
        own={"agent": "agent_name", "mission": "mission_id"},
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def get(
    dispatch_id: int,
    *,
    timeout: float | None = None,
) -> Call[DispatchAnswer]:
    """Get a dispatch: its agent, its task and its status.

    Args:
        dispatch_id: The id of a dispatch.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="GET",
        path=path("/api/dispatch/{dispatch_id}", dispatch_id=dispatch_id),
        answer=DispatchAnswer,
        seconds=2.0,
        repeatable=True,
        timeout=timeout,
    )


def complete(
    dispatch_id: int,
    *,
    outcome: Literal["failed", "partial", "success"],
    summary: str | None = None,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[CompletedAnswer]:
    """Close a dispatch, even a stale one. `output_missing` says that no output entry was written for it.

    Args:
        dispatch_id: The id of a dispatch.
        outcome: How it ended.
        summary: The result.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path=path("/api/dispatch/{dispatch_id}/complete", dispatch_id=dispatch_id),
        answer=CompletedAnswer,
        seconds=5.0,
        repeatable=True,
        body=fields(outcome=outcome, summary=summary),
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def progress(
    dispatch_id: int,
    *,
    note: str | None = None,
    percent: int | None = None,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[DispatchAnswer]:
    """Report a dispatch's progress. Even an empty report is a sign of life.

    Args:
        dispatch_id: The id of a dispatch.
        note: What was done.
        percent: How much of it is done.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path=path("/api/dispatch/{dispatch_id}/progress", dispatch_id=dispatch_id),
        answer=DispatchAnswer,
        seconds=5.0,
        repeatable=True,
        body=fields(note=note, percent=percent),
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )
