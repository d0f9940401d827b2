"""Request and response bodies of checkpoints."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any

import asyncpg
import msgspec
from msgspec import Meta, field

from shared.bindings import OwnAgent, OwnMission
from shared.body import Body
from shared.paging.cursors import Cursor
from shared.paging.pages import Page
from shared.text import Name, TtlHours, mission_problem

# With the others of a key, they fit into a row of an index.
Id = Annotated[str, Meta(min_length=1, max_length=100, pattern=r"^[!-~]+$")]
Namespace = Annotated[str, Meta(max_length=1_000, pattern=r"^[ -~]*$")]
RunId = Annotated[str, Meta(min_length=1, max_length=200)]
State = dict[str, Any]
KEEP_HOURS = 30 * 24.0
KEEP_LAST = 100


class ThreadParties(Body, kw_only=True):
    """Whose a thread is. Each call names them as the first did: others of the same name have threads of their own."""

    agent_name: OwnAgent | None = None
    """The agent whose thread it is. A purge of the agent erases it."""
    mission_id: OwnMission | None = None
    """The mission it works on. A purge of the mission erases it."""
    user_id: Name | None = None
    """The user it is with. A purge of the user erases it."""

    def checks(self) -> Iterator[tuple[str, str]]:
        if self.mission_id is not None and (problem := mission_problem(self.mission_id)):
            yield "mission_id", problem


class PutCheckpointInput(ThreadParties, kw_only=True):
    thread_id: Name
    """The framework's own name for the thread."""
    checkpoint_id: Id
    """Later ones sort after earlier ones, by their bytes."""
    state: State
    """The state, as the framework wrote it."""
    namespace: Namespace = ""
    """The graph within the thread's graph; empty for the thread's own."""
    parent_id: Id | None = None
    """The checkpoint that it follows."""
    metadata: State = field(default_factory=dict)
    """What it can be filtered by."""
    run_id: RunId | None = None
    """The run that made it."""
    ttl_hours: TtlHours = KEEP_HOURS
    """How many hours from now on the thread is kept. The next write says it anew."""
    keep_last: Annotated[int, Meta(ge=1, le=1_000)] = KEEP_LAST
    """The newest of its namespace that are kept. A thread's own checkpoint takes what is older in every namespace."""


class StoredCheckpoint(msgspec.Struct):
    thread_id: str
    checkpoint_id: str
    expires_at: datetime
    """When the thread is erased, unless it is written to."""


class ChannelWrite(Body, kw_only=True):
    """What a task wrote to a channel."""

    place: Annotated[int, Meta(ge=-1_000, le=1_000_000)]
    """Its place among what the task wrote."""
    channel: RunId
    """The channel that the task wrote to."""
    value: State
    """The value, as the framework wrote it."""


class PutWritesInput(ThreadParties, kw_only=True):
    thread_id: Name
    """The framework's own name for the thread."""
    checkpoint_id: Id
    """The checkpoint that the task runs on. It may come later."""
    task_id: Id
    """The task that wrote."""
    writes: Annotated[list[ChannelWrite], Meta(max_length=1_000)]
    """What it wrote. The task's first write to a place stays."""
    namespace: Namespace = ""
    """The graph within the thread's graph; empty for the thread's own."""
    task_path: Namespace = ""
    """Where the task stands in its step. It decides the order of the writes."""
    replace: bool = False
    """The task's last write to a place stays instead."""
    ttl_hours: TtlHours = KEEP_HOURS
    """How many hours from now on the thread is kept. The next write says it anew."""


class StoredWrites(msgspec.Struct):
    stored: int
    """How many of them are new or replaced."""


class ListCheckpointsInput(ThreadParties, kw_only=True):
    thread_id: Name | None = None
    """Only of this thread."""
    namespace: Namespace | None = None
    """Only of this graph within the thread's graph; empty for the thread's own."""
    checkpoint_id: Id | None = None
    """Only this one."""
    before: Id | None = None
    """Only those that sort before it."""
    metadata: State = field(default_factory=dict)
    """Only those whose metadata contain this."""
    cursor: Annotated[str, Meta(min_length=1, max_length=4_000)] | None = None
    """The `next` of the previous page. Omit it for the first page."""
    limit: Annotated[int, Meta(ge=1, le=50)] = 10
    """The largest number of items in a page. Large ones make a page shorter."""


class PendingWrite(msgspec.Struct):
    """What a task wrote to a channel after the checkpoint."""

    task_id: str
    """The task that wrote."""
    place: int
    """Its place among what the task wrote."""
    channel: str
    """The channel that the task wrote to."""
    value: State
    """The value, as the framework wrote it."""


class Checkpoint(msgspec.Struct, kw_only=True):
    thread_id: str
    """The framework's own name for the thread."""
    namespace: str
    """The graph within the thread's graph; empty for the thread's own."""
    checkpoint_id: str
    parent_id: str | None
    """The checkpoint that it follows."""
    metadata: State
    """What it can be filtered by."""
    state: State
    """The state, as the framework wrote it."""
    writes: list[PendingWrite]
    """What tasks wrote after it, in the order in which they count."""
    created_at: datetime

    @classmethod
    def from_row(cls, row: asyncpg.Record, thread_id: str, writes: list[PendingWrite]) -> Checkpoint:
        own = {name: row[name] for name in _PLAIN}
        return cls(**own, thread_id=thread_id, state=msgspec.json.decode(row["state"]), writes=writes)


_PLAIN = ("namespace", "checkpoint_id", "parent_id", "metadata", "created_at")


class Checkpoints(Page[Checkpoint]):
    """A page of checkpoints, newest first."""


class CheckpointCursor(Cursor, tag="checkpoints"):
    checkpoint_id: str
    namespace: str
    thread: int


class CopyThreadInput(ThreadParties, kw_only=True):
    source_id: Name
    """The thread to copy."""
    target_id: Name
    """The thread that gets its checkpoints. It keeps its own."""
    ttl_hours: TtlHours = KEEP_HOURS
    """How many hours from now on the copy is kept."""


class CopiedThread(msgspec.Struct):
    checkpoints: int
    """How many were copied."""


class PruneThreadsInput(ThreadParties, kw_only=True):
    thread_ids: Annotated[list[Name], Meta(max_length=100)] = field(default_factory=list)
    """The threads to prune."""
    run_ids: Annotated[list[RunId], Meta(max_length=100)] = field(default_factory=list)
    """Erase what these runs made, in every thread of the same parties."""
    keep: Annotated[int, Meta(ge=0, le=1_000)] = 1
    """The newest of each namespace that stay in `thread_ids`. 0 erases the threads."""


class PrunedThreads(msgspec.Struct):
    checkpoints: int
    """How many were erased."""
