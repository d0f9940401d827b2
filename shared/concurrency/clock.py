"""The time of day, as the database tells it.

Replicas compare times with each other: a caller's identity expires, an event may not lie ahead. The clock of a machine
may be wrong, or be set while a service runs; the database's clock is one for all of them. Between two looks at it,
the monotonic clock goes on, which nobody sets.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from shared.concurrency.tasks import every

NOW = "select extract(epoch from clock_timestamp())::float8"
_EVERY_SECONDS = 30.0
# An answer that took longer says too little.
_MOST_SECONDS = 1.0


class Clock:
    """Until the database was asked, it goes on from what the machine said first."""

    def __init__(self) -> None:
        self._ahead = time.time() - time.monotonic()

    def time(self) -> float:
        """In Unix seconds."""
        return time.monotonic() + self._ahead

    async def follow(self, ask: Callable[[], Awaitable[float]]) -> None:
        """`ask` answers what the database's clock shows, in Unix seconds."""
        asked = time.monotonic()
        shown = await ask()
        answered = time.monotonic()
        if answered - asked <= _MOST_SECONDS:
            self._ahead = shown - (asked + answered) / 2


# One for the process: types that are decoded compare with it, and nothing is handed to them.
_CLOCK = Clock()


def unix() -> float:
    return _CLOCK.time()


def now() -> datetime:
    return datetime.fromtimestamp(_CLOCK.time(), UTC)


async def follow(ask: Callable[[], Awaitable[float]]) -> None:
    await _CLOCK.follow(ask)


async def follow_forever(ask: Callable[[], Awaitable[float]]) -> None:
    await every(_EVERY_SECONDS, "following the database's clock", lambda: follow(ask))
