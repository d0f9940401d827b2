"""Written by `make openapi` from the API's document."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from scrubjay._call import Call, fields, path
from scrubjay.models import (
    BatchAnswer,
    CacheDeleteAnswer,
    ChangedLimitsAnswer,
    ClearAnswer,
    Decision,
    Directive,
    EntriesAnswer,
    EntryAnswer,
    Escalation,
    Intel,
    LimitsAnswer,
    MissionsAnswer,
    Output,
    QueryAnswer,
    Report,
    ShadowClone,
    StateChange,
    StatsAnswer,
    ThreadCheckpoint,
    WriteAnswer,
)


def all_entries(
    *,
    context_type: Sequence[
        Literal[
            "decision",
            "directive",
            "escalation",
            "intel",
            "output",
            "report",
            "shadow_clone",
            "state_change",
            "thread_checkpoint",
        ]
    ]
    | None = None,
    tag: Sequence[str] | None = None,
    agent_name: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    cursor: str | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> Call[EntriesAnswer]:
    """The live entries of all missions the key may read, newest first."""
    return Call(
        method="GET",
        path="/api/psychic-cache/all/entries",
        answer=EntriesAnswer,
        seconds=2.0,
        repeatable=True,
        query={
            "context_type": context_type,
            "tag": tag,
            "agent_name": agent_name,
            "since": since,
            "until": until,
            "cursor": cursor,
            "limit": limit,
        },
        timeout=timeout,
    )


def entry(
    entry_id: int,
    *,
    timeout: float | None = None,
) -> Call[EntryAnswer]:
    """One entry."""
    return Call(
        method="GET",
        path=path("/api/psychic-cache/all/entries/{entry_id}", entry_id=entry_id),
        answer=EntryAnswer,
        seconds=2.0,
        repeatable=True,
        timeout=timeout,
    )


def edit_tags(
    entry_id: int,
    *,
    tags: Sequence[str],
    timeout: float | None = None,
) -> Call[EntryAnswer]:
    """Replace an entry's tags. Its content never changes."""
    return Call(
        method="PATCH",
        path=path("/api/psychic-cache/all/entries/{entry_id}", entry_id=entry_id),
        answer=EntryAnswer,
        seconds=5.0,
        repeatable=True,
        body=fields(tags=tags),
        timeout=timeout,
    )


def delete_entry(
    entry_id: int,
    *,
    timeout: float | None = None,
) -> Call[CacheDeleteAnswer]:
    """Delete an entry, which frees its tokens."""
    return Call(
        method="DELETE",
        path=path("/api/psychic-cache/all/entries/{entry_id}", entry_id=entry_id),
        answer=CacheDeleteAnswer,
        seconds=5.0,
        repeatable=False,
        timeout=timeout,
    )


