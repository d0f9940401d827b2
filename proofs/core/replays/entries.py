from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress

import asyncpg

from proofs.core.entries import ENTRIES, SIZES, TOKENS, State
from proofs.core.replays.connections import PATIENCE, Sql, alike, wait_until_blocked
from services.cache.entries.queries_write import Put, put_entries
from services.cache.missions.queries import DefaultLimits, MissionKey

_LIMITS = DefaultLimits(TOKENS, ENTRIES, 24.0)
_HELD = "select content from cache.psychic_cache where tenant = $1 and mission_id = 'core' order by id"
_SUMS = (
    "select tokens, entries, written_count, evicted_count from cache.missions "
    "where tenant = $1 and mission_id = 'core'"
)


class Replay:
    """One connection for each replica, and one that looks."""

    connections = 3

    def __init__(self, sql: Sequence[Sql], tenant: str) -> None:
        *self._replicas, self._observer = sql
        self._tenant = tenant
        self._running: dict[int, asyncio.Task[list[asyncpg.Record]]] = {}
        self._state = State()

    async def step(self, name: str, after: State) -> None:
        act, number = name.split()
        if act != "arrive":
            await getattr(self, f"_{act}")(int(number), after)
            await self._compare(after)
        self._state = after

    async def stop(self) -> None:
        for replica, task in self._running.items():
            with suppress(Exception):
                await task
            await self._replicas[replica].execute("rollback")

    async def _run(self, replica: int, after: State) -> None:
        sql = self._replicas[replica]
        await sql.execute("begin")
        puts = [_put(writer) for writer in self._state.batches[replica]]
        mission = MissionKey(self._tenant, "core")
        self._running[replica] = asyncio.create_task(
            put_entries(sql, mission, puts, model="none", limits=_LIMITS)
        )
        if after.written[replica] is None:
            await wait_until_blocked(self._observer, sql)
        else:
            await self._written(replica)

    async def _commit(self, replica: int, after: State) -> None:
        rows = self._running.pop(replica).result()
        refused = [SIZES[writer] > TOKENS for writer in self._state.batches[replica]]
        alike("what is refused", refused, [row["refused"] is not None for row in rows])
        await self._replicas[replica].execute("commit")
        await self._go_on(after)

    async def _break(self, replica: int, after: State) -> None:
        self._running.pop(replica)
        await self._replicas[replica].execute("rollback")
        await self._go_on(after)

    async def _go_on(self, after: State) -> None:
        """Who waited for the row has it."""
        if after.locks:
            await self._written(after.locks[0])

    async def _written(self, replica: int) -> None:
        await asyncio.wait_for(asyncio.shield(self._running[replica]), PATIENCE)

    async def _compare(self, after: State) -> None:
        entries = after.entries
        held = [int(row["content"]) for row in await self._observer.fetch(_HELD, self._tenant)]
        alike("what is held", list(entries.held), held)
        row = await self._observer.fetchrow(_SUMS, self._tenant)
        sums = (entries.tokens, len(held), len(entries.order), len(entries.evicted))
        alike("the mission's sums", sums, (0, 0, 0, 0) if row is None else tuple(row))


def _put(writer: int) -> Put:
    text = str(writer)
    return Put(
        context_type="intel",
        content=text,
        metadata={"intel_source": "proof"},
        tags=[],
        written_by="proof",
        source_kind="agent",
        head="",
        starts=[0],
        stops=[len(text)],
        chunks=[text],
        configs=["english"],
        terms=[""],
        token_count=SIZES[writer],
    )
