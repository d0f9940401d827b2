"""Consolidates sessions unasked: those that a caller wanted to be, and on a schedule those that ended or fell silent.

It follows the timeline, and every replica does. The lease of a session keeps two of them from the same work.
"""

from __future__ import annotations

import time
import uuid
from typing import NamedTuple

import structlog

from services.context.consolidation import queries
from services.context.consolidation.schemas import ConsolidateInput
from services.context.consolidation.service import SECONDS, Consolidation
from shared.auth import Principal
from shared.concurrency.tasks import every
from shared.database.postgres import EVERY_TENANT, Database
from shared.deadline import Deadline
from shared.errors import AppError

log = structlog.get_logger()

WRITER = "consolidation"
"""Stands for the key that wrote what is learned unasked."""
_WANTED = ("consolidation_wanted",)
_SCHEDULED = (*_WANTED, "session_closed", "session_events")
_LOOK_SECONDS = 5.0
_PATIENCE = 10.0
_AT_ONCE = 10_000
# Transactions commit in another order than they take their numbers.
_OVERLAP = 1_000
_MOST_WAITING = 100_000


class _Session(NamedTuple):
    tenant: str
    session_id: str


class _Due(NamedTuple):
    event: int
    at: float
    """A time of the monotonic clock."""


class Schedule:
    """`seconds` is how long a session must be silent; 0: only what a caller wanted is consolidated."""

    def __init__(self, database: Database, consolidation: Consolidation, seconds: float) -> None:
        self._database = database
        self._consolidation = consolidation
        self._seconds = seconds
        self._kinds = _SCHEDULED if seconds else _WANTED
        self._seen: int | None = None
        self._waiting: dict[_Session, _Due] = {}
        self._done: dict[_Session, int] = {}

    async def run_forever(self) -> None:
        await every(_LOOK_SECONDS, "consolidation", self.sweep)

    async def sweep(self) -> int:
        """Returns how many sessions were due."""
        await self._look()
        now = time.monotonic()
        due = [session for session, each in self._waiting.items() if each.at <= now]
        for session in due:
            self._done[session] = self._waiting.pop(session).event
            await self._consolidate(session)
        return len(due)

    async def _look(self) -> None:
        seen = self._seen
        if seen is None:
            seen = await self._database.run(EVERY_TENANT, queries.first_of_today, Deadline(_PATIENCE)) - 1
        after = max(0, seen - _OVERLAP)
        rows, last = await self._database.run(
            EVERY_TENANT, lambda c: queries.active(c, after, self._kinds, _AT_ONCE), Deadline(_PATIENCE)
        )
        self._seen = max(seen, last)
        for row in rows[: _MOST_WAITING - len(self._waiting)]:
            session = _Session(row["tenant"], row["session_id"])
            if row["id"] > self._done.get(session, 0):
                silent = 0 if row["ended"] else self._seconds
                self._waiting[session] = _Due(row["id"], time.monotonic() + silent)
        if len(self._done) > _MOST_WAITING:
            self._done.clear()

    async def _consolidate(self, session: _Session) -> None:
        """As the tenant itself. A session that is gone, or that somebody else runs over, is left."""
        principal = Principal(session.tenant, WRITER, frozenset(["read", "write"]))
        wanted = ConsolidateInput(session_id=session.session_id)
        try:
            while True:
                done = await self._consolidation.consolidate(
                    principal, wanted, Deadline(SECONDS), f"consolidation-{uuid.uuid4().hex}"
                )
                if done.status != "unfinished":
                    return
        except AppError as error:
            log.info("session not consolidated", reason=error.detail)
