"""Written by `make openapi` from the API's document."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from scrubjay._call import Call, PagedCall, fields, path
from scrubjay.models import (
    BatchAnswer,
    CacheDeleteAnswer,
    CacheEntry,
    ChangedLimitsAnswer,
    ClearAnswer,
    Decision,
    Directive,
    EntriesAnswer,
    EntryAnswer,
    Escalation,
    Intel,
    Language,
    LimitsAnswer,
    Mission,
    MissionLanguageAnswer,
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


def entry(
    entry_id: int,
    *,
    timeout: float | None = None,
) -> Call[EntryAnswer]:
    """One entry.

    Args:
        entry_id: The id of an entry: the number of a handle `cache:<id>`.
        timeout: Seconds for the call with all its tries.
    """
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
    """Replace an entry's tags. Its content never changes.

    Args:
        entry_id: The id of an entry: the number of a handle `cache:<id>`.
        tags: Words to find it by, and to narrow a search to.
        timeout: Seconds for the call with all its tries.
    """
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
    """Delete an entry, which frees its tokens.

    Args:
        entry_id: The id of an entry: the number of a handle `cache:<id>`.
        timeout: Seconds for the call with all its tries.
    """
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
) -> PagedCall[MissionsAnswer, Mission]:
    """List the missions that the key may read, by name, with their budgets and what they hold.

    Args:
        cursor: The `next` of the previous page. Omit it for the first page.
        limit: The largest number of items in a page.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
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
    mission_id: str | None = None,
    agent_name: str | None = None,
    agent: str | None = None,
    mission: str | None = None,
    timeout: float | None = None,
) -> Call[EntryAnswer]:
    """Get the newest thread_checkpoint of a session. A key bound to an agent gets that agent's.

    Args:
        session_id: The session's name.
        mission_id: Of this mission.
        agent_name: Entries that this agent wrote.
        agent: Short for `agent_name`, in requests.
        mission: Short for `mission_id`, in requests.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="GET",
        path=path("/api/psychic-cache/checkpoint/{session_id}", session_id=session_id),
        answer=EntryAnswer,
        seconds=2.0,
        repeatable=True,
        query={"mission_id": mission_id, "agent_name": agent_name, "agent": agent, "mission": mission},
        timeout=timeout,
    )


def query(
    query: str,
    *,
    mission_id: str | None = None,
    language: Language | None = None,
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
    agent: str | None = None,
    mission: str | None = None,
    timeout: float | None = None,
) -> Call[QueryAnswer]:
    """Search a mission's entries. Mission `*` means every mission that the key may read.

    Args:
        mission_id: `*` means every mission that the key may read. Required unless the key is bound to
            one.
        query: A question, or what is wanted.
        language: The language of the query, detected by default.
        token_budget: The most tokens of the block. Default: `4000`.
        context_types: Only these types. An empty list does not filter.
        tags: Only entries with at least one of these. An empty list does not filter.
        agent_name: The agent.
        dispatch_id: The dispatch that it belongs to.
        since: Entries recorded at this time or later. A time without an offset is UTC.
        until: Entries recorded before this time.
        agent: Short for `agent_name`, in requests.
        mission: Short for `mission_id`, in requests.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path="/api/psychic-cache/query",
        answer=QueryAnswer,
        seconds=2.0,
        repeatable=True,
        body=fields(
            mission_id=mission_id,
            query=query,
            language=language,
            token_budget=token_budget,
            context_types=context_types,
            tags=tags,
            agent_name=agent_name,
            dispatch_id=dispatch_id,
            since=since,
            until=until,
            agent=agent,
            mission=mission,
        ),
        own={"mission": "mission_id"},
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
    """Write an entry. Search finds it by text at once, and by meaning as soon as it is indexed.

    Args:
        body: The item to write.
        wait: Answer only when search also finds it by meaning, or at the deadline.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path="/api/psychic-cache/write",
        answer=WriteAnswer,
        seconds=5.0,
        repeatable=True,
        query={"wait": wait},
        body=body,
        own={"agent": "agent_name", "mission": "mission_id"},
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
    """Write up to 100 entries. Each has its own result. Entries of the same mission are written in order.

    Args:
        entries: The entries, in the order of the request.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path="/api/psychic-cache/write/batch",
        answer=BatchAnswer,
        seconds=5.0,
        repeatable=True,
        body=fields(entries=entries),
        own={"agent": "agent_name", "mission": "mission_id"},
        each="entries",
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def clear(
    mission: str,
    *,
    reason: Literal["contaminated", "mission_complete", "operator", "superseded"] | None = None,
    timeout: float | None = None,
) -> Call[ClearAnswer]:
    """Delete a mission's entries. The reason is required, in the query or the body, and the timeline keeps
    it.

    Args:
        mission: The mission's name.
        reason: Why. Needed here, or as `reason` of a JSON body.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="DELETE",
        path=path("/api/psychic-cache/{mission}", mission=mission),
        answer=ClearAnswer,
        seconds=5.0,
        repeatable=False,
        query={"reason": reason},
        without_mission="all",
        timeout=timeout,
    )


def entries(
    mission: str | None = None,
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
    agent: str | None = None,
    timeout: float | None = None,
) -> PagedCall[EntriesAnswer, CacheEntry]:
    """List a mission's live entries, newest first.

    Args:
        mission: The mission's name. Left out, it is the one that the client is bound to or else every
            mission.
        context_type: Entries of this type only; may be given several times.
        tag: Entries with this tag; given several times, with any of them.
        agent_name: Entries that this agent wrote.
        since: Only what was recorded at this time or later. A time without an offset is UTC.
        until: Only what was recorded before this time. A time without an offset is UTC.
        cursor: The `next` of the previous page. Omit it for the first page.
        limit: The largest number of items in a page.
        agent: Short for `agent_name`, in requests.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
        method="GET",
        path=path("/api/psychic-cache/{mission}/entries", mission=mission),
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
            "agent": agent,
        },
        without_mission="all",
        timeout=timeout,
    )


