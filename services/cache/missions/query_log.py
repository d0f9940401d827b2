"""A query leaves an event, but no query waits for it: they are noted in batches, a moment later."""

from __future__ import annotations

import asyncio
from typing import Any

import structlog

from services.cache.missions import queries
from shared.database.doorbell import Doorbell
from shared.database.postgres import Database
from shared.deadline import Deadline
from shared.errors import AppError
from shared.tasks import end

log = structlog.get_logger()

_EVERY_SECONDS = 0.5
_SECONDS = 5.0
_BATCH = 500
# When the database is away the oldest notes are lost first: they are not worth memory without bound.
_MAX_WAITING = 10_000


class QueryLog:
    def __init__(self, database: Database, doorbell: Doorbell) -> None:
        self._database = database
        self._doorbell = doorbell
        self._waiting: list[tuple[str, str | None, str | None, dict[str, Any]]] = []
        self._flushing = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        if self._task is not None:
            await end(self._task)
        await self.flush()

    def note(self, tenant: str, mission_id: str | None, agent: str | None, **counts: int) -> None:
        self._waiting.append((tenant, mission_id, agent, counts))
        if len(self._waiting) > _MAX_WAITING:
            del self._waiting[:_BATCH]

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(_EVERY_SECONDS)
            await self.flush()

    async def flush(self) -> None:
        """Writes what was noted so far; returns when no note is under way either."""
        async with self._flushing:
            await self._write()

    async def _write(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:_BATCH], self._waiting[_BATCH:]
            try:
                await self._database.run(
                    lambda c, rows=batch: queries.note_queries(c, rows),  # type: ignore[misc]
                    Deadline(_SECONDS),
                )
            except AppError as error:
                log.warning("notes of queries put off", error=error.detail)
                self._waiting[:0] = batch
                return
            except Exception as error:
                log.error("notes of queries lost", exc_info=error)
            for tenant in {row[0] for row in batch}:
                self._doorbell.ring(tenant)
