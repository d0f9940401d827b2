"""Creates time partitions ahead, and drops those past their retention."""

from __future__ import annotations

import asyncio
import contextlib
from datetime import timedelta

from asyncpg.exceptions import LockNotAvailableError

from services.context.timeline import queries
from shared.database.postgres import Database
from shared.deadline import Deadline

EVERY_SECONDS = 3_600.0
_SECONDS = 30.0
# After a try that found the table in use.
_PAUSE_SECONDS = 0.2
_KEEP = {
    "timeline.events": timedelta(days=90),
    "timeline.costs": timedelta(days=400),
    "context.context_assembly_log": timedelta(days=90),
}


async def maintain(database: Database) -> None:
    for parent, keep in _KEEP.items():
        await _maintain_one(database, parent, keep)


async def _maintain_one(database: Database, parent: str, keep: timedelta) -> None:
    """Raises Unavailable where others use the table all the time."""
    deadline = Deadline(_SECONDS)
    while True:
        with contextlib.suppress(LockNotAvailableError):
            return await database.call(lambda c: queries.maintain(c, parent, keep), deadline)
        await asyncio.sleep(_PAUSE_SECONDS)
