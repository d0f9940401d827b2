"""Concurrent writes to one mission wait for the same lock, so whoever holds it may as well write for all.

A writer that finds nobody at work writes at once and alone. What comes meanwhile queues, and goes together, up to
BATCH at a time, as soon as that one is done.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Generic, TypeVar

from shared.deadline import Deadline
from shared.errors import AppError, Unavailable

BATCH = 32

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
R = TypeVar("R")


class _Waiting(Generic[T, R]):
    __slots__ = ("deadline", "done", "item")

    def __init__(self, item: T, deadline: Deadline) -> None:
        self.item = item
        self.deadline = deadline
        self.done: asyncio.Future[R] = asyncio.get_running_loop().create_future()


class Coalescer(Generic[K, T, R]):
    """`flush(key, items, deadline)` answers a result for each item, in order.

    When it fails for several at once for what one of them holds, each is tried alone.
    """

    def __init__(self, flush: Callable[[K, Sequence[T], Deadline], Awaitable[Sequence[R]]]) -> None:
        self._flush = flush
        self._queues: dict[K, deque[_Waiting[T, R]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def put(self, key: K, item: T, deadline: Deadline) -> R:
        """Raises what `flush` raised, or Unavailable at the deadline: then the item may or may not be written."""
        queue = self._queues.get(key)
        if queue is not None:
            return await self._queued(queue, item, deadline)
        self._queues[key] = deque()
        try:
            return (await self._flush(key, [item], deadline))[0]
        finally:
            self._go_on(key)

    async def stop(self) -> None:
        """Waits for what is under way."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _queued(self, queue: deque[_Waiting[T, R]], item: T, deadline: Deadline) -> R:
        waiting: _Waiting[T, R] = _Waiting(item, deadline)
        queue.append(waiting)
        try:
            # Cancels it at the deadline: what still queues then is not written.
            return await asyncio.wait_for(waiting.done, deadline.left())
        except TimeoutError as error:
            raise Unavailable("postgres", "the database did not answer in time") from error

    def _go_on(self, key: K) -> None:
        if not self._queues[key]:
            del self._queues[key]
            return
        task = asyncio.create_task(self._drain(key))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _drain(self, key: K) -> None:
        queue = self._queues[key]
        while queue:
            batch: list[_Waiting[T, R]] = []
            while queue and len(batch) < BATCH:
                waiting = queue.popleft()
                if not waiting.done.done():
                    batch.append(waiting)
            if batch:
                await self._write(key, batch)
        del self._queues[key]

    async def _write(self, key: K, batch: Sequence[_Waiting[T, R]]) -> None:
        latest = max((waiting.deadline for waiting in batch), key=lambda deadline: deadline.at)
        try:
            results = await self._flush(key, [waiting.item for waiting in batch], latest)
        except Exception as error:
            if len(batch) > 1 and not _of_all(error):
                for waiting in batch:
                    await self._write(key, [waiting])
                return
            for waiting in batch:
                if not waiting.done.done():
                    waiting.done.set_exception(error)
            return
        for waiting, result in zip(batch, results, strict=True):
            if not waiting.done.done():
                waiting.done.set_result(result)


def _of_all(error: Exception) -> bool:
    """Whether the failure says nothing about a single item: the database is away, or refuses for now."""
    return isinstance(error, AppError) and error.status >= 500
