"""Reads histories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar
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
    ListedObject,
    ListedObjects,
    ObjectCursor,
    Transition,
    TransitionCursor,
    Transitions,
)
from services.cache.sessions.transactions import Held, SessionTransactions
from shared.auth import Principal
from shared.database.postgres import Connection
from shared.deadline import Deadline
from shared.paging.pages import page_of

Page = TypeVar("Page")


class History(NamedTuple, Generic[Page]):
    """How a page of a history is read and made."""

    statement: str
    cursor: type[FaultCursor] | type[TransitionCursor] | type[AdmissionCursor] | type[ObjectCursor]
    line: Callable[..., Any]
    page: Callable[[list[Any], str | None], Page]


FAULTS = History(queries.FAULTS, FaultCursor, Fault, Faults)
TRANSITIONS = History(queries.TRANSITIONS, TransitionCursor, Transition, Transitions)
ADMISSIONS = History(queries.ADMISSIONS, AdmissionCursor, AdmissionScore, Admissions)
OBJECTS = History(queries.OBJECTS, ObjectCursor, ListedObject, ListedObjects)


class Histories:
    def __init__(self, transactions: SessionTransactions) -> None:
        self._transactions = transactions

    async def page(
        self,
        history: History[Page],
        principal: Principal,
        session: str,
        object_id: UUID | None,
        cursor: str | None,
        limit: int,
        deadline: Deadline,
    ) -> Page:
        """`object_id` narrows it to one object."""
        place = history.cursor.read(cursor)
        after = 0 if place is None else place.number

        async def work(c: Connection, held: Held) -> list[asyncpg.Record]:
            return await queries.page(
                c, history.statement, held.tenant, held.id, after=after, object_id=object_id, limit=limit + 1
            )

        rows = await self._transactions.read(principal, session, work, deadline)
        found = page_of(rows, limit, lambda row: history.cursor(number=row["number"]))
        return history.page([history.line(**_told(row)) for row in found.rows], found.next)


def _told(row: asyncpg.Record) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "number"}
