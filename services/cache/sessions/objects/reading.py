"""Reads objects, the context that a session holds of them, and its pressure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any
from uuid import UUID

import asyncpg
import msgspec

from services.cache.sessions.objects import queries
from services.cache.sessions.objects.block import context_of, effort
from services.cache.sessions.objects.schemas import Admitted, Pressure, SemanticObject, SessionContext
from services.cache.sessions.paging.fidelity import Fidelity, zone
from services.cache.sessions.schemas import SessionConfig
from services.cache.sessions.transactions import Held, SessionTransactions
from shared.auth import Principal
from shared.concurrency.threads import beside
from shared.database.postgres import Connection
from shared.deadline import Deadline
from shared.errors import NotFound


class ObjectReader:
    def __init__(self, transactions: SessionTransactions) -> None:
        self._transactions = transactions

    async def get(
        self,
        principal: Principal,
        session: str,
        object_id: UUID,
        fidelity: Fidelity | None,
        deadline: Deadline,
    ) -> SemanticObject:
        """With its text at `fidelity`, by default its own."""

        async def work(c: Connection, held: Held) -> SemanticObject:
            return await object_of(c, held, object_id, fidelity)

        return await self._transactions.read(principal, session, work, deadline)

    async def context(self, principal: Principal, session: str, deadline: Deadline) -> SessionContext:
        return await context_in(await self._transactions.look(principal, session, queries.BLOCK, deadline))

    async def pressure(self, principal: Principal, session: str, deadline: Deadline) -> Pressure:
        return await pressure_now(self._transactions, principal, session, deadline)


async def context_in(rows: Sequence[asyncpg.Record]) -> SessionContext:
    """`rows` of BLOCK."""
    shown = sorted((row for row in rows if row["id"] is not None), key=itemgetter("place"))
    return await beside(effort(shown), context_of, shown, rows[0]["marks"])


async def object_of(
    c: Connection, held: Held, object_id: UUID, fidelity: Fidelity | None = None
) -> SemanticObject:
    """Raises NotFound for an object that is not of the session."""
    row = await queries.find(c, held.tenant, held.id, object_id, fidelity)
    if row is None:
        raise NotFound(f"session {held.external_id!r} has no object {object_id}")
    return SemanticObject(**row)


async def pressure_now(
    transactions: SessionTransactions, principal: Principal, session: str, deadline: Deadline
) -> Pressure:
    (row,) = await transactions.look(principal, session, queries.PRESSURE_NOW, deadline)
    counts = dict(row)
    config = msgspec.convert(counts.pop("config"), SessionConfig)
    return _pressure(counts, config, counts.pop("turn"))


async def pressure_of(c: Connection, held: Held) -> Pressure:
    return pressure_in(held, await queries.pressure(c, held.tenant, held.id, held.turn))


def pressure_in(held: Held, row: asyncpg.Record) -> Pressure:
    return _pressure(dict(row), held.config, held.turn)


def _pressure(counts: Mapping[str, Any], config: SessionConfig, turn: int) -> Pressure:
    budget = config.token_budget
    return Pressure(
        **counts,
        zone=zone(counts["total_context_tokens"], budget),
        share=round(counts["total_context_tokens"] / budget, 4),
        token_budget=budget,
        turn=turn,
    )


def grown(before: Pressure, admitted: Sequence[Admitted]) -> Pressure:
    """With what was created since, whole."""
    new = [each.tokens for each in admitted if each.status == "created"]
    tokens = before.total_context_tokens + sum(new)
    return msgspec.structs.replace(
        before,
        zone=zone(tokens, before.token_budget),
        share=round(tokens / before.token_budget, 4),
        total_context_tokens=tokens,
        block_tokens=before.block_tokens + sum(new),
        objects_at_l0=before.objects_at_l0 + len(new),
    )
