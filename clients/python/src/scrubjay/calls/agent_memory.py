"""Written by `make openapi` from the API's document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal

from scrubjay._call import Call, PagedCall, fields, path
from scrubjay.models import (
    AgentMemory,
    AgentMemoryDeleteAnswer,
    CommitAgentMemoryInput,
    CommitBatchResult,
    CommitResult,
    ExportedMemory,
    ForgetReceipt,
    FoundMemories,
    ImportResult,
    Language,
    Memories,
    MemoryAnswer,
    PendingReview,
    TaskContext,
)


def batch(
    *,
    memories: Sequence[CommitAgentMemoryInput],
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[CommitBatchResult]:
    """Commit up to 100 memories, all or none.

    Args:
        memories: The memories.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path="/api/agent-memory/batch",
        answer=CommitBatchResult,
        seconds=5.0,
        repeatable=True,
        body=fields(memories=memories),
        own={"agent": "agent_name"},
        each="memories",
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def commit(
    *,
    content: str,
    memory_type: Literal["domain_pattern", "lesson_learned", "skill_heuristic", "task_blueprint"],
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
    agent_name: str | None = None,
    task_context: TaskContext | None = None,
    private: bool | None = None,
    dispatch_id: int | str | None = None,
    supersedes: int | str | None = None,
    agent: str | None = None,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[CommitResult]:
    """Commit what an agent learned. Committing the same again confirms the memory instead of duplicating
    it.

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
        agent_name: The agent. Required unless the key is bound to one.
        content: What was learned, in one or a few sentences.
        memory_type: The tier: how a task is done, a rule of thumb, how things are, or what went wrong
            or right.
        task_context: The task it was learned in.
        private: Hide it from peers. Default: `false`.
        dispatch_id: The dispatch it was learned in.
        supersedes: An older memory of this agent that no longer holds. It stays readable, but leaves
            context blocks.
        agent: Short for `agent_name`, in requests.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path="/api/agent-memory/commit",
        answer=CommitResult,
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
            agent_name=agent_name,
            content=content,
            memory_type=memory_type,
            task_context=task_context,
            private=private,
            dispatch_id=dispatch_id,
            supersedes=supersedes,
            agent=agent,
        ),
        own={"agent": "agent_name"},
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def export(
    *,
    agent_name: str | None = None,
    after: int | None = None,
    limit: int | None = None,
    agent: str | None = None,
    timeout: float | None = None,
) -> Call[list[ExportedMemory]]:
    """Export memories as JSON Lines, by id. The next page begins `after` the last line's id; an empty page
    is the end. A page is small enough to be imported unchanged. Exporting all agents needs an admin
    key.

    Args:
        agent_name: Only this agent's memories. By default the key's agent, or else all.
        after: The last id of the previous page.
        limit: At most this many items.
        agent: Short for `agent_name`, in requests.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="GET",
        path="/api/agent-memory/export",
        answer=list[ExportedMemory],
        seconds=2.0,
        repeatable=True,
        query={"agent_name": agent_name, "after": after, "limit": limit, "agent": agent},
        timeout=timeout,
    )


def import_(
    lines: Iterable[ExportedMemory],
    *,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[ImportResult]:
    """Import lines of an export. Ids stay unless another memory has them. Known facts stay unchanged. What
    is imported is a claim: its `source_kind` is `imported`, and counts are at most 10,000. A time in
    the future is refused.

    Args:
        lines: The items, in order.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path="/api/agent-memory/import",
        answer=ImportResult,
        seconds=5.0,
        repeatable=True,
        lines=lines,
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def list_(
    *,
    agent_name: str | None = None,
    memory_type: Literal["domain_pattern", "lesson_learned", "skill_heuristic", "task_blueprint"]
    | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    cursor: str | None = None,
    limit: int | None = None,
    agent: str | None = None,
    timeout: float | None = None,
) -> PagedCall[Memories, AgentMemory]:
    """List an agent's memories, newest first.

    Args:
        agent_name: The agent. Required unless the key is bound to one.
        memory_type: The tier: how a task is done, a rule of thumb, how things are, or what went wrong
            or right.
        since: Memories recorded at this time or later. A time without an offset is UTC.
        until: Memories recorded before this time.
        cursor: The `next` of the page before; else the first page.
        limit: At most this many items. Default: `50`.
        agent: Short for `agent_name`, in requests.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
        method="POST",
        path="/api/agent-memory/list",
        answer=Memories,
        seconds=2.0,
        repeatable=True,
        body=fields(
            agent_name=agent_name,
            memory_type=memory_type,
            since=since,
            until=until,
            cursor=cursor,
            limit=limit,
            agent=agent,
        ),
        own={"agent": "agent_name"},
        timeout=timeout,
    )


