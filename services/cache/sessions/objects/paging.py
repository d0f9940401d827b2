"""Brings objects back, pins and releases them."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from uuid import UUID

import msgspec

from services.cache.sessions import queries as session_queries
from services.cache.sessions.objects import queries, queries_write
from services.cache.sessions.objects.queries_write import Move
from services.cache.sessions.objects.reading import object_of, pressure_of
from services.cache.sessions.objects.schemas import (
    FaultInput,
    PinInput,
    Pressure,
    ReleaseInput,
    Restored,
    SemanticObject,
)
from services.cache.sessions.paging.fidelity import Fidelity, Level
from services.cache.sessions.transactions import Held, SessionTransactions
from shared.auth import Principal
from shared.database.idempotency import Key
from shared.database.postgres import Connection
from shared.deadline import Deadline

# The first fault of a content pins it for so many turns, and each further one for twice as many.
_PIN_TURNS, _MOST_PIN_TURNS = 4, 64
_PINNED_BY_FAULT = "brought back"
# What a fault or a goal brings up besides what was asked for leaves the context below this share.
PREFETCH_SHARE = 0.9


class _Changed(msgspec.Struct):
    id: UUID


class _Faulted(msgspec.Struct):
    id: UUID
    restored: bool
    related: list[UUID]


class Paging:
    def __init__(self, transactions: SessionTransactions) -> None:
        self._transactions = transactions

    async def fault(
        self,
        principal: Principal,
        session: str,
        object_id: UUID,
        wanted: FaultInput,
        key: Key | None,
        deadline: Deadline,
    ) -> Restored:
        began = time.perf_counter()

        async def work(c: Connection, held: Held) -> _Faulted:
            found = await object_of(c, held, object_id)
            if found.current_fidelity == Level.FULL:
                await queries_write.touch(c, held.tenant, held.id, [object_id], held.turn)
                return _Faulted(object_id, restored=False, related=[])
            related = await _bring_back(c, held, found)
            await queries_write.fault(
                c,
                held.tenant,
                held.id,
                object_id,
                wanted.fault_type,
                turn=held.turn,
                milliseconds=int((time.perf_counter() - began) * 1000),
            )
            payload = {"object": str(object_id), "type": wanted.fault_type, "tokens": found.tokens_l0}
            await session_queries.tell(c, held.tenant, held.id, "session_fault", payload)
            return _Faulted(object_id, restored=True, related=related)

        faulted = await self._transactions.write(principal, session, _Faulted, work, key, deadline)
        found = await self._object(principal, session, object_id, deadline)
        return Restored(found, faulted.restored, faulted.related)

    async def pin(
        self,
        principal: Principal,
        session: str,
        object_id: UUID,
        wanted: PinInput,
        key: Key | None,
        deadline: Deadline,
    ) -> SemanticObject:
        async def work(c: Connection, held: Held) -> None:
            await object_of(c, held, object_id)
            until = None if wanted.turns is None else held.turn + wanted.turns
            await queries_write.pin(
                c, held.tenant, held.id, object_id, pinned=True, until=until, reason=wanted.reason
            )

        return await self._changed(principal, session, object_id, work, key, deadline)

    async def unpin(
        self, principal: Principal, session: str, object_id: UUID, key: Key | None, deadline: Deadline
    ) -> SemanticObject:
        async def work(c: Connection, held: Held) -> None:
            await object_of(c, held, object_id)
            await queries_write.pin(c, held.tenant, held.id, object_id, pinned=False)

        return await self._changed(principal, session, object_id, work, key, deadline)

    async def release(
        self,
        principal: Principal,
        session: str,
        object_id: UUID,
        wanted: ReleaseInput,
        key: Key | None,
        deadline: Deadline,
    ) -> SemanticObject:
        """A pin of it ends, too."""

        async def work(c: Connection, held: Held) -> None:
            found = await object_of(c, held, object_id)
            await queries_write.pin(c, held.tenant, held.id, object_id, pinned=False)
            to = reachable(found, wanted.fidelity)
            if to > found.current_fidelity:
                await apply(c, held, [Move(object_id, to, "cooperative")])

        return await self._changed(principal, session, object_id, work, key, deadline)

    async def _changed(
        self,
        principal: Principal,
        session: str,
        object_id: UUID,
        change: Callable[[Connection, Held], Awaitable[None]],
        key: Key | None,
        deadline: Deadline,
    ) -> SemanticObject:
        async def work(c: Connection, held: Held) -> _Changed:
            await change(c, held)
            return _Changed(object_id)

        await self._transactions.write(principal, session, _Changed, work, key, deadline)
        return await self._object(principal, session, object_id, deadline)

    async def _object(
        self, principal: Principal, session: str, object_id: UUID, deadline: Deadline
    ) -> SemanticObject:
        async def work(c: Connection, held: Held) -> SemanticObject:
            return await object_of(c, held, object_id)

        return await self._transactions.read(principal, session, work, deadline)


def reachable(found: SemanticObject, to: Fidelity) -> Fidelity:
    """A line is left where there is no such summary."""
    tokens: dict[Fidelity, int | None] = {Level.DETAILED: found.tokens_l1, Level.COMPACT: found.tokens_l2}
    return Level.STUB if to in tokens and tokens[to] is None else to


async def _bring_back(c: Connection, held: Held, found: SemanticObject) -> list[UUID]:
    """Brings the object up, pins it for a while, and brings up what is related. Returns the latter."""
    before = await pressure_of(c, held)
    faults = await queries_write.faults_before(c, held.tenant, held.id, found.id)
    turns = min(_MOST_PIN_TURNS, _PIN_TURNS * 2 ** min(faults, 10))
    near = await queries.related(c, held.tenant, held.id, [found.id])
    room = int(PREFETCH_SHARE * held.config.token_budget) - before.total_context_tokens - found.tokens_l0
    related = fitting([(row["id"], row["tokens_l0"] - row["tokens"]) for row in near], room)
    moves = [Move(each, Level.FULL, "fault", rises=True) for each in [found.id, *related]]
    await apply(c, held, moves, before)
    if not found.pinned:
        await queries_write.pin(
            c,
            held.tenant,
            held.id,
            found.id,
            pinned=True,
            until=held.turn + turns,
            reason=_PINNED_BY_FAULT,
        )
    return related


def fitting(wanted: Sequence[tuple[UUID, int]], room: int) -> list[UUID]:
    """The objects, in their order, whose tokens fit into the room."""
    taken: list[UUID] = []
    for object_id, tokens in wanted:
        if tokens <= room:
            taken.append(object_id)
            room -= tokens
    return taken


async def apply(
    c: Connection, held: Held, moves: Sequence[Move], before: Pressure | None = None
) -> list[UUID]:
    if not moves:
        return []
    before = before or await pressure_of(c, held)
    return await queries_write.move(
        c,
        held.tenant,
        held.id,
        moves,
        turn=held.turn,
        zone=before.zone,
        tokens=before.total_context_tokens,
        last_place=held.last_place,
    )
