"""The background workers that add vectors after writes, for all stores of a service.

One embeds what agents have just written, so that no import keeps it waiting. The others work through the queue. Every
replica runs them, and any of them may take any row.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence

from shared.concurrency.tasks import end, every
from shared.database.index_claims import Backlog, Fresh, JustWritten
from shared.database.index_queue import IndexedStore, QueueStatements, StoreBacklog
from shared.database.index_worker import IndexWorker, Key
from shared.database.postgres import EVERY_TENANT, Database
from shared.deadline import Deadline
from shared.embeddings import CachedEmbedder
from shared.telemetry import metrics

_POLL_SECONDS = 2.0
_COUNT_SECONDS, _PACE_SECONDS = 5.0, 60.0
# How often a request that waits for vectors looks whether another replica has stored them.
_LOOK_SECONDS = 0.25
# With less time left, nobody looks any more.
_LAST_LOOK_SECONDS = 0.1
_PATIENCE = 10.0


class Waiters:
    """Who in this process waits for the vectors of an item."""

    def __init__(self) -> None:
        self._events: dict[Key, set[asyncio.Event]] = defaultdict(set)

    @contextlib.contextmanager
    def waiting_for(self, key: Key) -> Iterator[asyncio.Event]:
        """The event is set whenever this process has stored vectors of the item."""
        event = asyncio.Event()
        self._events[key].add(event)
        try:
            yield event
        finally:
            self._events[key].remove(event)
            if not self._events[key]:
                del self._events[key]

    def tell(self, key: Key) -> None:
        for event in self._events.get(key, ()):
            event.set()


class Pace:
    """How fast a store's items got their vectors in the last minute."""

    def __init__(self) -> None:
        self._counts: deque[tuple[float, int]] = deque(maxlen=round(_PACE_SECONDS / _COUNT_SECONDS) + 1)
        self.waiting = 0

    def note(self, now: float, stored: int, waiting: int) -> None:
        """`stored` counts from the start."""
        self._counts.append((now, stored))
        self.waiting = waiting

    def seconds_left(self) -> float:
        if not self._counts:
            return math.inf
        if not self.waiting:
            return 0.0
        (began, before), (ended, after) = self._counts[0], self._counts[-1]
        return self.waiting * (ended - began) / (after - before) if after > before else math.inf


class Indexer:
    def __init__(
        self,
        database: Database,
        embedder: CachedEmbedder,
        schema: str,
        stores: Sequence[IndexedStore],
        workers: int = 1,
    ) -> None:
        """`workers` share the queue, so that some embed while others store."""
        self._database = database
        self._embedder = embedder
        self._sql = QueueStatements(schema)
        self._stores = {store.name: store for store in stores}
        self._tasks: list[asyncio.Task[None]] = []
        self._waiters = Waiters()
        self._stored: Counter[str] = Counter()
        self._written = JustWritten(self._sql, embedder.model)
        self._fresh = IndexWorker(
            database, embedder, self._sql, self._stores, self._written, self._note_stored
        )
        self._workers = self._chain(workers)
        self._paces = {store: Pace() for store in self._stores}
        for store in self._stores:
            metrics.INDEXED.labels(store)
            metrics.INDEX_BACKLOG.labels(store)
            metrics.INDEX_SECONDS_LEFT.labels(store)

    def start(self) -> None:
        jobs = [worker.run() for worker in (self._fresh, *self._workers)]
        jobs.append(every(_COUNT_SECONDS, "counting the index queue", self._note_backlog))
        self._tasks = [asyncio.create_task(job) for job in jobs]

    async def stop(self) -> None:
        await end(*self._tasks)

    def wake(self, fresh: Sequence[Fresh] = ()) -> None:
        """Starts the next pass at once, because something was queued. Of a small write, `fresh` tells what."""
        held = [self._written.add(item) for item in fresh]
        if held:
            self._fresh.wake()
        if not held or not all(held):
            self._workers[0].wake()

    async def wait_indexed(self, store: str, tenant: str, item_id: int, deadline: Deadline) -> bool:
        """True when the item has its vectors; False when the deadline came first."""
        for worker in (self._fresh, *self._workers):
            worker.hurry()
        with self._waiters.waiting_for((store, tenant, item_id)) as stored:
            while deadline.left() > _LAST_LOOK_SECONDS:
                stored.clear()
                waiting = await self._database.run(
                    tenant,
                    lambda c: c.fetchval(self._sql.waiting, tenant, store, item_id, self._embedder.model),
                    deadline,
                )
                if not waiting:
                    return True
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(min(_LOOK_SECONDS, deadline.left() - _LAST_LOOK_SECONDS)):
                        await stored.wait()
        return False

    def seconds_left(self, store: str) -> float:
        """Until all items that wait have their vectors, at this replica's pace; infinity where it has none."""
        return self._paces[store].seconds_left()

    async def backlog(self, tenant: str, deadline: Deadline) -> list[StoreBacklog]:
        """Of each store, what of the tenant waits for its vectors, and how long it may take."""
        rows = await self._database.run(
            tenant, lambda c: c.fetch(self._sql.backlog_of_tenant, tenant, self._embedder.model), deadline
        )
        waiting = {row["store"]: row["items"] for row in rows}
        return [
            StoreBacklog(store, waiting.get(store, 0), seconds if math.isfinite(seconds) else None)
            for store, seconds in ((store, self.seconds_left(store)) for store in self._stores)
        ]

    def _note_stored(self, key: Key) -> None:
        store, _, _ = key
        self._stored[store] += 1
        self._waiters.tell(key)

    def _chain(self, count: int) -> list[IndexWorker]:
        """Only the first looks into the queue by itself. Each wakes the next."""
        chain: list[IndexWorker] = []
        for _ in range(count):
            backlog = Backlog(self._sql, self._embedder.model, list(self._stores))
            worker = IndexWorker(
                self._database,
                self._embedder,
                self._sql,
                self._stores,
                backlog,
                self._note_stored,
                poll_seconds=_POLL_SECONDS if len(chain) == count - 1 else None,
                helper=chain[0] if chain else None,
            )
            chain.insert(0, worker)
        return chain

    async def _note_backlog(self) -> None:
        rows = await self._database.run(
            EVERY_TENANT, lambda c: c.fetch(self._sql.backlog, self._embedder.model), Deadline(_PATIENCE)
        )
        waiting = {row["store"]: row["items"] for row in rows}
        for store, pace in self._paces.items():
            pace.note(time.monotonic(), self._stored[store], waiting.get(store, 0))
            metrics.INDEX_BACKLOG.labels(store).set(pace.waiting)
            metrics.INDEX_SECONDS_LEFT.labels(store).set(pace.seconds_left())
