"""Stores checkpoints, finds them, and erases those that nobody needs any more."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import asyncpg
import msgspec

from services.cache.checkpoints import queries
from services.cache.checkpoints.queries import Wanted
from services.cache.checkpoints.schemas import (
    Checkpoint,
    CheckpointCursor,
    Checkpoints,
    CopiedThread,
    CopyThreadInput,
    ListCheckpointsInput,
    PendingWrite,
    PrunedThreads,
    PruneThreadsInput,
    PutCheckpointInput,
    PutWritesInput,
    StoredCheckpoint,
    StoredWrites,
    ThreadParties,
)
from services.cache.sessions.access import require_change, require_parties, scope_of
from shared.auth import Principal
from shared.concurrency.tasks import every
from shared.database.postgres import EVERY_TENANT, Connection, Database
from shared.deadline import Deadline
from shared.errors import NotFound
from shared.paging.pages import page_of

# Of the states of one page. Each state is smaller than a request's body.
_MOST_BYTES = 4 * 1024 * 1024
_SWEPT_AT_ONCE = 200
_SWEEP_SECONDS = 30.0


class CheckpointService:
    def __init__(self, database: Database, minutes: float) -> None:
        self._database = database
        self._minutes = minutes

    async def put(
        self, principal: Principal, given: PutCheckpointInput, deadline: Deadline
    ) -> StoredCheckpoint:
        """Stores a checkpoint, or replaces it. Raises Forbidden."""
        names = ("checkpoint_id", "namespace", "parent_id", "run_id", "metadata")
        columns = {name: getattr(given, name) for name in names}
        state = msgspec.json.encode(given.state).decode()

        async def work(c: Connection) -> StoredCheckpoint:
            thread = await _hold(c, principal, given, given.thread_id, given.ttl_hours)
            await queries.put(c, principal.tenant, thread["id"], columns, state)
            await queries.keep_last(c, principal.tenant, thread["id"], given.namespace, given.keep_last)
            return StoredCheckpoint(given.thread_id, given.checkpoint_id, thread["expires_at"])

        return await self._database.transaction(principal.tenant, work, deadline)

    async def put_writes(
        self, principal: Principal, given: PutWritesInput, deadline: Deadline
    ) -> StoredWrites:
        """Raises Forbidden."""
        common = {
            name: getattr(given, name) for name in ("checkpoint_id", "namespace", "task_id", "task_path")
        }
        writes = [
            {
                "nr": nr,
                "place": write.place,
                "channel": write.channel,
                "value": msgspec.json.encode(write.value).decode(),
            }
            for nr, write in enumerate(given.writes)
        ]

        async def work(c: Connection) -> StoredWrites:
            thread = await _hold(c, principal, given, given.thread_id, given.ttl_hours)
            stored = await queries.put_writes(
                c, principal.tenant, thread["id"], common, writes, replace=given.replace
            )
            return StoredWrites(stored)

        return await self._database.transaction(principal.tenant, work, deadline)

    async def list_checkpoints(
        self, principal: Principal, asked: ListCheckpointsInput, deadline: Deadline
    ) -> Checkpoints:
        """Those of one thread, or of all threads of the parties. Raises Forbidden."""
        _require(principal, asked)
        after = CheckpointCursor.read(asked.cursor)
        wanted = Wanted(asked.namespace, asked.checkpoint_id, asked.before, asked.metadata)

        async def work(c: Connection) -> tuple[dict[int, str], list[asyncpg.Record], list[asyncpg.Record]]:
            names = None if asked.thread_id is None else [asked.thread_id]
            threads = await _threads(c, principal.tenant, asked, names)
            rows = await queries.list_checkpoints(
                c,
                principal.tenant,
                list(threads),
                wanted,
                after=after,
                limit=asked.limit + 1,
                most_bytes=_MOST_BYTES,
            )
            return threads, rows, await queries.writes_of(c, principal.tenant, rows[: asked.limit])

        threads, rows, writes = await self._database.run(principal.tenant, work, deadline)
        return _page(threads, rows, writes, asked.limit)

    async def copy(self, principal: Principal, given: CopyThreadInput, deadline: Deadline) -> CopiedThread:
        """Raises NotFound for a thread that is not there, Forbidden."""
        _require(principal, given)

        async def work(c: Connection) -> CopiedThread:
            sources = await _threads(c, principal.tenant, given, [given.source_id])
            if not sources:
                raise NotFound(f"no thread {given.source_id!r} of these parties")
            target = await _hold(c, principal, given, given.target_id, given.ttl_hours)
            return CopiedThread(await queries.copy(c, principal.tenant, next(iter(sources)), target["id"]))

        return await self._database.transaction(principal.tenant, work, deadline)

    async def prune(
        self, principal: Principal, given: PruneThreadsInput, deadline: Deadline
    ) -> PrunedThreads:
        """Threads that are not there, or that the key may not change, stay as they are. Raises Forbidden."""
        _require(principal, given)
        only = principal.key if principal.users is not None and given.user_id is None else None

        async def work(c: Connection) -> PrunedThreads:
            count, tenant = 0, principal.tenant
            if given.thread_ids:
                threads = await _threads(c, tenant, given, given.thread_ids, only)
                count += await queries.prune(c, tenant, sorted(threads), given.keep)
            if given.run_ids:
                threads = await _threads(c, tenant, given, None, only)
                count += await queries.prune_runs(c, tenant, sorted(threads), given.run_ids)
            return PrunedThreads(count)

        return await self._database.transaction(principal.tenant, work, deadline)

    async def sweep_forever(self) -> None:
        await every(self._minutes * 60, "sweep of expired checkpoints", self.sweep)

    async def sweep(self) -> int:
        """Returns how many threads had expired."""
        swept = 0
        while True:
            count = await self._database.run(
                EVERY_TENANT, lambda c: queries.sweep(c, _SWEPT_AT_ONCE), Deadline(_SWEEP_SECONDS)
            )
            swept += count
            if count < _SWEPT_AT_ONCE:
                return swept


def _require(principal: Principal, parties: ThreadParties) -> None:
    require_parties(principal, parties.agent_name, parties.mission_id, parties.user_id)


def _columns(parties: ThreadParties) -> dict[str, Any]:
    named = {name: getattr(parties, name) for name in ("agent_name", "mission_id", "user_id")}
    return {**named, "scope": scope_of(**named)}


def name_hash(parties: ThreadParties, thread_id: str) -> bytes:
    """What tells a thread from those of other parties."""
    names = [thread_id, parties.agent_name, parties.mission_id, parties.user_id]
    return hashlib.sha256(msgspec.json.encode(names)).digest()


async def _hold(
    c: Connection, principal: Principal, parties: ThreadParties, thread_id: str, hours: float
) -> asyncpg.Record:
    """The thread, to write to it. Raises Forbidden."""
    _require(principal, parties)
    columns = {**_columns(parties), "thread_id": thread_id, "written_by": principal.key}
    row = await queries.hold(c, principal.tenant, columns, name_hash(parties, thread_id), hours)
    require_change(principal, written_by=row["written_by"], user_id=parties.user_id)
    return row


async def _threads(
    c: Connection,
    tenant: str,
    parties: ThreadParties,
    names: Sequence[str] | None,
    written_by: str | None = None,
) -> dict[int, str]:
    """The names of the threads, by their numbers; all of the parties for no names."""
    if names is None:
        return await queries.threads(c, tenant, _columns(parties), written_by)
    return await queries.named_threads(c, tenant, [name_hash(parties, name) for name in names], written_by)


def _page(
    threads: dict[int, str], rows: list[asyncpg.Record], writes: list[asyncpg.Record], limit: int
) -> Checkpoints:
    """A page is also full where the states were cut off: another row was found, and did not come."""
    page = page_of(rows, limit, _cursor)
    full = page.next is None and bool(rows) and rows[-1]["followed"]
    by_checkpoint: dict[tuple[int, str, str], list[PendingWrite]] = defaultdict(list)
    for write in writes:
        value = msgspec.json.decode(write["value"])
        own = PendingWrite(write["task_id"], write["place"], write["channel"], value)
        by_checkpoint[_key(write)].append(own)
    data = [Checkpoint.from_row(row, threads[row["thread"]], by_checkpoint[_key(row)]) for row in page.rows]
    return Checkpoints(data, _cursor(rows[-1]).text() if full else page.next)


def _cursor(row: asyncpg.Record) -> CheckpointCursor:
    return CheckpointCursor(
        checkpoint_id=row["checkpoint_id"], namespace=row["namespace"], thread=row["thread"]
    )


def _key(row: asyncpg.Record) -> tuple[int, str, str]:
    return row["thread"], row["checkpoint_id"], row["namespace"]
