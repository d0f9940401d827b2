"""Writes to one mission need the same lock, so concurrent ones are combined and its holder writes them all.

A write that finds no other in progress runs at once, alone, and so does a batch of writes. Writes that arrive meanwhile
queue, and run together when it is done, up to BATCH at a time.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Generic, TypeVar

from shared.database.postgres import Connection, Work
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
    """`write(connection, key, items)` returns a result per item, in order. `run` gives it a connection.

    If a batch fails because of one of its items, each item is tried alone.
    """

    def __init__(
        self,
        run: Callable[[Work[Sequence[R]], Deadline], Awaitable[Sequence[R]]],
        write: Callable[[Connection, K, Sequence[T]], Awaitable[Sequence[R]]],
    ) -> None:
        self._run = run
        self._write = write
        self._queues: dict[K, deque[_Waiting[T, R]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def put(self, key: K, item: T, deadline: Deadline) -> R:
        """Raises the error of `write`, or Unavailable at the deadline; the item may still have been written."""
        queue = self._queues.get(key)
        if queue is not None:
            return await self._queued(queue, item, deadline)
        self._queues[key] = deque()
        try:
            return (await self._run(lambda c: self._write(c, key, [item]), deadline))[0]
        finally:
            self._go_on(key)

    async def put_all(self, key: K, items: Sequence[T], deadline: Deadline) -> list[R | BaseException]:
        """What `put` returns or raises for each item, in order. They are written together, unless others come first."""
        waiting = [_Waiting[T, R](item, deadline) for item in items]
        queue = self._queues.get(key)
        if queue is not None:
            queue.extend(waiting)
            return await self._outcomes(waiting, deadline)
        self._queues[key] = deque()
        try:
            await self._write_batch(key, waiting)
        finally:
            self._go_on(key)
        return await self._outcomes(waiting, deadline)

    async def stop(self) -> None:
        """Waits for the current writes."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _queued(self, queue: deque[_Waiting[T, R]], item: T, deadline: Deadline) -> R:
        waiting: _Waiting[T, R] = _Waiting(item, deadline)
        queue.append(waiting)
        try:
            # The deadline cancels the future, so an item that is still queued is not written.
            return await asyncio.wait_for(waiting.done, deadline.left())
        except TimeoutError as error:
            raise _late() from error

    async def _outcomes(
        self, waiting: Sequence[_Waiting[T, R]], deadline: Deadline
    ) -> list[R | BaseException]:
        futures = [each.done for each in waiting]
        try:
            await asyncio.wait(futures, timeout=deadline.left())
        finally:
            for future in futures:
                future.cancel()
        return [
            _late() if future.cancelled() else future.exception() or future.result() for future in futures
        ]

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
                await self._write_batch(key, batch)
        del self._queues[key]

    async def _write_batch(self, key: K, batch: Sequence[_Waiting[T, R]]) -> None:
        latest = max((waiting.deadline for waiting in batch), key=lambda deadline: deadline.at)
        items = [waiting.item for waiting in batch]
        try:
            results = await self._run(lambda c: self._write(c, key, items), latest)
        except Exception as error:
            if len(batch) > 1 and not _concerns_every_item(error):
                for waiting in batch:
                    await self._write_batch(key, [waiting])
                return
            for waiting in batch:
                if not waiting.done.done():
                    waiting.done.set_exception(error)
            return
        for waiting, result in zip(batch, results, strict=True):
            if not waiting.done.done():
                waiting.done.set_result(result)


def _late() -> Unavailable:
    return Unavailable("postgres", "the database did not answer in time")


def _concerns_every_item(error: Exception) -> bool:
    """Whether the database is unavailable, or refuses everything for now."""
    return isinstance(error, AppError) and error.status >= 500
