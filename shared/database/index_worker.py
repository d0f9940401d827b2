"""A background worker adds vectors after writes: it leases items from an owner's queue, embeds and stores them.

Tenants take turns, and a long text is embedded in slices, so that no tenant's writes hold up another's vectors.
The database's clock judges a lease, so another worker takes up what a crashed one held. Nothing holds a connection
while the model works.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import asyncpg
import structlog
from pgvector import HalfVector

from shared.concurrency.alarm import Alarm
from shared.database.index_claims import LEASE_SECONDS, Claims
from shared.database.index_queue import Embedded, IndexedStore, QueueStatements
from shared.database.index_turns import Item, Part, Turns, small_items
from shared.database.postgres import EVERY_TENANT, Connection, Database
from shared.deadline import Deadline
from shared.embeddings import CachedEmbedder, EmbedderUnavailable
from shared.errors import AppError
from shared.telemetry import metrics

log = structlog.get_logger()

Key: TypeAlias = tuple[str, str, int]
"""The store, the tenant and the item."""

_RENEW_SECONDS = 20.0
# What the local model takes when nobody else wants the processors, until rounds have shown it, and their weight.
_SECONDS_PER_TEXT, _ROUND_WEIGHT = 0.04, 0.3
_FAILED_SECONDS = 2.0
# Between the beginnings of two rounds, unless somebody waits. A round takes four statements and a call of the model, so
# items that are written one after the other share it.
_GATHER_SECONDS = 0.03
# So long may a tenant's small items wait behind its large one, so that its other large ones are not read each round.
_REST_SECONDS = 1.0
_PATIENCE = 10.0
_BAD_TEXTS = (400, 413, 422)


class IndexWorker:
    def __init__(
        self,
        database: Database,
        embedder: CachedEmbedder,
        sql: QueueStatements,
        stores: Mapping[str, IndexedStore],
        claims: Claims,
        stored: Callable[[Key], None],
        *,
        poll_seconds: float | None = None,
        helper: IndexWorker | None = None,
    ) -> None:
        """It calls `stored` for each item whose vectors it has stored. It looks into the queue when it is woken, and
        every `poll_seconds`. While that holds more than it leases, it wakes `helper`."""
        self._database = database
        self._embedder = embedder
        self._sql = sql
        self._stores = stores
        self._claims = claims
        self._stored = stored
        self._poll_seconds, self._helper = poll_seconds, helper
        self._alarm = Alarm()
        self._hurried = Alarm()
        self._turns = Turns()
        # Tenants with a large item here and more of them in the queue, and until when nothing more of them is leased.
        self._resting: dict[str, float] = {}
        self._seconds_per_text = _SECONDS_PER_TEXT
        self._renewed_at = time.monotonic()

    def wake(self) -> None:
        """Starts the next pass at once, because something was queued."""
        self._alarm.ring()

    def hurry(self) -> None:
        """Somebody waits for what was queued."""
        self._hurried.ring()

    async def run(self) -> None:
        pause = 0.5
        while True:
            began = time.monotonic()
            try:
                indexed = await self._round()
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
                await asyncio.sleep(_FAILED_SECONDS)
            if not indexed:
                await self._alarm.sleep(self._poll_seconds)
            elif (left := began + _GATHER_SECONDS - time.monotonic()) > 0:
                await self._hurried.sleep(left)

    async def _round(self) -> int:
        """Leases what is due, embeds a slice of each tenant's texts, and stores what is complete. Answers how many
        items it worked on."""
        leased = await self._lease()
        await self._renew()
        parts = self._turns.round()
        try:
            await self._embed_all(parts)
        except EmbedderUnavailable:
            await self._postpone_all()
            raise
        await self._store_complete([part.item for own in parts.values() for part in own])
        return leased + len(parts)

    async def _lease(self) -> int:
        now = time.monotonic()
        self._resting = {tenant: until for tenant, until in self._resting.items() if until > now}
        most = small_items(self._seconds_per_text)
        claimed = await self._claims.claim(self._database, [*self._turns.full(most), *self._resting], most)
        if self._helper is not None and len(claimed) >= most:
            self._helper.wake()
        for store in self._stores.values():
            if items := [row for row in claimed if row["store"] == store.name]:
                await self._take(store, items)
        return len(claimed)

    async def _take(self, store: IndexedStore, items: Sequence[asyncpg.Record]) -> None:
        """Reads the leased items. A tenant's second large item goes back for about as long as the first takes."""
        rows = await self._database.run(
            EVERY_TENANT, lambda c: self._read(c, store, items), Deadline(_PATIENCE)
        )
        for row in rows:
            try:
                item = Item(store, row, store.texts(row))
            except Exception as error:
                # An error in one item does not stop the others. It returns when its lease ends.
                log.error("item not read", store=store.name, item=row["item_id"], exc_info=error)
                continue
            if not self._turns.add(item):
                self._resting[item.tenant] = time.monotonic() + _REST_SECONDS
                await self._give_back(item, self._seconds_per_text * len(item.texts))

    @staticmethod
    async def _read(
        c: Connection, store: IndexedStore, items: Sequence[asyncpg.Record]
    ) -> list[asyncpg.Record]:
        """The items' rows with their texts. Deleted items leave the queue."""
        tenants, ids = _keys(items)
        rows: list[asyncpg.Record] = await c.fetch(store.statements.texts, tenants, ids)
        if len(rows) < len(items):
            await c.execute(store.statements.drop, store.name, tenants, ids)
        return rows

    async def _renew(self) -> None:
        """Keeps the leases of items that take several rounds. Forgets those that were deleted or edited."""
        held = list(self._turns)
        if not held or time.monotonic() - self._renewed_at < _RENEW_SECONDS:
            return
        self._renewed_at = time.monotonic()
        stores, tenants, ids = (list(column) for column in zip(*(item.key for item in held), strict=True))
        rows = await self._database.run(
            EVERY_TENANT,
            lambda c: c.fetch(self._sql.renew, self._embedder.model, stores, tenants, ids, LEASE_SECONDS),
            Deadline(_PATIENCE),
        )
        kept = {(row["store"], row["tenant"], row["item_id"]) for row in rows}
        self._turns.remove([item for item in held if item.key not in kept])

    async def _embed_all(self, parts: Mapping[str, Sequence[Part]]) -> None:
        begun = time.monotonic()
        own_parts = (self._embed_parts(tenant, own) for tenant, own in parts.items())
        # A failure waits for the others: they would add their vectors while the next round makes the same.
        for failure in await asyncio.gather(*own_parts, return_exceptions=True):
            if failure is not None:
                raise failure
        if texts := sum(len(part.texts) for own in parts.values() for part in own):
            seconds = (time.monotonic() - begun) / texts
            self._seconds_per_text += _ROUND_WEIGHT * (seconds - self._seconds_per_text)

    async def _embed_parts(self, tenant: str, parts: Sequence[Part]) -> None:
        try:
            await self._embed(tenant, parts)
        except EmbedderUnavailable as error:
            if not _for_the_texts(error):
                raise
            await self._embed_singly(tenant, parts)

    async def _embed(self, tenant: str, parts: Sequence[Part]) -> None:
        texts = [text for part in parts for text in part.texts]
        vectors = await self._embedder.embed(texts, "document", tenant, urgency=self._claims.urgency)
        halves = iter([HalfVector(vector) for vector in vectors])
        for part in parts:
            part.item.vectors += [next(halves) for _ in part.texts]

    async def _embed_singly(self, tenant: str, parts: Sequence[Part]) -> None:
        """Embeds each item alone, so that one refused text does not hold up the others."""
        for part in parts:
            try:
                await self._embed(tenant, [part])
            except EmbedderUnavailable as error:
                if not _for_the_texts(error):
                    raise
                item = part.item
                log.warning(
                    "item not indexed", store=item.store.name, item=item.row["item_id"], reason=error.reason
                )
                self._turns.remove([item])
                await self._postpone(item.store, [item.row])

    async def _store_complete(self, items: Sequence[Item]) -> None:
        complete = [item for item in items if item.complete]
        self._turns.remove(complete)
        for item in complete:
            if item.large:
                self._resting.pop(item.tenant, None)
        failure = None
        for store in self._stores.values():
            embedded = [item.embedded() for item in complete if item.store is store]
            try:
                if embedded:
                    await self._store(store, embedded)
            except AppError:
                raise
            except Exception as error:
                # An error in one store does not stop the others. Its items return when their lease ends.
                error.add_note(f"while indexing {store.name}")
                failure = error
        if failure is not None:
            raise failure

    async def _store(self, store: IndexedStore, embedded: Sequence[Embedded]) -> None:
        if store.finish is None:
            embedded = await self._finish(store, embedded)
        else:
            await store.finish(embedded)
        metrics.INDEXED.labels(store.name).inc(len(embedded))
        for each in embedded:
            self._stored((store.name, each.row["tenant"], each.row["item_id"]))

    async def _finish(self, store: IndexedStore, embedded: Sequence[Embedded]) -> list[Embedded]:
        """Answers those that are done. One that another transaction holds is tried again, not when its lease ends."""
        given: list[tuple[str, int, int, Any]] = [
            (each.row["tenant"], each.row["item_id"], chunk, vector)
            for each in embedded
            for chunk, vector in enumerate(each.vectors)
        ]
        columns = [list(column) for column in zip(*given, strict=True)]
        done = await self._database.run(
            EVERY_TENANT,
            lambda c: c.fetch(store.statements.finish, self._embedder.model, store.name, *columns),
            Deadline(_PATIENCE),
        )
        keys = {(row["tenant"], row["item_id"]) for row in done}
        stored: list[Embedded] = []
        held: list[asyncpg.Record] = []
        for each in embedded:
            if (each.row["tenant"], each.row["item_id"]) in keys:
                stored.append(each)
            else:
                held.append(each.row)
        if held:
            await self._postpone(store, held)
        return stored

    async def _postpone_all(self) -> None:
        held = list(self._turns)
        self._turns.remove(held)
        for store in self._stores.values():
            if rows := [item.row for item in held if item.store is store]:
                await self._postpone(store, rows)

    async def _postpone(self, store: IndexedStore, rows: Sequence[asyncpg.Record]) -> None:
        await self._database.run(
            EVERY_TENANT,
            lambda c: c.execute(
                self._sql.postpone, self._embedder.model, [store.name] * len(rows), *_keys(rows)
            ),
            Deadline(_PATIENCE),
        )

    async def _give_back(self, item: Item, seconds: float) -> None:
        await self._database.run(
            EVERY_TENANT,
            lambda c: c.execute(self._sql.give_back, self._embedder.model, *item.key, seconds),
            Deadline(_PATIENCE),
        )


def _keys(rows: Sequence[asyncpg.Record]) -> tuple[list[str], list[int]]:
    return [row["tenant"] for row in rows], [row["item_id"] for row in rows]


def _for_the_texts(error: EmbedderUnavailable) -> bool:
    """Whether others may go on: the model refused the texts themselves, or their tenant has reached a ceiling."""
    return error.reason in ("malformed", "ceiling") or error.http_status in _BAD_TEXTS
