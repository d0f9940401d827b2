"""Vectors follow writes: a background worker leases items from an owner's queue, embeds them, stores the vectors.

Every replica runs one and any may take any row; a lease is judged by the database's clock, so what a crashed
replica held is taken up by another. Nothing holds a connection while the model works.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import asyncpg
import structlog
from pgvector import HalfVector

from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.embeddings import Embedder, EmbedderUnavailable
from shared.errors import AppError
from shared.tasks import end
from shared.telemetry import metrics

log = structlog.get_logger()

BATCH = 32
LEASE_SECONDS = 60
_POLL_SECONDS = 2.0
_COUNT_SECONDS = 5.0
_PATIENCE = 10.0
_BAD_TEXTS = (400, 413, 422)

Texts = Callable[[asyncpg.Record], list[str]]
Embedded = Sequence[tuple[asyncpg.Record, list[HalfVector]]]


class IndexStatements:
    """The worker's SQL for one owner's items, chunks, vectors and queue."""

    def __init__(
        self, *, schema: str, items: str, chunks: str, vectors: str, extra: Sequence[str] = ()
    ) -> None:
        queue = f"{schema}.index_queue"
        more = "".join(f", c.{column}" for column in extra)
        names = "".join(f", {column}" for column in extra)
        self.claim = f"""
            with due as (
                select tenant, item_id, model from {queue}
                where model = $1 and due_at <= clock_timestamp()
                order by due_at limit $2 for update skip locked
            )
            update {queue} q
            set due_at = clock_timestamp() + $3 * interval '1 second', attempts = q.attempts + 1
            from due where q.tenant = due.tenant and q.item_id = due.item_id and q.model = due.model
            returning q.tenant, q.item_id"""
        # An item that is being deleted is passed over, not waited for: eviction takes its locks in the
        # other order. Who deletes it takes its queue row away.
        self.finish = f"""
            with given as (
                select * from unnest($2::text[], $3::bigint[], $4::smallint[], $5::halfvec[])
                    g(tenant, item_id, chunk, embedding)
            ), live as materialized (
                select i.tenant, i.id from {schema}.{items} i
                where (i.tenant, i.id) in (select tenant, item_id from given)
                order by i.tenant, i.id for key share skip locked
            ), stored as (
                insert into {schema}.{vectors} (tenant, scope, item_id, chunk, model, expires_at{names}, embedding)
                select c.tenant, c.scope, c.item_id, c.chunk, $1, c.expires_at{more}, g.embedding
                from live
                join given g on g.tenant = live.tenant and g.item_id = live.id
                join {schema}.{chunks} c on c.tenant = g.tenant and c.item_id = g.item_id and c.chunk = g.chunk
                on conflict (tenant, item_id, chunk, model) do update set embedding = excluded.embedding
            )
            delete from {queue} q using live
            where q.tenant = live.tenant and q.item_id = live.id and q.model = $1"""
        # A row that somebody else holds is being deleted.
        self.postpone = f"""
            with free as (
                select tenant, item_id from {queue}
                where model = $1 and (tenant, item_id) in (select * from unnest($2::text[], $3::bigint[]))
                for update skip locked
            )
            update {queue} q set due_at = clock_timestamp() + least(power(2, attempts), 600) * interval '0.5 second'
            from free where q.model = $1 and q.tenant = free.tenant and q.item_id = free.item_id"""
        self.drop = f"""
            delete from {queue} q where (q.tenant, q.item_id) in (select * from unnest($1::text[], $2::bigint[]))
              and not exists (select from {schema}.{items} i where i.tenant = q.tenant and i.id = q.item_id)"""
        self.backlog = f"select count(*) from (select 1 from {queue} where model = $1 limit 100000) waiting"
        self.waiting = f"""
            select exists (select 1 from {queue} where tenant = $1 and item_id = $2 and model = $3)"""


class Indexer:
    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        store: str,
        statements: IndexStatements,
        texts_sql: str,
        texts: Texts,
        finish: Callable[[Embedded], Awaitable[None]] | None = None,
    ) -> None:
        """`finish` takes what was embedded, with the rows of `texts_sql`, instead of the statement of that name."""
        self._database = database
        self._embedder = embedder
        self._store = store
        self._sql = statements
        self._texts_sql = texts_sql
        self._texts = texts
        self._finish = finish or self._store_vectors
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._counted_at = -_COUNT_SECONDS
        metrics.INDEXED.labels(store)
        metrics.INDEX_BACKLOG.labels(store)

    def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        if self._task is not None:
            await end(self._task)

    def wake(self) -> None:
        """Something was queued here: do not wait for the next look."""
        self._wake.set()

    async def wait_indexed(self, tenant: str, item_id: int, deadline: Deadline) -> bool:
        """True when the item has its vectors; False when the deadline came first."""
        while True:
            waiting = await self._database.run(
                lambda c: c.fetchval(self._sql.waiting, tenant, item_id, self._embedder.model), deadline
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
                log.warning("items wait for the embedder", store=self._store, reason=error.reason)
                indexed, pause = 0, min(pause * 2, 5.0)
                await asyncio.sleep(pause)
            except AppError as error:
                log.warning("indexing paused", store=self._store, error=error.detail)
                indexed = 0
                await asyncio.sleep(pause)
            except Exception as error:
                log.error("indexing failed", store=self._store, exc_info=error)
                indexed = 0
                await asyncio.sleep(_POLL_SECONDS)
            if not indexed:
                await self._rest()

    async def _rest(self) -> None:
        # Not wait_for: before 3.12 it swallows a cancellation that comes together with the event.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_POLL_SECONDS):
                await self._wake.wait()
        self._wake.clear()

    async def _note_backlog(self) -> None:
        self._counted_at = time.monotonic()
        try:
            count = await self._database.run(
                lambda c: c.fetchval(self._sql.backlog, self._embedder.model), Deadline(_PATIENCE)
            )
        except AppError:
            return
        metrics.INDEX_BACKLOG.labels(self._store).set(count)

    async def _batch(self) -> int:
        """Leases, embeds and stores up to BATCH items; how many were leased."""
        model = self._embedder.model

        async def lease(c: Connection) -> tuple[int, list[asyncpg.Record]]:
            claimed = await c.fetch(self._sql.claim, model, BATCH, LEASE_SECONDS)
            if not claimed:
                return 0, []
            keys = [r["tenant"] for r in claimed], [r["item_id"] for r in claimed]
            rows: list[asyncpg.Record] = await c.fetch(self._texts_sql, *keys)
            if len(rows) < len(claimed):
                await c.execute(self._sql.drop, *keys)
            return len(claimed), rows

        leased, rows = await self._database.run(lease, Deadline(_PATIENCE))
        if not rows:
            return leased
        try:
            await self._index(rows)
        except EmbedderUnavailable as error:
            if not _for_the_texts(error):
                await self._postpone(rows)
                raise
            await self._index_singly(rows)
        return leased

    async def _index(self, rows: Sequence[asyncpg.Record]) -> None:
        texts = [self._texts(row) for row in rows]
        vectors = await self._embedder.embed([text for one in texts for text in one], "document")
        halves = iter([HalfVector(vector) for vector in vectors])
        await self._finish([(row, [next(halves) for _ in one]) for row, one in zip(rows, texts, strict=True)])
        metrics.INDEXED.labels(self._store).inc(len(rows))

    async def _index_singly(self, rows: Sequence[asyncpg.Record]) -> None:
        """One text that the model does not take must not keep the others waiting."""
        for place, row in enumerate(rows):
            try:
                await self._index([row])
            except EmbedderUnavailable as error:
                if not _for_the_texts(error):
                    await self._postpone(rows[place:])
                    raise
                log.warning("item not indexed", store=self._store, item=row["item_id"], reason=error.reason)
                await self._postpone([row])

    async def _store_vectors(self, embedded: Embedded) -> None:
        given: list[tuple[str, int, int, Any]] = [
            (row["tenant"], row["item_id"], chunk, vector)
            for row, vectors in embedded
            for chunk, vector in enumerate(vectors)
        ]
        columns = [list(column) for column in zip(*given, strict=True)]
        model = self._embedder.model
        await self._database.run(lambda c: c.execute(self._sql.finish, model, *columns), Deadline(_PATIENCE))

    async def _postpone(self, rows: Sequence[asyncpg.Record]) -> None:
        tenants, items = [row["tenant"] for row in rows], [row["item_id"] for row in rows]
        await self._database.run(
            lambda c: c.execute(self._sql.postpone, self._embedder.model, tenants, items), Deadline(_PATIENCE)
        )


def _for_the_texts(error: EmbedderUnavailable) -> bool:
    """Whether it was refused for what it was, rather than for when, or for whom."""
    return error.reason == "malformed" or error.http_status in _BAD_TEXTS
