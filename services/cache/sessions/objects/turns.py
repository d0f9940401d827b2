"""Ends turns, and begins the next with what came in."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import asyncpg
import msgspec

from services.cache.sessions import queries as session_queries
from services.cache.sessions.access import Reach
from services.cache.sessions.objects import batching, queries, queries_write
from services.cache.sessions.objects.admission import Admission, Prepared
from services.cache.sessions.objects.paging import apply
from services.cache.sessions.objects.queries_write import Move
from services.cache.sessions.objects.reading import (
    ObjectReader,
    context_in,
    grown,
    pressure_in,
    pressure_of,
)
from services.cache.sessions.objects.schemas import Admitted, AdmittedObjects, Pressure, TurnEnded, TurnInput
from services.cache.sessions.paging.batches import HIGH, batch
from services.cache.sessions.paging.fidelity import Level
from services.cache.sessions.transactions import Held, SessionTransactions
from shared.auth import Principal
from shared.concurrency.threads import beside
from shared.database.idempotency import Key
from shared.database.index_claims import Fresh
from shared.database.postgres import Connection
from shared.deadline import Deadline

# What moves no object that was known.
_ONLY_NEW = ("created", "rejected")
# The policy looks at an object as long as other work at so many characters.
_WEIGHT = 100


class _Ended(msgspec.Struct):
    turn: int
    batch: bool
    moved: int
    admitted: list[AdmittedObjects] = []


class Turns:
    def __init__(self, transactions: SessionTransactions, admission: Admission, reader: ObjectReader) -> None:
        self._transactions = transactions
        self._admission = admission
        self._reader = reader

    async def end(
        self, principal: Principal, session: str, wanted: TurnInput, key: Key | None, deadline: Deadline
    ) -> TurnEnded:
        prepared = [
            await self._admission.prepare(principal, session, each, deadline) for each in wanted.admit
        ]
        after: list[Pressure] = []
        shown: list[asyncpg.Record] = []
        queued: list[Fresh] = []

        async def work(c: Connection, held: Held) -> _Ended:
            ended, pressure = await _end(c, held, wanted)
            if prepared:
                now = msgspec.structs.replace(held, turn=ended.turn)
                ended.admitted = await self._admit(c, principal, now, prepared, queued)
                if all(each.status in _ONLY_NEW for each in _objects(ended.admitted)):
                    pressure = grown(pressure, _objects(ended.admitted))
                else:
                    pressure = await pressure_of(c, now)
            after.append(pressure)
            if wanted.context:
                # Before the commit: whoever gets no context may end the turn again.
                shown.extend(await queries.block(c, held.tenant, Reach.of(principal), held.id))
            return ended

        ended = await self._transactions.write(principal, session, _Ended, work, key, deadline)
        if prepared:
            self._admission.wake(queued, sum(len(each.content) for each in wanted.admit))
        # A replay ends no turn: the pressure may be another by now.
        pressure = after[0] if after else await self._reader.pressure(principal, session, deadline)
        answer = TurnEnded(ended.turn, ended.batch, ended.moved, pressure, ended.admitted)
        if wanted.context:
            known = context_in(shown) if shown else self._reader.context(principal, session, deadline)
            answer.context = await known
        return answer

    async def _admit(
        self,
        c: Connection,
        principal: Principal,
        held: Held,
        prepared: Sequence[Prepared],
        queued: list[Fresh],
    ) -> list[AdmittedObjects]:
        admitted: list[AdmittedObjects] = []
        for place, each in enumerate(prepared):
            if place:
                row = await session_queries.find(c, held.tenant, Reach.of(principal), str(held.id))
                assert row is not None
                held = msgspec.structs.replace(held, last_place=row["last_place"])
            admitted.append(await self._admission.within(c, held, each, queued))
        return admitted


def _objects(admitted: Sequence[AdmittedObjects]) -> list[Admitted]:
    return [each for answer in admitted for each in answer.objects]


async def _end(c: Connection, held: Held, wanted: TurnInput) -> tuple[_Ended, Pressure]:
    if wanted.accessed:
        await queries_write.touch(c, held.tenant, held.id, wanted.accessed, held.turn)
    released = await apply(c, held, [Move(each, Level.STUB, "cooperative") for each in wanted.released])
    ended = msgspec.structs.replace(held, turn=held.turn + 1)
    row = await queries_write.end_turn(c, held.tenant, held.id, ended.turn, released=len(released))
    pressure = pressure_in(ended, row)
    moved = await _batch(c, ended, held.turn, pressure)
    if moved is not None:
        pressure = await pressure_of(c, ended)
    return _Ended(ended.turn, moved is not None, len(released) + (moved or 0)), pressure


async def _batch(c: Connection, held: Held, ended: int, before: Pressure) -> int | None:
    """How many objects a batch moved; None where there was none. Until one, what was sent keeps its bytes."""
    budget = held.config.token_budget
    if max(before.block_tokens, before.total_context_tokens) <= HIGH * budget:
        return None
    rows = await queries.paged(c, held.tenant, held.id, held.turn)
    block = batching.entries(rows)
    objects = [batching.paged(row) for row in rows]
    made = await beside(_WEIGHT * len(rows), batch, objects, batching.shown(block), budget, ended)
    if made is None:
        return None
    moves = [Move(UUID(move.id), move.after, move.trigger) for move in made.moves]
    await apply(c, held, moves, before)
    await queries_write.settle(c, held.tenant, held.id, batching.placements(rows, block, made))
    return len(moves)
