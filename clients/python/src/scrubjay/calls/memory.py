"""Written by `make openapi` from the API's document."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from scrubjay._call import Call, PagedCall, fields, path
from scrubjay.models import (
    Consolidated,
    ConsolidationChange,
    ConsolidationChanges,
    ConsolidationRun,
    ConsolidationRuns,
    DeletedMemory,
    DueCommitments,
    FoundLongTerms,
    Language,
    LongTermMemories,
    LongTermMemory,
    UndoneRun,
    WriteMemoryInput,
    WrittenMemories,
    WrittenMemory,
)


def write(
    *,
    kind: Literal["commitment", "episode", "knowledge", "preference", "summary"],
    content: str,
    paths: Sequence[str] | None = None,
    symbols: Sequence[str] | None = None,
    step: Literal["diff", "edit", "plan", "read", "run", "test"] | None = None,
    occurred_at: datetime | None = None,
    session_id: str | None = None,
    seq: int | None = None,
    speaker: str | None = None,
    user_id: str | None = None,
    language: Language | None = None,
    source_kind: Literal["agent", "derived", "document", "imported", "tool", "user"] | None = None,
    recalled_from: int | str | None = None,
    scope: str | None = None,
    agent_name: str | None = None,
    topics: Sequence[str] | None = None,
    tone: str | None = None,
    ended_at: datetime | None = None,
    owed_by: str | None = None,
    owed_to: str | None = None,
    due_at: datetime | None = None,
    origin: str | None = None,
    supersedes: int | str | None = None,
    agent: str | None = None,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[WrittenMemory]:
    """Remember something beyond a mission: a preference, knowledge, a summary, an episode or a commitment.
    What a scope has already stays as it is.

    Args:
        paths: The files that it is about. A question that names one finds it, by the last two segments
            or more.
        symbols: The names in code that it is about. A question that holds one finds it.
        step: Which kind of step it records. When left out, an entry's text decides.
        occurred_at: When it happened, by default now and never later. A time without an offset is UTC.
        session_id: The session it was said in: any string.
        seq: Its number in the session.
        speaker: Who said it, if not the agent. A block shows it as the agent's claim.
        user_id: The user it is about, or who said it. A purge of the user erases it.
        language: The language of its text, whose inflections search then knows. When left out, it is
            detected.
        source_kind: The kind of source it is from. For a key that is bound to an agent, `user` is only
            a claim of the agent. Default: `"agent"`.
        recalled_from: The assembly that led to it. This counts as weak feedback.
        kind: `preference`, `knowledge` and `summary` are documents. An `episode` is what happened; a
            `commitment` is what somebody promised.
        content: What to remember, in its own words.
        scope: Who finds it: `user:…`, `agent:…`, `mission:…`, `project:…` or `shared`. Left out, the
            user's, or else the agent's.
        agent_name: The agent that writes it.
        topics: What it is about, in a few words. A question that uses them finds it.
        tone: The mood of an episode, such as `relieved`.
        ended_at: When an episode ended. It began at `occurred_at`.
        owed_by: Who made the promise.
        owed_to: To whom it was made.
        due_at: When the promise is due. An open commitment expires then. A time without an offset is
            UTC.
        origin: The system that it is imported from, and its id there, such as `mem0:8f2b…`. The scope
            keeps one memory of this kind and origin: writing it again changes nothing, even if its text
            was changed in the meantime.
        supersedes: An older memory of the same scope that no longer holds. It stays readable, but
            leaves context blocks.
        agent: Short for `agent_name`, in requests.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path="/api/memory",
        answer=WrittenMemory,
        seconds=5.0,
        repeatable=True,
        body=fields(
            paths=paths,
            symbols=symbols,
            step=step,
            occurred_at=occurred_at,
            session_id=session_id,
            seq=seq,
            speaker=speaker,
            user_id=user_id,
            language=language,
            source_kind=source_kind,
            recalled_from=recalled_from,
            kind=kind,
            content=content,
            scope=scope,
            agent_name=agent_name,
            topics=topics,
            tone=tone,
            ended_at=ended_at,
            owed_by=owed_by,
            owed_to=owed_to,
            due_at=due_at,
            origin=origin,
            supersedes=supersedes,
            agent=agent,
        ),
        own={"agent": "agent_name"},
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def list_(
    *,
    in_scope: str | None = None,
    kind: Literal["commitment", "episode", "knowledge", "preference", "summary"] | None = None,
    status: Literal["cancelled", "done", "expired", "open"] | None = None,
    user_id: str | None = None,
    cursor: str | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> PagedCall[LongTermMemories, LongTermMemory]:
    """List long-term memories, newest first.

    Args:
        in_scope: Only memories of this scope.
        kind: Only memories of this kind.
        status: Only commitments of this status.
        user_id: Nothing about other users.
        cursor: The `next` of the page before; else the first page.
        limit: At most this many items.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
        method="GET",
        path="/api/memory",
        answer=LongTermMemories,
        seconds=2.0,
        repeatable=True,
        query={
            "in_scope": in_scope,
            "kind": kind,
            "status": status,
            "user_id": user_id,
            "cursor": cursor,
            "limit": limit,
        },
        timeout=timeout,
    )


def write_batch(
    *,
    memories: Sequence[WriteMemoryInput],
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[WrittenMemories]:
    """Remember up to 100 memories, all or none.

    Args:
        memories: The memories.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path="/api/memory/batch",
        answer=WrittenMemories,
        seconds=5.0,
        repeatable=True,
        body=fields(memories=memories),
        own={"agent": "agent_name"},
        each="memories",
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def due(
    *,
    in_scope: str | None = None,
    owed_by: str | None = None,
    user_id: str | None = None,
    until: datetime | None = None,
    since: datetime | None = None,
    cursor: str | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> PagedCall[DueCommitments, LongTermMemory]:
    """List the open commitments that are due, the first first. Done and cancelled ones are left out.

    Args:
        in_scope: Only commitments of this scope, such as `mission:…`.
        owed_by: Only what this agent or person promised.
        user_id: Nothing about other users.
        until: Due by then. Left out, in the next 7 days.
        since: Also those that have expired since then. Left out, none.
        cursor: The `next` of the page before; else the first page.
        limit: At most this many items.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
        method="GET",
        path="/api/memory/due",
        answer=DueCommitments,
        seconds=2.0,
        repeatable=True,
        query={
            "in_scope": in_scope,
            "owed_by": owed_by,
            "user_id": user_id,
            "until": until,
            "since": since,
            "cursor": cursor,
            "limit": limit,
        },
        timeout=timeout,
    )


def search(
    query: str,
    *,
    agent_name: str | None = None,
    user_id: str | None = None,
    scopes: Sequence[str] | None = None,
    kinds: Sequence[Literal["commitment", "episode", "knowledge", "preference", "summary"]] | None = None,
    language: Language | None = None,
    limit: int | None = None,
    agent: str | None = None,
    timeout: float | None = None,
) -> Call[FoundLongTerms]:
    """Search long-term memory, by full text first. The query is embedded only when fewer than 3 memories
    hold more than two thirds of its content words.

    Args:
        query: A question, or what is wanted.
        agent_name: The agent that asks: its own scope is searched.
        user_id: The user that it is for: the user's scope is searched, and nothing about other users is
            found.
        scopes: Further scopes to search. `shared` always is.
        kinds: Only memories of these kinds.
        language: The language of the query, detected by default.
        limit: At most this many items. Default: `10`.
        agent: Short for `agent_name`, in requests.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path="/api/memory/search",
        answer=FoundLongTerms,
        seconds=2.0,
        repeatable=True,
        body=fields(
            query=query,
            agent_name=agent_name,
            user_id=user_id,
            scopes=scopes,
            kinds=kinds,
            language=language,
            limit=limit,
            agent=agent,
        ),
        own={"agent": "agent_name"},
        timeout=timeout,
    )


def get(
    memory_id: int,
    *,
    timeout: float | None = None,
) -> Call[LongTermMemory]:
    """Get a long-term memory.

    Args:
        memory_id: The id of a memory: the number of a handle `own:<id>`, `peer:<id>` or `memory:<id>`.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="GET",
        path=path("/api/memory/{memory_id}", memory_id=memory_id),
        answer=LongTermMemory,
        seconds=2.0,
        repeatable=True,
        timeout=timeout,
    )


def edit(
    memory_id: int,
    *,
    content: str | None = None,
    topics: Sequence[str] | None = None,
    tone: str | None = None,
    ended_at: datetime | None = None,
    owed_by: str | None = None,
    owed_to: str | None = None,
    due_at: datetime | None = None,
    status: Literal["cancelled", "done", "open"] | None = None,
    language: Language | None = None,
    source_kind: Literal["agent", "derived", "document", "imported", "tool", "user"] | None = None,
    timeout: float | None = None,
) -> Call[LongTermMemory]:
    """Change a long-term memory, or what became of a commitment. Fields left out stay.

    Args:
        memory_id: The id of a memory: the number of a handle `own:<id>`, `peer:<id>` or `memory:<id>`.
        content: The text.
        topics: What it is about, in place of what was there.
        tone: The mood of an episode.
        ended_at: When an episode ended.
        owed_by: Who made the promise.
        owed_to: To whom it was made.
        due_at: A later time opens an expired commitment again.
        status: What became of a commitment. Only the clock makes it `expired`.
        language: The language of new content, detected by default.
        source_kind: How it came to be known. Default: `"agent"`.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="PATCH",
        path=path("/api/memory/{memory_id}", memory_id=memory_id),
        answer=LongTermMemory,
        seconds=5.0,
        repeatable=True,
        body=fields(
            content=content,
            topics=topics,
            tone=tone,
            ended_at=ended_at,
            owed_by=owed_by,
            owed_to=owed_to,
            due_at=due_at,
            status=status,
            language=language,
            source_kind=source_kind,
        ),
        timeout=timeout,
    )


