"""Adds an event for each query to the timeline, in batches, so that no query waits."""

from __future__ import annotations

from typing import Any

import msgspec

from services.cache.entries import queries
from shared.concurrency.batching import Batcher
from shared.database.doorbell import Doorbell
from shared.database.erasure import seconds_since
from shared.database.postgres import EVERY_TENANT, Connection, Database
from shared.deadline import Deadline

_EVERY_SECONDS = 0.5
_SECONDS = 5.0
_BATCH = 500
# When the database is unavailable, the oldest notes are lost first: they are not worth unbounded memory.
_MOST_WAITING = 10_000


class QueryNote(msgspec.Struct):
    """A query of one mission, or of several (`mission_id` is null). `payload` holds counts."""

    tenant: str
    mission_id: str | None
    agent_name: str | None
    payload: dict[str, Any]
    since: float
    """When the query began, by the performance counter."""
    waited: float = 0.0
    """Seconds from then until the note is written."""


class QueryLog:
    def __init__(self, database: Database, doorbell: Doorbell) -> None:
        self._database = database
        self._doorbell = doorbell
        self._notes: Batcher[QueryNote] = Batcher(
            "notes of queries", self._write, size=_BATCH, limit=_MOST_WAITING, linger=_EVERY_SECONDS
        )
        self.start = self._notes.start
        self.stop = self._notes.stop
        self.flush = self._notes.flush

    def note(
        self, tenant: str, mission_id: str | None, agent: str | None, *, since: float, **counts: int
    ) -> None:
        self._notes.add(QueryNote(tenant, mission_id, agent, counts, since))

    async def _write(self, notes: list[QueryNote]) -> tuple[()]:
        async def write(connection: Connection) -> None:
            for note in notes:
                note.waited = seconds_since(note.since)
            await queries.note_queries(connection, notes)

        await self._database.run(EVERY_TENANT, write, Deadline(_SECONDS))
        for tenant in {note.tenant for note in notes}:
            self._doorbell.ring(tenant)
        return ()
