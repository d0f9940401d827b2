"""Has PostgreSQL look soon at tables that have grown fast, such as those of a new installation that imports."""

from __future__ import annotations

from shared.concurrency.tasks import every
from shared.database.postgres import Database
from shared.deadline import Deadline

_EVERY_SECONDS = 5.0
_PATIENCE = 30.0

ANALYZE_GROWN = "select timeline.analyze_grown()"


async def analyze_forever(database: Database) -> None:
    await every(_EVERY_SECONDS, "analyzing tables that have grown", lambda: analyze_grown(database))


async def analyze_grown(database: Database) -> set[str]:
    """Returns the tables, each analyzed in a transaction of its own, unless something else was analyzing it."""
    analyzed: set[str] = set()
    while True:
        table = await database.call(lambda c: c.fetchval(ANALYZE_GROWN), Deadline(_PATIENCE))
        if table is None or table in analyzed:
            return analyzed
        analyzed.add(table)