def delete(
    memory_id: int,
    *,
    timeout: float | None = None,
) -> Call[DeletedMemory]:
    """Delete a long-term memory.

    Args:
        memory_id: The id of a memory: the number of a handle `own:<id>`, `peer:<id>` or `memory:<id>`.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="DELETE",
        path=path("/api/memory/{memory_id}", memory_id=memory_id),
        answer=DeletedMemory,
        seconds=5.0,
        repeatable=False,
        timeout=timeout,
    )


def consolidate(
    *,
    session_id: str | None = None,
    path: str | None = None,
    scope: str | None = None,
    from_start: bool | None = None,
    timeout: float | None = None,
) -> Call[Consolidated]:
    """Learn facts, episodes, commitments and other names from a session, from where the last run ended, or
    from a file. What was recalled is not learned again. All that is learned names the turns it comes
    from, and can be undone.

    Args:
        session_id: The session, by its id or its external id.
        path: The file, in place of a session.
        scope: Where what the file teaches lies: by default with whose folder it is in. It lies
            elsewhere only if the folder is no agent's, mission's or user's.
        from_start: Learn from all of it again. What is known is only confirmed. Default: `false`.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path="/api/memory/consolidate",
        answer=Consolidated,
        seconds=30.0,
        repeatable=False,
        body=fields(session_id=session_id, path=path, scope=scope, from_start=from_start),
        timeout=timeout,
    )


