"""What keys used today: counted here, and added to the table now and then, off the hot path.

A replica knows its own counts at once and those of others as they were a moment ago (FLUSH_SECONDS and the time that a
key is remembered).
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

import structlog

from services.context.keys import queries
from shared.database.postgres import Database
from shared.deadline import Deadline
from shared.errors import AppError
from shared.tasks import end

log = structlog.get_logger()

FLUSH_SECONDS = 1.0
_KEEP_DAYS = 400
_SWEEP_EVERY = 3_600
_FORGET_SECONDS = 60.0


@dataclass(slots=True)
class Count:
    """Of one key, today: what the table holds, and what has not come there yet."""

    requests: int = 0
    tokens: int = 0
    new_requests: int = 0
    new_tokens: int = 0
    seen: float = 0.0

    def all_requests(self) -> int:
        return self.requests + self.new_requests

    def all_tokens(self) -> int:
        return self.tokens + self.new_tokens


class Usage:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._counts: dict[tuple[str, int], Count] = {}
        self._flushing = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        if self._task is not None:
            async with self._flushing:  # a flush that was broken off might count twice
                await end(self._task)
        await self._flush_quietly()

    def seen(self, tenant: str, key_id: int, requests: int, tokens: int) -> Count:
        """The key's count, with what the table held when it was looked at."""
        count = self._counts.setdefault((tenant, key_id), Count())
        count.seen = time.monotonic()
        # What is on its way may be in these figures, or not: the flush itself will tell.
        if not self._flushing.locked():
            count.requests, count.tokens = requests, tokens
        return count

    async def flush(self) -> None:
        async with self._flushing:
            taken = [
                (key, count, count.new_requests, count.new_tokens)
                for key, count in self._counts.items()
                if count.new_requests or count.new_tokens
            ]
            if not taken:
                return
            rows = await self._database.run(
                lambda c: queries.count_usage(
                    c,
                    [key[0] for key, *_ in taken],
                    [key[1] for key, *_ in taken],
                    [requests for *_, requests, _ in taken],
                    [tokens for *_, tokens in taken],
                ),
                Deadline(5.0),
            )
            totals = {(row["tenant"], row["key_id"]): row for row in rows}
            for key, count, requests, tokens in taken:
                count.requests, count.tokens = totals[key]["requests"], totals[key]["tokens"]
                count.new_requests -= requests
                count.new_tokens -= tokens

    async def _run(self) -> None:
        rounds = 0
        while True:
            await asyncio.sleep(FLUSH_SECONDS)
            await self._flush_quietly()
            self._forget()
            rounds += 1
            if rounds % _SWEEP_EVERY == 1:
                await self._sweep_quietly()

    async def _flush_quietly(self) -> None:
        try:
            await self.flush()
        except AppError as error:
            log.debug("usage of keys not counted yet", error=error.detail)
        except Exception as error:
            log.error("usage of keys not counted", exc_info=error)

    async def _sweep_quietly(self) -> None:
        try:
            await self._database.run(lambda c: queries.sweep_usage(c, _KEEP_DAYS), Deadline(30.0))
        except AppError as error:
            log.warning("usage of keys not swept", error=error.detail)
        except Exception as error:
            log.error("usage of keys not swept", exc_info=error)

    def _forget(self) -> None:
        old = time.monotonic() - _FORGET_SECONDS
        for key, count in [*self._counts.items()]:
            if count.seen < old and not count.new_requests and not count.new_tokens:
                del self._counts[key]
