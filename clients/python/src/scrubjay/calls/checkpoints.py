"""Written by `make openapi` from the API's document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scrubjay._call import Call, PagedCall, fields
from scrubjay.models import (
    ChannelWrite,
    Checkpoint,
    Checkpoints,
    CopiedThread,
    PrunedThreads,
    StoredCheckpoint,
    StoredWrites,
)


def put(
    *,
    thread_id: str,
    checkpoint_id: str,
    state: Mapping[str, Any],
    agent_name: str | None = None,
    mission_id: str | None = None,
    user_id: str | None = None,
    namespace: str | None = None,
    parent_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    run_id: str | None = None,
    ttl_hours: float | None = None,
    keep_last: int | None = None,
    agent: str | None = None,
    mission: str | None = None,
    timeout: float | None = None,
) -> Call[StoredCheckpoint]:
    """Store the state of a graph, or replace it. Its thread begins with the first, and is kept until it
    expires.

    Args:
        agent_name: The agent whose thread it is. A purge of the agent erases it.
        mission_id: The mission it works on. A purge of the mission erases it.
        user_id: The user it is with. A purge of the user erases it.
        thread_id: The framework's own name for the thread.
        checkpoint_id: Later ones sort after earlier ones, by their bytes.
        state: The state, as the framework wrote it.
        namespace: The graph within the thread's graph; empty for the thread's own. Default: `""`.
        parent_id: The checkpoint that it follows.
        metadata: What it can be filtered by.
        run_id: The run that made it.
        ttl_hours: How many hours from now on the thread is kept. The next write says it anew. Default:
            `720.0`.
        keep_last: The newest of its namespace that are kept. A thread's own checkpoint takes what is
            older in every namespace. Default: `100`.
        agent: Short for `agent_name`, in requests.
        mission: Short for `mission_id`, in requests.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="PUT",
        path="/api/checkpoints",
        answer=StoredCheckpoint,
        seconds=5.0,
        repeatable=True,
        body=fields(
            agent_name=agent_name,
            mission_id=mission_id,
            user_id=user_id,
            thread_id=thread_id,
            checkpoint_id=checkpoint_id,
            state=state,
            namespace=namespace,
            parent_id=parent_id,
            metadata=metadata,
            run_id=run_id,
            ttl_hours=ttl_hours,
            keep_last=keep_last,
            agent=agent,
            mission=mission,
        ),
        own={"agent": "agent_name", "mission": "mission_id"},
        timeout=timeout,
    )


def copy(
    *,
    source_id: str,
    target_id: str,
    agent_name: str | None = None,
    mission_id: str | None = None,
    user_id: str | None = None,
    ttl_hours: float | None = None,
    agent: str | None = None,
    mission: str | None = None,
    timeout: float | None = None,
) -> Call[CopiedThread]:
    """Copy a thread with all its checkpoints to another thread of the same parties.

    Args:
        agent_name: The agent whose thread it is. A purge of the agent erases it.
        mission_id: The mission it works on. A purge of the mission erases it.
        user_id: The user it is with. A purge of the user erases it.
        source_id: The thread to copy.
        target_id: The thread that gets its checkpoints. It keeps its own.
        ttl_hours: How many hours from now on the copy is kept. Default: `720.0`.
        agent: Short for `agent_name`, in requests.
        mission: Short for `mission_id`, in requests.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="PUT",
        path="/api/checkpoints/copy",
        answer=CopiedThread,
        seconds=5.0,
        repeatable=True,
        body=fields(
            agent_name=agent_name,
            mission_id=mission_id,
            user_id=user_id,
            source_id=source_id,
            target_id=target_id,
            ttl_hours=ttl_hours,
            agent=agent,
            mission=mission,
        ),
        own={"agent": "agent_name", "mission": "mission_id"},
        timeout=timeout,
    )


def list_(
    *,
    agent_name: str | None = None,
    mission_id: str | None = None,
    user_id: str | None = None,
    thread_id: str | None = None,
    namespace: str | None = None,
    checkpoint_id: str | None = None,
    before: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    cursor: str | None = None,
    limit: int | None = None,
    agent: str | None = None,
    mission: str | None = None,
    timeout: float | None = None,
) -> PagedCall[Checkpoints, Checkpoint]:
    """List checkpoints with what tasks wrote after them, newest first.

    Args:
        agent_name: The agent whose thread it is. A purge of the agent erases it.
        mission_id: The mission it works on. A purge of the mission erases it.
        user_id: The user it is with. A purge of the user erases it.
        thread_id: Only of this thread.
        namespace: Only of this graph within the thread's graph; empty for the thread's own.
        checkpoint_id: Only this one.
        before: Only those that sort before it.
        metadata: Only those whose metadata contain this.
        cursor: The `next` of the previous page. Omit it for the first page.
        limit: The largest number of items in a page. Large ones make a page shorter. Default: `10`.
        agent: Short for `agent_name`, in requests.
        mission: Short for `mission_id`, in requests.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
        method="POST",
        path="/api/checkpoints/list",
        answer=Checkpoints,
        seconds=2.0,
        repeatable=True,
        body=fields(
            agent_name=agent_name,
            mission_id=mission_id,
            user_id=user_id,
            thread_id=thread_id,
            namespace=namespace,
            checkpoint_id=checkpoint_id,
            before=before,
            metadata=metadata,
            cursor=cursor,
            limit=limit,
            agent=agent,
            mission=mission,
        ),
        own={"agent": "agent_name", "mission": "mission_id"},
        timeout=timeout,
    )


