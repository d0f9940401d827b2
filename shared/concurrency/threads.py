"""Work on a text, beside the event loop when the text is long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from shared.concurrency.batching import slices
from shared.concurrency.courtesy import make_way, steps_back
from shared.concurrency.turns import Turns
from shared.concurrency.worker import Worker

P = ParamSpec("P")
T = TypeVar("T")
Item = TypeVar("Item")

# Up to this length, the work takes less than a millisecond, and not much more than a thread's start.
SHORT = 8_192
# To send many short texts to another process and to wait for it takes longer than to read so many characters here.
_HERE = 6 * SHORT
# What an item takes besides its text, in characters of text that would take as long.
_ITEM = 250
# Seconds that an attempt waits for the worker to be free, and to answer.
_PATIENCE = 3.0


class _Lane:
    """A worker process, and a thread for those who have to wait for it: they take none from other work."""

    def __init__(self, *, spare: bool = False) -> None:
        self.worker = Worker(spare=spare)
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="worker")
        self.turns = Turns()


_LANE = _Lane()
# For requests that step back for others: its process gets the time of processors that nobody else wants.
_BACK = _Lane(spare=True)


async def beside(length: int, work: Callable[P, T], *arguments: P.args, **more: P.kwargs) -> T:
    """The result of `work`, which reads a text of this length.

    Nobody else's request waits for a long text: another process reads it if `work` can be pickled, or else a thread.
    """
    if length <= SHORT:
        return work(*arguments, **more)
    return await in_worker(work, *arguments, **more)


async def beside_each(
    items: Sequence[Item], length: Callable[[Item], int], work: Callable[[Sequence[Item]], list[T]]
) -> list[T]:
    """What `work` makes of the items, whose texts have these lengths: a result for each, in order.

    Nobody else's request waits longer than for a text that is not long: a few such are read one slice after the other.
    """
    lengths = [_ITEM + length(item) for item in items]
    every = sum(lengths)
    if every <= SHORT or every > _HERE:
        return await beside(every, work, items)
    results: list[T] = []
    for part in slices(zip(items, lengths, strict=True), _length, SHORT):
        results += await beside(sum(map(_length, part)), work, [item for item, _ in part])
        await asyncio.sleep(0)
    return results


def _length(item: tuple[Item, int]) -> int:
    return item[1]


async def in_worker(work: Callable[P, T], *arguments: P.args, **more: P.kwargs) -> T:
    """The result of `work`, however short the text is: for work that may take long with any."""
    await make_way()
    lane = _lane()
    if lane is _LANE:
        return await asyncio.to_thread(lambda: lane.worker.run(work, *arguments, **more))
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(lane.thread, lambda: lane.worker.run(work, *arguments, **more))


async def attempt(tenant: str, work: Callable[[], T]) -> T:
    """The result of `work`, done by the worker process alone: for work that a text can make endless.

    It has to be picklable. Tenants take turns. Raises Endless if it was tried with `try_first` and did not end, and
    TimeoutError if its turn did not come in time, or the worker did not answer in time.
    """
    await make_way()
    lane, loop = _lane(), asyncio.get_running_loop()
    async with asyncio.timeout(_PATIENCE), lane.turns.turn(tenant):
        return await loop.run_in_executor(lane.thread, lane.worker.attempt, _PATIENCE, work)


def _lane() -> _Lane:
    return _BACK if steps_back() and _BACK.worker.ready() else _LANE
