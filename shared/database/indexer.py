"""A background worker adds vectors after writes: it leases items from an owner's queue, embeds and stores them.

Every replica runs one worker for all stores of its service, and any replica may take any row; the database's clock
judges a lease, so another replica takes up what a crashed one held. Nothing holds a connection while the model works.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import asyncpg
import structlog
from pgvector import HalfVector

from shared.concurrency.tasks import end
from shared.database.index_queue import Embedded, IndexedStore, QueueStatements
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.embeddings import Embedder, EmbedderUnavailable
from shared.errors import AppError
from shared.telemetry import metrics

log = structlog.get_logger()

BATCH = 32
LEASE_SECONDS = 60
_POLL_SECONDS = 2.0
_COUNT_SECONDS = 5.0
_PATIENCE = 10.0
_BAD_TEXTS = (400, 413, 422)


class _Leased(NamedTuple):
    store: IndexedStore
    rows: list[asyncpg.Record]


class Indexer:
    def __init__(
        self, database: Database, embedder: Embedder, schema: str, stores: Sequence[IndexedStore]
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._sql = QueueStatements(schema)
        self._stores = {store.name: store for store in stores}
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._counted_at = -_COUNT_SECONDS
        for store in self._stores:
            metrics.INDEXED.labels(store)
            metrics.INDEX_BACKLOG.labels(store)

    def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        if self._task is not None:
            await end(self._task)

    def wake(self) -> None:
        """Starts the next pass at once, because something was queued."""
        self._wake.set()

    async def wait_indexed(self, store: str, tenant: str, item_id: int, deadline: Deadline) -> bool:
        """True when the item has its vectors; False when the deadline came first."""
        while True:
            waiting = await self._database.run(
                lambda c: c.fetchval(self._sql.waiting, tenant, store, item_id, self._embedder.model),
                deadline,
            )
            if not waiting:
                return True
            if deadline.left() < 0.1:
                return False
            await asyncio.sleep(0.03)

    async def _run(self) -> None:
        pause = 0.5
        while True:
            try:
                if time.monotonic() - self._counted_at >= _COUNT_SECONDS:
                    await self._note_backlog()
                indexed = await self._batch()
                pause = 0.5
            except EmbedderUnavailable as error:
                log.warning("items wait for the embedder", reason=error.reason)
                indexed, pause = 0, min(pause * 2, 5.0)
                await asyncio.sleep(pause)
            except AppError as error:
                log.warning("indexing paused", error=error.detail)
                indexed = 0
                await asyncio.sleep(pause)
            except Exception as error:
                log.error("indexing failed", exc_info=error)
                indexed = 0
                await asyncio.sleep(_POLL_SECONDS)
            if not indexed:
                await self._rest()

    async def _rest(self) -> None:
        # Not wait_for: before Python 3.12 it swallows a cancellation that arrives together with the event.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_POLL_SECONDS):
                await self._wake.wait()
        self._wake.clear()

    async def _note_backlog(self) -> None:
        self._counted_at = time.monotonic()
        try:
            rows = await self._database.run(
                lambda c: c.fetch(self._sql.backlog, self._embedder.model), Deadline(_PATIENCE)
            )
        except AppError:
            return
        waiting = {row["store"]: row["items"] for row in rows}
        for store in self._stores:
            metrics.INDEX_BACKLOG.labels(store).set(waiting.get(store, 0))

    async def _batch(self) -> int:
        """Leases up to BATCH items, embeds and stores them. Answers how many it leased."""
        count, leased = await self._database.run(self._lease, Deadline(_PATIENCE))
        failure = None
        for place, (store, rows) in enumerate(leased):
            try:
                await self._index_or_singly(store, rows)
            except EmbedderUnavailable:
                for each in leased[place:]:
                    await self._postpone(*each)
                raise
            except AppError:
                raise
            except Exception as error:
                # An error in one store does not stop the others. Its items return when their lease ends.
                error.add_note(f"while indexing {store.name}")
                failure = error
        if failure is not None:
            raise failure
        return count

    async def _lease(self, c: Connection) -> tuple[int, list[_Leased]]:
        model, stores = self._embedder.model, list(self._stores)
        claimed = await c.fetch(self._sql.claim, model, stores, BATCH, LEASE_SECONDS)
        leased = []
        for store in self._stores.values():
            items = [row for row in claimed if row["store"] == store.name]
            if items and (rows := await self._read(c, store, items)):
                leased.append(_Leased(store, rows))
        return len(claimed), leased

    @staticmethod
    async def _read(
        c: Connection, store: IndexedStore, items: Sequence[asyncpg.Record]
    ) -> list[asyncpg.Record]:
        """The items' rows with their texts. Deleted items leave the queue."""
        tenants, ids = _keys(items)
        rows: list[asyncpg.Record] = await c.fetch(store.texts_sql, tenants, ids)
        if len(rows) < len(items):
            await c.execute(store.statements.drop, store.name, tenants, ids)
        return rows

    async def _index_or_singly(self, store: IndexedStore, rows: Sequence[asyncpg.Record]) -> None:
        try:
            await self._index(store, rows)
        except EmbedderUnavailable as error:
            if not _for_the_texts(error):
                raise
            await self._index_singly(store, rows)

    async def _index(self, store: IndexedStore, rows: Sequence[asyncpg.Record]) -> None:
        texts = [store.texts(row) for row in rows]
        vectors = await self._embedder.embed([text for some in texts for text in some], "document")
        halves = iter([HalfVector(vector) for vector in vectors])
        embedded = [
            Embedded(row, [next(halves) for _ in some]) for row, some in zip(rows, texts, strict=True)
        ]
        if store.finish is None:
            await self._finish(store, embedded)
        else:
            await store.finish(embedded)
        metrics.INDEXED.labels(store.name).inc(len(rows))

    async def _index_singly(self, store: IndexedStore, rows: Sequence[asyncpg.Record]) -> None:
        """Embeds each text alone, so that one refused text does not hold up the others."""
        for row in rows:
            try:
                await self._index(store, [row])
            except EmbedderUnavailable as error:
                if not _for_the_texts(error):
                    raise
                log.warning("item not indexed", store=store.name, item=row["item_id"], reason=error.reason)
                await self._postpone(store, [row])

    async def _finish(self, store: IndexedStore, embedded: Sequence[Embedded]) -> None:
        given: list[tuple[str, int, int, Any]] = [
            (each.row["tenant"], each.row["item_id"], chunk, vector)
            for each in embedded
            for chunk, vector in enumerate(each.vectors)
        ]
        columns = [list(column) for column in zip(*given, strict=True)]
        await self._database.run(
            lambda c: c.execute(store.statements.finish, self._embedder.model, store.name, *columns),
            Deadline(_PATIENCE),
        )

    async def _postpone(self, store: IndexedStore, rows: Sequence[asyncpg.Record]) -> None:
        await self._database.run(
            lambda c: c.execute(self._sql.postpone, self._embedder.model, store.name, *_keys(rows)),
            Deadline(_PATIENCE),
        )


def _keys(rows: Sequence[asyncpg.Record]) -> tuple[list[str], list[int]]:
    return [row["tenant"] for row in rows], [row["item_id"] for row in rows]


def _for_the_texts(error: EmbedderUnavailable) -> bool:
    """Whether the model refused the texts themselves, rather than the time or the caller."""
    return error.reason == "malformed" or error.http_status in _BAD_TEXTS
