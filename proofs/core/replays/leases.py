from __future__ import annotations

from collections.abc import Sequence

import asyncpg
from pgvector import HalfVector

from proofs.core.leases import State
from proofs.core.replays.connections import Sql, alike
from services.agent_memory.long_term import indexing
from services.agent_memory.long_term.queries_write import DROP_VECTORS, QUEUE
from shared.database.index_claims import LEASE_SECONDS
from shared.database.index_queue import Embedded, QueueStatements

_STORE = "memory"
_ADD = """
with added as (
    insert into memory.long_term
        (tenant, scope, kind, content, content_hash, token_count, chunks, written_by, source_kind)
    values ($1, 'shared', 'knowledge', '0', '0', 1, 1, 'proof', 'agent') returning id
), chunk as (
    insert into memory.long_term_chunks (tenant, scope, item_id, chunk, chunks, start, stop, words, tsv)
    select $1, 'shared', id, 0, 1, 0, 1, 1, '' from added
)
select id from added
"""
_EDIT = """
update memory.long_term set content = $3, content_hash = convert_to($3, 'UTF8') where tenant = $1 and id = $2
"""
_TICK = "update memory.index_queue set due_at = clock_timestamp() where model = $1 and tenant = $2"
_LEASED = "select due_at > clock_timestamp() from memory.index_queue where model = $1 and tenant = $2"
_VECTOR = "select embedding from memory.long_term_vec where tenant = $1 and item_id = $2"
_LENGTH = """
select atttypmod from pg_attribute where attrelid = 'memory.long_term_vec'::regclass and attname = 'embedding'
"""


class Replay:
    """The workers' statements are transactions of their own. The time of a lease passes for the row."""

    connections = 1

    def __init__(self, sql: Sequence[Sql], tenant: str) -> None:
        (self._sql,) = sql
        self._tenant = self._model = tenant
        self._queue = QueueStatements("memory")
        self._item = 0
        self._rows: dict[int, asyncpg.Record] = {}

    async def step(self, name: str, after: State) -> None:
        if not self._item:
            self._length = await self._sql.fetchval(_LENGTH)
            self._item = await self._sql.fetchval(_ADD, self._tenant)
            await self._queue_it()
        act, _, number = name.partition(" ")
        await getattr(self, f"_{act}")(int(number or 0), after)
        await self._compare(after)

    async def stop(self) -> None:
        """Nothing is open."""

    async def _edit(self, _: int, after: State) -> None:
        async with self._sql.transaction():
            await self._sql.execute(_EDIT, self._tenant, self._item, str(after.says))
            await self._sql.execute(DROP_VECTORS, self._tenant, self._item)
            await self._queue_it()

    async def _queue_it(self) -> None:
        await self._sql.execute(QUEUE, self._tenant, "shared", self._item, self._model)

    async def _claim(self, worker: int, _: State) -> None:
        """By the two statements that lease, in turn."""
        alike("what is leased", 1, len(await self._claimed(worker)))
        (self._rows[worker],) = await self._sql.fetch(indexing.STATEMENTS.texts, [self._tenant], [self._item])

    async def _claimed(self, worker: int) -> list[asyncpg.Record]:
        if worker:
            return list(
                await self._sql.fetch(
                    self._queue.claim_these,
                    self._model,
                    [_STORE],
                    [self._tenant],
                    [self._item],
                    LEASE_SECONDS,
                )
            )
        return list(
            await self._sql.fetch(
                self._queue.claim, self._model, [_STORE], 32, float(LEASE_SECONDS), "", [], 8
            )
        )

    async def _finish(self, worker: int, _: State) -> None:
        row = self._rows.pop(worker)
        vector = HalfVector([float(row["content"]) + 1] + [0.0] * (self._length - 1))
        async with self._sql.transaction():
            await indexing.finish(self._sql, self._model, [Embedded(row, [vector])])

    async def _die(self, worker: int, _: State) -> None:
        del self._rows[worker]

    async def _tick(self, _: int, __: State) -> None:
        await self._sql.execute(_TICK, self._model, self._tenant)

    async def _compare(self, after: State) -> None:
        leased = await self._sql.fetchval(_LEASED, self._model, self._tenant)
        alike("the queue", (after.queued, after.leased), (leased is not None, bool(leased)))
        vector = await self._sql.fetchval(_VECTOR, self._tenant, self._item)
        version = None if vector is None else int(vector.to_list()[0]) - 1
        alike("whose vector is stored", after.vector, version)
        if after.leased:
            for worker in (0, 1):
                alike("what another leases meanwhile", [], await self._claimed(worker))