def language(
    mission: str | None = None,
    *,
    timeout: float | None = None,
) -> Call[MissionLanguageAnswer]:
    """The language of a mission's texts and of questions about it, where neither they nor their writer
    tells it.

    Args:
        mission: The mission's name. Left out, it is the one that the client is bound to.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="GET",
        path=path("/api/psychic-cache/{mission}/language", mission=mission),
        answer=MissionLanguageAnswer,
        seconds=2.0,
        repeatable=True,
        timeout=timeout,
    )


def set_language(
    mission: str,
    *,
    language: Language | None = None,
    timeout: float | None = None,
) -> Call[MissionLanguageAnswer]:
    """Set the language of a mission's texts and questions that are too short to tell it, from now on. It
    goes before the tenant's. A `language` in a request wins over both, and so does a text that is
    clearly in another language.

    Args:
        mission: The mission's name.
        language: The language of the mission's texts. Without one, the tenant's holds again.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="PUT",
        path=path("/api/psychic-cache/{mission}/language", mission=mission),
        answer=MissionLanguageAnswer,
        seconds=5.0,
        repeatable=True,
        body=fields(language=language),
        timeout=timeout,
    )


def limits(
    mission: str | None = None,
    *,
    timeout: float | None = None,
) -> Call[LimitsAnswer]:
    """The budgets and the time to live in force in a mission, and whether each is its own or the default.

    Args:
        mission: The mission's name. Left out, it is the one that the client is bound to.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="GET",
        path=path("/api/psychic-cache/{mission}/limits", mission=mission),
        answer=LimitsAnswer,
        seconds=2.0,
        repeatable=True,
        timeout=timeout,
    )


def set_limits(
    mission: str,
    *,
    token_budget: int | None = None,
    entry_budget: int | None = None,
    ttl_hours: float | None = None,
    dry_run: bool | None = None,
    timeout: float | None = None,
) -> Call[ChangedLimitsAnswer]:
    """Set the budgets and the time to live of a mission; what is left out goes back to the installation's
    default. The oldest entries beyond the new budgets are evicted at once.

    Args:
        mission: The mission's name.
        token_budget: The most tokens that the mission may hold.
        entry_budget: The most entries that it may hold.
        ttl_hours: How long an entry lives by default.
        dry_run: Count what would be evicted, and change nothing.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="PUT",
        path=path("/api/psychic-cache/{mission}/limits", mission=mission),
        answer=ChangedLimitsAnswer,
        seconds=5.0,
        repeatable=True,
        query={"dry_run": dry_run},
        body=fields(token_budget=token_budget, entry_budget=entry_budget, ttl_hours=ttl_hours),
        timeout=timeout,
    )


def stats(
    mission: str | None = None,
    *,
    timeout: float | None = None,
) -> Call[StatsAnswer]:
    """Count what a mission holds by type and agent, its budgets, and the entries it no longer holds.

    Args:
        mission: The mission's name. Left out, it is the one that the client is bound to.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="GET",
        path=path("/api/psychic-cache/{mission}/stats", mission=mission),
        answer=StatsAnswer,
        seconds=2.0,
        repeatable=True,
        timeout=timeout,
    )
