"""Counts what keys use each day: in memory, with regular additions to the table off the hot path.

A replica knows its own counts at once, and those of others with a delay: FLUSH_SECONDS plus the time that a verified
key is remembered.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

import structlog

from services.context.keys import queries
from shared.concurrency.tasks import end, every
from shared.database.postgres import EVERY_TENANT, Database
from shared.deadline import Deadline
from shared.errors import AppError

log = structlog.get_logger()

FLUSH_SECONDS = 1.0
_KEEP_DAYS = 400
_WRITE_SECONDS = 5.0
_SWEEP_SECONDS = 3_600.0
_SWEEP_TIMEOUT = 30.0
_FORGET_SECONDS = 60.0


@dataclass(slots=True)
class Count:
    """A key's usage today: the table's counts, and those not yet added to it."""

    requests: int = 0
    tokens: int = 0
    new_requests: int = 0
    new_tokens: int = 0
    seen: float = 0.0

    def all_requests(self) -> int:
        return self.requests + self.new_requests

    def all_tokens(self) -> int:
        return self.tokens + self.new_tokens

    def is_new(self) -> bool:
        """Whether some usage is not yet in the table."""
        return bool(self.new_requests or self.new_tokens)


class _New:
    """A key's new usage when a flush begins. Requests keep counting during the flush."""

    __slots__ = ("count", "key_id", "requests", "tenant", "tokens")

    def __init__(self, key: tuple[str, int], count: Count) -> None:
        self.tenant, self.key_id = key
        self.count = count
        self.requests, self.tokens = count.new_requests, count.new_tokens


class Usage:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._counts: dict[tuple[str, int], Count] = {}
        self._flushing = asyncio.Lock()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        self._tasks = [
            asyncio.create_task(every(FLUSH_SECONDS, "usage of keys", self._flush_and_forget)),
            asyncio.create_task(every(_SWEEP_SECONDS, "sweep of keys' usage", self._sweep)),
        ]

    async def stop(self) -> None:
        async with self._flushing:  # an interrupted flush might count twice
            await end(*self._tasks)
        try:
            await self.flush()
        except AppError as error:
            log.warning("usage of keys lost", error=error.detail)

    def seen(self, tenant: str, key_id: int, requests: int, tokens: int) -> Count:
        """The key's count, updated with the table's counts that were just read."""
        count = self._counts.setdefault((tenant, key_id), Count())
        count.seen = time.monotonic()
        # During a flush these figures may or may not include it. The flush itself returns the right ones.
        if not self._flushing.locked():
            count.requests, count.tokens = requests, tokens
        return count

    async def flush(self) -> None:
        async with self._flushing:
            if taken := [_New(key, count) for key, count in self._counts.items() if count.is_new()]:
                await self._write(taken)

    async def _write(self, taken: list[_New]) -> None:
        rows = await self._database.run(
            EVERY_TENANT,
            lambda c: queries.count_usage(
                c,
                tenants=[new.tenant for new in taken],
                ids=[new.key_id for new in taken],
                requests=[new.requests for new in taken],
                tokens=[new.tokens for new in taken],
            ),
            Deadline(_WRITE_SECONDS),
        )
        totals = {(row["tenant"], row["key_id"]): row for row in rows}
        for new in taken:
            if (total := totals.get((new.tenant, new.key_id))) is not None:
                new.count.requests, new.count.tokens = total["requests"], total["tokens"]
            new.count.new_requests -= new.requests
            new.count.new_tokens -= new.tokens

    async def _flush_and_forget(self) -> None:
        await self.flush()
        self._forget()

    async def _sweep(self) -> None:
        await self._database.run(
            EVERY_TENANT, lambda c: queries.sweep_usage(c, _KEEP_DAYS), Deadline(_SWEEP_TIMEOUT)
        )

    def _forget(self) -> None:
        old = time.monotonic() - _FORGET_SECONDS
        for key, count in [*self._counts.items()]:
            if count.seen < old and not count.is_new():
                del self._counts[key]