def prune(
    *,
    agent_name: str | None = None,
    mission_id: str | None = None,
    user_id: str | None = None,
    thread_ids: Sequence[str] | None = None,
    run_ids: Sequence[str] | None = None,
    keep: int | None = None,
    agent: str | None = None,
    mission: str | None = None,
    timeout: float | None = None,
) -> Call[PrunedThreads]:
    """Erase threads, all but the newest checkpoints of threads, or what runs made. What is not there is no
    error.

    Args:
        agent_name: The agent whose thread it is. A purge of the agent erases it.
        mission_id: The mission it works on. A purge of the mission erases it.
        user_id: The user it is with. A purge of the user erases it.
        thread_ids: The threads to prune.
        run_ids: Erase what these runs made, in every thread of the same parties.
        keep: The newest of each namespace that stay in `thread_ids`. 0 erases the threads. Default:
            `1`.
        agent: Short for `agent_name`, in requests.
        mission: Short for `mission_id`, in requests.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="PUT",
        path="/api/checkpoints/prune",
        answer=PrunedThreads,
        seconds=5.0,
        repeatable=True,
        body=fields(
            agent_name=agent_name,
            mission_id=mission_id,
            user_id=user_id,
            thread_ids=thread_ids,
            run_ids=run_ids,
            keep=keep,
            agent=agent,
            mission=mission,
        ),
        own={"agent": "agent_name", "mission": "mission_id"},
        timeout=timeout,
    )


def put_writes(
    *,
    thread_id: str,
    checkpoint_id: str,
    task_id: str,
    writes: Sequence[ChannelWrite],
    agent_name: str | None = None,
    mission_id: str | None = None,
    user_id: str | None = None,
    namespace: str | None = None,
    task_path: str | None = None,
    replace: bool | None = None,
    ttl_hours: float | None = None,
    agent: str | None = None,
    mission: str | None = None,
    timeout: float | None = None,
) -> Call[StoredWrites]:
    """Store what a task wrote after a checkpoint, so that it need not run again.

    Args:
        agent_name: The agent whose thread it is. A purge of the agent erases it.
        mission_id: The mission it works on. A purge of the mission erases it.
        user_id: The user it is with. A purge of the user erases it.
        thread_id: The framework's own name for the thread.
        checkpoint_id: The checkpoint that the task runs on. It may come later.
        task_id: The task that wrote.
        writes: What it wrote. The task's first write to a place stays.
        namespace: The graph within the thread's graph; empty for the thread's own. Default: `""`.
        task_path: Where the task stands in its step. It decides the order of the writes. Default: `""`.
        replace: The task's last write to a place stays instead. Default: `false`.
        ttl_hours: How many hours from now on the thread is kept. The next write says it anew. Default:
            `720.0`.
        agent: Short for `agent_name`, in requests.
        mission: Short for `mission_id`, in requests.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="PUT",
        path="/api/checkpoints/writes",
        answer=StoredWrites,
        seconds=5.0,
        repeatable=True,
        body=fields(
            agent_name=agent_name,
            mission_id=mission_id,
            user_id=user_id,
            thread_id=thread_id,
            checkpoint_id=checkpoint_id,
            task_id=task_id,
            writes=writes,
            namespace=namespace,
            task_path=task_path,
            replace=replace,
            ttl_hours=ttl_hours,
            agent=agent,
            mission=mission,
        ),
        own={"agent": "agent_name", "mission": "mission_id"},
        timeout=timeout,
    )