def missions(
    *,
    cursor: str | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> Call[MissionsAnswer]:
    """List the missions that the key may read, by name, with their budgets and what they hold."""
    return Call(
        method="GET",
        path="/api/psychic-cache/all/missions",
        answer=MissionsAnswer,
        seconds=2.0,
        repeatable=True,
        query={"cursor": cursor, "limit": limit},
        timeout=timeout,
    )


def checkpoint(
    session_id: str,
    *,
    timeout: float | None = None,
) -> Call[EntryAnswer]:
    """Get the newest thread_checkpoint of a session."""
    return Call(
        method="GET",
        path=path("/api/psychic-cache/checkpoint/{session_id}", session_id=session_id),
        answer=EntryAnswer,
        seconds=2.0,
        repeatable=True,
        timeout=timeout,
    )


def query(
    *,
    query: str,
    mission_id: str | None = None,
    token_budget: int | None = None,
    context_types: Sequence[
        Literal[
            "decision",
            "directive",
            "escalation",
            "intel",
            "output",
            "report",
            "shadow_clone",
            "state_change",
            "thread_checkpoint",
        ]
    ]
    | None = None,
    tags: Sequence[str] | None = None,
    agent_name: str | None = None,
    dispatch_id: int | str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    timeout: float | None = None,
) -> Call[QueryAnswer]:
    """Search a mission's entries. Mission `*` means every mission that the key may read."""
    return Call(
        method="POST",
        path="/api/psychic-cache/query",
        answer=QueryAnswer,
        seconds=2.0,
        repeatable=True,
        body=fields(
            mission_id=mission_id,
            query=query,
            token_budget=token_budget,
            context_types=context_types,
            tags=tags,
            agent_name=agent_name,
            dispatch_id=dispatch_id,
            since=since,
            until=until,
        ),
        timeout=timeout,
    )


def write(
    body: Decision
    | Directive
    | Intel
    | StateChange
    | Output
    | Report
    | Escalation
    | ShadowClone
    | ThreadCheckpoint,
    *,
    wait: Literal["indexed"] | None = None,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[WriteAnswer]:
    """Write an entry. Search finds it by text at once, and by meaning as soon as it is indexed."""
    return Call(
        method="POST",
        path="/api/psychic-cache/write",
        answer=WriteAnswer,
        seconds=5.0,
        repeatable=True,
        query={"wait": wait},
        body=body,
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def write_batch(
    *,
    entries: Sequence[
        Decision
        | Directive
        | Intel
        | StateChange
        | Output
        | Report
        | Escalation
        | ShadowClone
        | ThreadCheckpoint
    ],
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[BatchAnswer]:
    """Write up to 100 entries. Each has its own result. Entries of the same mission are written in order."""
    return Call(
        method="POST",
        path="/api/psychic-cache/write/batch",
        answer=BatchAnswer,
        seconds=5.0,
        repeatable=True,
        body=fields(entries=entries),
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def clear(
    mission_id: str,
    *,
    reason: Literal["contaminated", "mission_complete", "operator", "superseded"] | None = None,
    timeout: float | None = None,
) -> Call[ClearAnswer]:
    """Delete a mission's entries. The reason is required, in the query or the body, and the timeline keeps
    it.
    """
    return Call(
        method="DELETE",
        path=path("/api/psychic-cache/{mission_id}", mission_id=mission_id),
        answer=ClearAnswer,
        seconds=5.0,
        repeatable=False,
        query={"reason": reason},
        timeout=timeout,
    )


def mission_entries(
    mission_id: str,
    *,
    context_type: Sequence[
        Literal[
            "decision",
            "directive",
            "escalation",
            "intel",
            "output",
            "report",
            "shadow_clone",
            "state_change",
            "thread_checkpoint",
        ]
    ]
    | None = None,
    tag: Sequence[str] | None = None,
    agent_name: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    cursor: str | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> Call[EntriesAnswer]:
    """List a mission's live entries, newest first."""
    return Call(
        method="GET",
        path=path("/api/psychic-cache/{mission_id}/entries", mission_id=mission_id),
        answer=EntriesAnswer,
        seconds=2.0,
        repeatable=True,
        query={
            "context_type": context_type,
            "tag": tag,
            "agent_name": agent_name,
            "since": since,
            "until": until,
            "cursor": cursor,
            "limit": limit,
        },
        timeout=timeout,
    )


def limits(
    mission_id: str,
    *,
    timeout: float | None = None,
) -> Call[LimitsAnswer]:
    """The budgets and the time to live in force in a mission, and whether each is its own or the default."""
    return Call(
        method="GET",
        path=path("/api/psychic-cache/{mission_id}/limits", mission_id=mission_id),
        answer=LimitsAnswer,
        seconds=2.0,
        repeatable=True,
        timeout=timeout,
    )


def set_limits(
    mission_id: str,
    *,
    token_budget: int | None = None,
    entry_budget: int | None = None,
    ttl_hours: float | None = None,
    dry_run: bool | None = None,
    timeout: float | None = None,
) -> Call[ChangedLimitsAnswer]:
    """Set the budgets and the time to live of a mission; what is left out goes back to the installation's
    default. The oldest entries beyond the new budgets are evicted at once.
    """
    return Call(
        method="PUT",
        path=path("/api/psychic-cache/{mission_id}/limits", mission_id=mission_id),
        answer=ChangedLimitsAnswer,
        seconds=5.0,
        repeatable=True,
        query={"dry_run": dry_run},
        body=fields(token_budget=token_budget, entry_budget=entry_budget, ttl_hours=ttl_hours),
        timeout=timeout,
    )


def stats(
    mission_id: str,
    *,
    timeout: float | None = None,
) -> Call[StatsAnswer]:
    """Count what a mission holds by type and agent, its budgets, and the entries it no longer holds."""
    return Call(
        method="GET",
        path=path("/api/psychic-cache/{mission_id}/stats", mission_id=mission_id),
        answer=StatsAnswer,
        seconds=2.0,
        repeatable=True,
        timeout=timeout,
    )