def peer_query(
    query: str,
    *,
    target_agent: str,
    language: Language | None = None,
    memory_type: Literal["domain_pattern", "lesson_learned", "skill_heuristic", "task_blueprint"]
    | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> Call[FoundMemories]:
    """Search another agent's memories, except its private ones.

    Args:
        target_agent: The agent whose memories to search. Private ones stay hidden.
        query: A question, or what is wanted.
        language: The language of the query, detected by default.
        memory_type: The tier: how a task is done, a rule of thumb, how things are, or what went wrong
            or right.
        since: Memories recorded at this time or later. A time without an offset is UTC.
        until: Memories recorded before this time.
        limit: At most this many items. Default: `5`.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path="/api/agent-memory/peer-query",
        answer=FoundMemories,
        seconds=2.0,
        repeatable=True,
        body=fields(
            target_agent=target_agent,
            query=query,
            language=language,
            memory_type=memory_type,
            since=since,
            until=until,
            limit=limit,
        ),
        timeout=timeout,
    )


def pending_review(
    *,
    since: str,
    timeout: float | None = None,
) -> Call[PendingReview]:
    """Count the memories that each named agent gained since its time.

    Args:
        since: A JSON map of agents to ISO times.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="GET",
        path="/api/agent-memory/pending-review",
        answer=PendingReview,
        seconds=2.0,
        repeatable=True,
        query={"since": since},
        timeout=timeout,
    )


def query(
    query: str,
    *,
    agent_name: str | None = None,
    language: Language | None = None,
    memory_type: Literal["domain_pattern", "lesson_learned", "skill_heuristic", "task_blueprint"]
    | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    limit: int | None = None,
    agent: str | None = None,
    timeout: float | None = None,
) -> Call[FoundMemories]:
    """Search an agent's own memories, the most relevant first.

    Args:
        agent_name: Whose memories. Required unless the key is bound to one.
        query: A question, or what is wanted.
        language: The language of the query, detected by default.
        memory_type: The tier: how a task is done, a rule of thumb, how things are, or what went wrong
            or right.
        since: Memories recorded at this time or later. A time without an offset is UTC.
        until: Memories recorded before this time.
        limit: At most this many items. Default: `10`.
        agent: Short for `agent_name`, in requests.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path="/api/agent-memory/query",
        answer=FoundMemories,
        seconds=2.0,
        repeatable=True,
        body=fields(
            agent_name=agent_name,
            query=query,
            language=language,
            memory_type=memory_type,
            since=since,
            until=until,
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
) -> Call[MemoryAnswer]:
    """Get a memory and its confirmations. This does not count as an access.

    Args:
        memory_id: The id of a memory: the number of a handle `own:<id>`, `peer:<id>` or `memory:<id>`.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="GET",
        path=path("/api/agent-memory/{memory_id}", memory_id=memory_id),
        answer=MemoryAnswer,
        seconds=2.0,
        repeatable=True,
        timeout=timeout,
    )


def edit(
    memory_id: int,
    *,
    content: str | None = None,
    memory_type: Literal["domain_pattern", "lesson_learned", "skill_heuristic", "task_blueprint"]
    | None = None,
    task_context: TaskContext | None = None,
    private: bool | None = None,
    paths: Sequence[str] | None = None,
    symbols: Sequence[str] | None = None,
    step: Literal["diff", "edit", "plan", "read", "run", "test"] | None = None,
    language: Language | None = None,
    source_kind: Literal["agent", "derived", "document", "imported", "tool", "user"] | None = None,
    timeout: float | None = None,
) -> Call[MemoryAnswer]:
    """Change a memory. Fields left out stay. Answers 409 if another memory of the agent says the same.

    Args:
        memory_id: The id of a memory: the number of a handle `own:<id>`, `peer:<id>` or `memory:<id>`.
        content: The text.
        memory_type: The tier: how a task is done, a rule of thumb, how things are, or what went wrong
            or right.
        task_context: The task that it was learned in.
        private: Hidden from peers.
        paths: The files that it is about, in place of those it had.
        symbols: The names in code that it is about, in place of those it had.
        step: Which kind of step it records.
        language: The language of new content, detected by default.
        source_kind: How it came to be known. Default: `"agent"`.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="PATCH",
        path=path("/api/agent-memory/{memory_id}", memory_id=memory_id),
        answer=MemoryAnswer,
        seconds=5.0,
        repeatable=True,
        body=fields(
            content=content,
            memory_type=memory_type,
            task_context=task_context,
            private=private,
            paths=paths,
            symbols=symbols,
            step=step,
            language=language,
            source_kind=source_kind,
        ),
        timeout=timeout,
    )


def delete(
    memory_id: int,
    *,
    timeout: float | None = None,
) -> Call[AgentMemoryDeleteAnswer]:
    """Delete a memory and its confirmations.

    Args:
        memory_id: The id of a memory: the number of a handle `own:<id>`, `peer:<id>` or `memory:<id>`.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="DELETE",
        path=path("/api/agent-memory/{memory_id}", memory_id=memory_id),
        answer=AgentMemoryDeleteAnswer,
        seconds=5.0,
        repeatable=False,
        timeout=timeout,
    )


def forget(
    *,
    agent_name: str,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[ForgetReceipt]:
    """Erase everything that an agent committed. Answers the erased rows by table.

    Args:
        agent_name: The agent.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path="/api/agent-memory/forget",
        answer=ForgetReceipt,
        seconds=5.0,
        repeatable=True,
        body=fields(agent_name=agent_name),
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )
