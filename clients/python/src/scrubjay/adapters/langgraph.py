"""LangGraph: a saver that keeps checkpoints in Scrubjay. `pip install scrubjay[langgraph]`."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import Any
from urllib.parse import quote, unquote

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
    get_serializable_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from scrubjay import models
from scrubjay._call import Call, PagedCall
from scrubjay.adapters.sending import AnyClient, Sender
from scrubjay.adapters.trees import packed_of, tree_of
from scrubjay.calls import checkpoints as calls
from scrubjay.errors import ApiError

_PACKED = "msgpack"
_PRINTABLE = "".join(chr(code) for code in range(32, 127) if chr(code) != "%")
_NOT_FOUND = 404
_AT_ONCE, _MOST_THREADS = 20, 100
_COUNTERS = "counters_since_delta_snapshot"

Page = PagedCall[models.Checkpoints, models.Checkpoint]


class ScrubjaySaver(BaseCheckpointSaver[str]):
    """Keeps checkpoints as threads of the parties: an agent, a mission and a user, where they are named.

    Of a client that awaits, only the methods that await can be used. A thread is kept for `ttl_hours` after its last
    write, with the newest `keep_last` checkpoints. The steps since the last snapshot of a delta channel are kept, too.
    """

    def __init__(
        self,
        client: AnyClient,
        *,
        agent: str | None = None,
        mission: str | None = None,
        user: str | None = None,
        keep_last: int = 100,
        ttl_hours: float = 720.0,
        serde: SerializerProtocol | None = None,
    ) -> None:
        super().__init__(serde=serde)
        self._sender = Sender(client)
        self._parties: dict[str, Any] = {"agent_name": agent, "mission_id": mission, "user_id": user}
        self._keep_last = keep_last
        self._ttl_hours = ttl_hours

    # --- what waits ---

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return self._first(self._sender.send(self._latest(config)))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        call: Page | None = self._listing(config, filter, before, limit)
        left = limit
        while call is not None and (left is None or left > 0):
            page = self._sender.send(call)
            yield from (self._tuple(one) for one in page.data[:left])
            left = None if left is None else left - len(page.data)
            call = self._sender.next_page(call, page)

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        self._sender.send(self._putting(config, checkpoint, metadata))
        return _config(config["configurable"], checkpoint["id"])

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        self._sender.send(self._writing(config, writes, task_id, task_path))

    def delete_thread(self, thread_id: str) -> None:
        self._sender.send(self._pruning([thread_id], 0))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        for some in _batches(run_ids):
            self._sender.send(calls.prune(**self._parties, run_ids=some))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        try:
            self._sender.send(self._copying(source_thread_id, target_thread_id))
        except ApiError as error:
            _raise_unless_absent(error)

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        for thread_id in thread_ids:
            kept = 0
            if _keeps(strategy):
                kept = _needed(self._sender.send(self._latest_of(thread_id)).data)
            self._sender.send(self._pruning([thread_id], kept))

    # --- what awaits ---

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return self._first(await self._sender.asend(self._latest(config)))

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        call: Page | None = self._listing(config, filter, before, limit)
        left = limit
        while call is not None and (left is None or left > 0):
            page = await self._sender.asend(call)
            for one in page.data[:left]:
                yield self._tuple(one)
            left = None if left is None else left - len(page.data)
            call = self._sender.next_page(call, page)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        await self._sender.asend(self._putting(config, checkpoint, metadata))
        return _config(config["configurable"], checkpoint["id"])

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        await self._sender.asend(self._writing(config, writes, task_id, task_path))

    async def adelete_thread(self, thread_id: str) -> None:
        await self._sender.asend(self._pruning([thread_id], 0))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        for some in _batches(run_ids):
            await self._sender.asend(calls.prune(**self._parties, run_ids=some))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        try:
            await self._sender.asend(self._copying(source_thread_id, target_thread_id))
        except ApiError as error:
            _raise_unless_absent(error)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        for thread_id in thread_ids:
            kept = 0
            if _keeps(strategy):
                kept = _needed((await self._sender.asend(self._latest_of(thread_id))).data)
            await self._sender.asend(self._pruning([thread_id], kept))

    # --- the calls ---

    def _latest(self, config: RunnableConfig) -> Page:
        thread = config["configurable"]
        return calls.list_(
            **self._parties,
            thread_id=str(thread["thread_id"]),
            namespace=_stored(thread.get("checkpoint_ns", "")),
            checkpoint_id=get_checkpoint_id(config),
            limit=1,
        )

    def _latest_of(self, thread_id: str) -> Page:
        return calls.list_(**self._parties, thread_id=thread_id, limit=1)

    def _listing(
        self,
        config: RunnableConfig | None,
        filter: dict[str, Any] | None,
        before: RunnableConfig | None,
        limit: int | None,
    ) -> Page:
        thread = {} if config is None else config["configurable"]
        namespace = thread.get("checkpoint_ns")
        return calls.list_(
            **self._parties,
            thread_id=None if "thread_id" not in thread else str(thread["thread_id"]),
            namespace=None if namespace is None else _stored(namespace),
            checkpoint_id=None if config is None else get_checkpoint_id(config),
            before=None if before is None else get_checkpoint_id(before),
            metadata=self._told(filter) if filter else None,
            limit=min(_AT_ONCE, _AT_ONCE if limit is None else max(1, limit)),
        )

    def _putting(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata
    ) -> Call[models.StoredCheckpoint]:
        thread = config["configurable"]
        told = get_serializable_checkpoint_metadata(config, metadata)
        run_id = told.get("run_id")
        return calls.put(
            **self._parties,
            thread_id=str(thread["thread_id"]),
            namespace=_stored(thread.get("checkpoint_ns", "")),
            checkpoint_id=checkpoint["id"],
            parent_id=get_checkpoint_id(config),
            state=self._written(checkpoint),
            metadata=self._told(told),
            run_id=None if run_id is None else str(run_id),
            keep_last=max(self._keep_last, _steps_needed(told)),
            ttl_hours=self._ttl_hours,
        )

    def _writing(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str
    ) -> Call[models.StoredWrites]:
        thread = config["configurable"]
        return calls.put_writes(
            **self._parties,
            thread_id=str(thread["thread_id"]),
            namespace=_stored(thread.get("checkpoint_ns", "")),
            checkpoint_id=str(thread["checkpoint_id"]),
            task_id=task_id,
            task_path=_stored(task_path),
            writes=[
                models.ChannelWrite(
                    place=WRITES_IDX_MAP.get(channel, place), channel=channel, value=self._written(value)
                )
                for place, (channel, value) in enumerate(writes)
            ],
            replace=all(channel in WRITES_IDX_MAP for channel, _ in writes),
            ttl_hours=self._ttl_hours,
        )

    def _pruning(self, thread_ids: Sequence[str], keep: int) -> Call[models.PrunedThreads]:
        return calls.prune(**self._parties, thread_ids=list(thread_ids), keep=keep)

    def _copying(self, source: str, target: str) -> Call[models.CopiedThread]:
        return calls.copy(**self._parties, source_id=source, target_id=target, ttl_hours=self._ttl_hours)

    # --- what is stored ---

    def _first(self, page: models.Checkpoints) -> CheckpointTuple | None:
        return self._tuple(page.data[0]) if page.data else None

    def _tuple(self, one: models.Checkpoint) -> CheckpointTuple:
        thread = {"thread_id": one.thread_id, "checkpoint_ns": unquote(one.namespace)}
        return CheckpointTuple(
            config=_config(thread, one.checkpoint_id),
            checkpoint=self._read(one.state),
            metadata=self._read({_PACKED: one.metadata}),
            parent_config=None if one.parent_id is None else _config(thread, one.parent_id),
            pending_writes=[(each.task_id, each.channel, self._read(each.value)) for each in one.writes],
        )

    def _written(self, value: Any) -> dict[str, Any]:
        """The kind that the serializer names, and what it made."""
        kind, data = self.serde.dumps_typed(value)
        return {kind: tree_of(data) if kind == _PACKED else base64.b64encode(data).decode()}

    def _told(self, metadata: Any) -> dict[str, Any]:
        """Metadata are stored as they are, so that filters find them. An encrypting serializer leaves them readable."""
        _, data = BaseCheckpointSaver.serde.dumps_typed(dict(metadata))
        tree: dict[str, Any] = tree_of(data)
        return tree

    def _read(self, stored: dict[str, Any]) -> Any:
        ((kind, told),) = stored.items()
        data = packed_of(told) if kind == _PACKED else base64.b64decode(told)
        return self.serde.loads_typed((kind, data))


def _config(thread: Any, checkpoint_id: str) -> RunnableConfig:
    named = {
        "thread_id": thread["thread_id"],
        "checkpoint_ns": thread.get("checkpoint_ns", ""),
        "checkpoint_id": checkpoint_id,
    }
    return {"configurable": named}


def _stored(name: str) -> str:
    """Scrubjay takes printable ASCII there."""
    return quote(name, safe=_PRINTABLE)


def _keeps(strategy: str) -> bool:
    """Raises ValueError for a strategy that LangGraph does not name."""
    if strategy not in ("keep_latest", "delete"):
        raise ValueError(f"unknown strategy {strategy!r}")
    return strategy == "keep_latest"


def _needed(latest: Sequence[models.Checkpoint]) -> int:
    return _steps_needed(latest[0].metadata) if latest else 1


def _steps_needed(metadata: Any) -> int:
    """The newest checkpoints that a value is made of: a delta channel's go back to its last snapshot."""
    counters = metadata.get(_COUNTERS) or {}
    return 1 + max((int(steps) for _, steps in counters.values()), default=-1) + 1


def _batches(ids: Sequence[str]) -> Iterable[list[str]]:
    return ([*ids[start : start + _MOST_THREADS]] for start in range(0, len(ids), _MOST_THREADS))


def _raise_unless_absent(error: ApiError) -> None:
    """A thread that is not there has nothing to copy."""
    if error.problem.status != _NOT_FOUND:
        raise error