def consolidations(
    *,
    session_id: str | None = None,
    path: str | None = None,
    cursor: str | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> PagedCall[ConsolidationRuns, ConsolidationRun]:
    """List the runs of consolidation, newest first, with how much each opened, closed, confirmed and
    skipped.

    Args:
        session_id: Only runs over the session with this id.
        path: Only runs over this file.
        cursor: The `next` of the previous page. Omit it for the first page.
        limit: The largest number of items in a page.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
        method="GET",
        path="/api/memory/consolidations",
        answer=ConsolidationRuns,
        seconds=2.0,
        repeatable=True,
        query={"session_id": session_id, "path": path, "cursor": cursor, "limit": limit},
        timeout=timeout,
    )


def consolidation(
    run_id: int,
    *,
    timeout: float | None = None,
) -> Call[ConsolidationRun]:
    """Get the report of a run.

    Args:
        run_id: The id of a run of consolidation.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="GET",
        path=path("/api/memory/consolidations/{run_id}", run_id=run_id),
        answer=ConsolidationRun,
        seconds=2.0,
        repeatable=True,
        timeout=timeout,
    )


def consolidation_changes(
    run_id: int,
    *,
    cursor: str | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> PagedCall[ConsolidationChanges, ConsolidationChange]:
    """List the rows that a run opened, closed, confirmed or found disputed, with the turns that each comes
    from.

    Args:
        run_id: The id of a run of consolidation.
        cursor: The `next` of the previous page. Omit it for the first page.
        limit: The largest number of items in a page.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
        method="GET",
        path=path("/api/memory/consolidations/{run_id}/changes", run_id=run_id),
        answer=ConsolidationChanges,
        seconds=2.0,
        repeatable=True,
        query={"cursor": cursor, "limit": limit},
        timeout=timeout,
    )


def undo_consolidation(
    run_id: int,
    *,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[UndoneRun]:
    """Undo a run: withdraw exactly what it opened, and reopen what it closed. Rows that somebody changed
    after the run stay as they are. The session's events are not learned from again.

    Args:
        run_id: The id of a run of consolidation.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path=path("/api/memory/consolidations/{run_id}/undo", run_id=run_id),
        answer=UndoneRun,
        seconds=5.0,
        repeatable=True,
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )
