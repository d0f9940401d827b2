"""Creates time partitions ahead, and drops those past their retention."""

from __future__ import annotations

from datetime import timedelta

from services.context.timeline import queries
from shared.database.postgres import Database
from shared.deadline import Deadline

EVERY_SECONDS = 3_600.0
_SECONDS = 30.0
_KEEP = {
    "timeline.events": timedelta(days=90),
    "timeline.costs": timedelta(days=400),
    "context.context_assembly_log": timedelta(days=90),
}


async def maintain(database: Database) -> None:
    for parent, keep in _KEEP.items():
        await _maintain_one(database, parent, keep)


async def _maintain_one(database: Database, parent: str, keep: timedelta) -> None:
    await database.call(lambda c: queries.maintain(c, parent, keep), Deadline(_SECONDS))
