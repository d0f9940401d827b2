"""Consolidates sessions unasked: those that a caller wanted to be, and on a schedule those that ended or fell silent.

It follows the timeline, and every replica does. The lease of a session keeps two of them from the same work. Tenants
have turns, so that the long sessions of one do not keep the others waiting.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import defaultdict
from typing import NamedTuple

import asyncpg
import structlog

from services.context.consolidation import queries
from services.context.consolidation.schemas import ConsolidateInput
from services.context.consolidation.service import SECONDS, WRITER, Consolidation
from shared.auth import Principal
from shared.concurrency.tasks import every
from shared.database.postgres import EVERY_TENANT, Database
from shared.deadline import Deadline
from shared.errors import AppError

log = structlog.get_logger()

_WANTED = ("consolidation_wanted",)
_SCHEDULED = (*_WANTED, "session_closed", "session_events")
# Statuses of failures that pass.
_PASSING = frozenset((408, 429, 500, 502, 503, 504))
_LOOK_SECONDS = 5.0
_PATIENCE = 10.0
_AT_ONCE = 10_000
# Transactions commit in another order than they take their numbers.
_OVERLAP = 1_000
_MOST_OF_A_TENANT = 10_000
"""Sessions that wait."""
_TENANTS_AT_ONCE = 4
_TURN_SECONDS = 30.0
"""After so long, other tenants have a turn."""
_RETRY_SECONDS = 10.0
_MOST_TRIES = 30


class _Due(NamedTuple):
    event: int
    at: float
    """A time of the monotonic clock."""
    tries: int = 0


class Schedule:
    """`seconds` is how long a session must be silent; 0: only what a caller wanted is consolidated."""

    def __init__(self, database: Database, consolidation: Consolidation, seconds: float) -> None:
        self._database = database
        self._consolidation = consolidation
        self._seconds = seconds
        self._kinds = _SCHEDULED if seconds else _WANTED
        self._seen: int | None = None
        self._waiting: defaultdict[str, dict[str, _Due]] = defaultdict(dict)
        """Of each tenant, its sessions."""
        self._done: dict[tuple[str, str], int] = {}
        self._turns = asyncio.Semaphore(_TENANTS_AT_ONCE)

    async def run_forever(self) -> None:
        await every(_LOOK_SECONDS, "consolidation", self.sweep)

    async def sweep(self) -> int:
        """Goes through what happened, and gives each tenant a turn. Returns how many sessions it came to."""
        count, more = 0, True
        while more:
            more = await self._look()
            count += await self._turns_of_all()
        return count

    async def _turns_of_all(self) -> int:
        counts = await asyncio.gather(*map(self._turn, list(self._waiting)))
        for tenant in [tenant for tenant, sessions in self._waiting.items() if not sessions]:
            del self._waiting[tenant]
        return sum(counts)

    async def _look(self) -> bool:
        """Whether there may be more to look at."""
        seen = self._seen
        if seen is None:
            seen = await self._database.run(EVERY_TENANT, queries.first_of_today, Deadline(_PATIENCE)) - 1
        after = max(0, seen - _OVERLAP)
        rows, last, more = await self._database.run(
            EVERY_TENANT, lambda c: queries.active(c, after, self._kinds, _AT_ONCE), Deadline(_PATIENCE)
        )
        self._seen = max(seen, last)
        # Older events are not looked at again.
        self._done = {session: event for session, event in self._done.items() if event > after}
        for row in rows:
            self._note(row)
        return more

    def _note(self, row: asyncpg.Record) -> None:
        """A session's silence begins with its last event, however often this looks at it."""
        sessions, session = self._waiting[row["tenant"]], row["session_id"]
        done = self._done.get((row["tenant"], session), 0)
        waiting = sessions.get(session)
        if row["id"] <= (done if waiting is None else waiting.event):
            return
        if waiting is None and len(sessions) >= _MOST_OF_A_TENANT:
            log.warning("too many sessions wait for consolidation", tenant=row["tenant"])
            return
        silent = 0.0 if row["ended"] > done else max(0.0, self._seconds - row["age"])
        sessions[session] = _Due(row["id"], time.monotonic() + silent)

    async def _turn(self, tenant: str) -> int:
        async with self._turns:
            sessions = self._waiting[tenant]
            now = time.monotonic()
            due = sorted((each.at, session) for session, each in sessions.items() if each.at <= now)
            count = 0
            for _, session in due:
                count += 1
                await self._consolidate(tenant, session, sessions.pop(session))
                if time.monotonic() - now > _TURN_SECONDS:
                    break
            return count

    async def _consolidate(self, tenant: str, session: str, due: _Due) -> None:
        """As the tenant itself, but where bound keys wrote. A session that is gone, or that the tenant may not learn
        from, is left."""
        principal = Principal(tenant, WRITER, frozenset(["read", "write"]))
        self._done[tenant, session] = due.event
        again = _Due(due.event, time.monotonic() + _RETRY_SECONDS, due.tries + 1)
        try:
            done = await self._consolidation.consolidate(
                principal,
                ConsolidateInput(session_id=session),
                Deadline(SECONDS),
                f"consolidation-{uuid.uuid4().hex}",
            )
        except AppError as error:
            log.info("session not consolidated", reason=error.detail)
            if error.status in _PASSING and due.tries < _MOST_TRIES:
                self._waiting[tenant].setdefault(session, again)
            return
        if done.status == "unfinished":
            self._waiting[tenant].setdefault(session, _Due(due.event, time.monotonic()))
        elif done.status == "under_way":
            # The run may have begun before the last events.
            self._waiting[tenant].setdefault(session, again._replace(tries=0))
