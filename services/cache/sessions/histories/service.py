"""Reads histories."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import asyncpg

from services.cache.sessions.histories import queries
from services.cache.sessions.histories.schemas import (
    AdmissionCursor,
    Admissions,
    AdmissionScore,
    Fault,
    FaultCursor,
    Faults,
    Transition,
    TransitionCursor,
    Transitions,
)
from services.cache.sessions.transactions import Held, SessionTransactions
from shared.auth import Principal
from shared.database.postgres import Connection
from shared.deadline import Deadline
from shared.paging.pages import PageRows, page_of


class Histories:
    """`object_id` narrows a page to one object."""

    def __init__(self, transactions: SessionTransactions) -> None:
        self._transactions = transactions

    async def faults(
        self,
        principal: Principal,
        session: str,
        object_id: UUID | None,
        cursor: str | None,
        limit: int,
        deadline: Deadline,
    ) -> Faults:
        page = await self._page(
            queries.FAULTS, FaultCursor, principal, session, object_id, cursor, limit, deadline
        )
        return Faults([Fault(**_told(row)) for row in page.rows], page.next)

    async def transitions(
        self,
        principal: Principal,
        session: str,
        object_id: UUID | None,
        cursor: str | None,
        limit: int,
        deadline: Deadline,
    ) -> Transitions:
        page = await self._page(
            queries.TRANSITIONS, TransitionCursor, principal, session, object_id, cursor, limit, deadline
        )
        return Transitions([Transition(**_told(row)) for row in page.rows], page.next)

    async def admissions(
        self,
        principal: Principal,
        session: str,
        object_id: UUID | None,
        cursor: str | None,
        limit: int,
        deadline: Deadline,
    ) -> Admissions:
        page = await self._page(
            queries.ADMISSIONS, AdmissionCursor, principal, session, object_id, cursor, limit, deadline
        )
        return Admissions([AdmissionScore(**_told(row)) for row in page.rows], page.next)

    async def _page(
        self,
        statement: str,
        kind: type[FaultCursor] | type[TransitionCursor] | type[AdmissionCursor],
        principal: Principal,
        session: str,
        object_id: UUID | None,
        cursor: str | None,
        limit: int,
        deadline: Deadline,
    ) -> PageRows[asyncpg.Record]:
        place = kind.read(cursor)
        after = 0 if place is None else place.number

        async def work(c: Connection, held: Held) -> list[asyncpg.Record]:
            return await queries.page(
                c, statement, held.tenant, held.id, after=after, object_id=object_id, limit=limit + 1
            )

        rows = await self._transactions.read(principal, session, work, deadline)
        return page_of(rows, limit, lambda row: kind(number=row["number"]))


def _told(row: asyncpg.Record) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "number"}
