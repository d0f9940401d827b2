"""Batches: what is written in the background, so that requests need not wait, and slices of a sequence."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

import structlog

from shared.concurrency.courtesy import for_all
from shared.concurrency.tasks import end
from shared.errors import AppError

log = structlog.get_logger()

T = TypeVar("T")

# A service ends within ten seconds, and what it works on may take five of them.
_STOP_SECONDS = 3.0


class Batcher(Generic[T]):
    """Passes added items to `write` in order, at most `size` at a time.

    `write` returns the items to keep for the next round. If it raises an AppError, the whole batch is kept. Any other
    error is a bug and loses the batch. Items beyond `limit` displace the oldest. `lost` receives the items that were
    displaced, lost by a bug, or not written before the end.

    A round begins `linger` seconds after the first item, but at least `pause` seconds after the previous round, or
    `retry` seconds if that round kept items. `hurry` ends a pause.
    """

    def __init__(
        self,
        what: str,
        write: Callable[[list[T]], Awaitable[Iterable[T]]],
        *,
        size: int,
        limit: int,
        linger: float = 0.0,
        pause: float = 0.0,
        retry: float = 0.5,
        lost: Callable[[Sequence[T]], None] = lambda _: None,
    ) -> None:
        self._what, self._write, self._lost = what, write, lost
        self._size, self._limit = size, limit
        self._linger, self._pause, self._retry = linger, pause, retry
        self._queue: deque[T] = deque()
        self._in_flight: list[T] = []
        self._since = 0.0
        self._wake = asyncio.Event()
        self._hurried = asyncio.Event()
        self._writing = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def stop(self, seconds: float = _STOP_SECONDS) -> None:
        """Waits for the current write and writes the waiting items, for at most `seconds` together."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                async with self._writing:  # an interrupted write may or may not have happened
                    await self._end()
                while self._queue and await self.flush():
                    pass
        await self._end()
        if left := self.waiting():
            self._queue.clear()
            self._lost(left)

    async def _end(self) -> None:
        if self._task is not None:
            await end(self._task)

    def add(self, item: T) -> None:
        self._queue.append(item)
        if len(self._queue) > self._limit:
            self._lost([self._queue.popleft()])
        self._wake.set()

    def hurry(self) -> None:
        """Somebody waits for what was added: no pause before the next round."""
        self._hurried.set()

    def waiting(self) -> list[T]:
        """The items not written yet, oldest first."""
        return [*self._in_flight, *self._queue]

    def __len__(self) -> int:
        """How many items wait for a write to begin."""
        return len(self._queue)

    @property
    def busy_seconds(self) -> float:
        """How long the current write has taken so far; 0 if there is none."""
        return time.monotonic() - self._since if self._in_flight else 0.0

    async def flush(self) -> bool:
        """Writes everything added so far, after the current write. False when some items must wait.

        What is added meanwhile is of the next round: under load, each write would take the few that the one before
        let in, and no round would end.
        """
        with for_all():
            return await self._flush()

    async def _flush(self) -> bool:
        async with self._writing:
            left = len(self._queue)
            while left > 0:
                batch = min(left, self._size)
                if not await self._write_batch(batch):
                    return False
                left -= batch
        return True

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            await asyncio.sleep(self._linger)
            self._wake.clear()
            self._hurried.clear()
            if await self.flush():
                await self._rest()
            else:
                await asyncio.sleep(self._retry)
                self._wake.set()

    async def _rest(self) -> None:
        # Not wait_for: before Python 3.12 it swallows a cancellation that arrives together with the event.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._pause):
                await self._hurried.wait()

    async def _write_batch(self, count: int) -> bool:
        batch = self._in_flight = [self._queue.popleft() for _ in range(min(count, len(self._queue)))]
        self._since = time.monotonic()
        left: Iterable[T] = batch
        try:
            left = list(await self._write(batch))
        except AppError as error:
            log.warning(f"{self._what}: put off", error=error.detail)
        except Exception as error:
            log.error(f"{self._what}: lost", exc_info=error)
            self._lost(batch)
            left = ()
        finally:
            self._in_flight = []
            self._queue.extendleft(reversed(list(left)))
        return not left


def slices(items: Iterable[T], size: Callable[[T], int], most: int) -> Iterator[list[T]]:
    """In order, each with sizes of at most `most` together, or one item."""
    some: list[T] = []
    left = most
    for item in items:
        if some and size(item) > left:
            yield some
            some, left = [], most
        some.append(item)
        left -= size(item)
    if some:
        yield some
