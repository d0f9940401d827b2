"""Work on a text, beside the event loop when the text is long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from shared.concurrency.turns import Turns
from shared.concurrency.worker import Worker

P = ParamSpec("P")
T = TypeVar("T")

# Up to this length, the work takes less than a millisecond, and not much more than a thread's start.
SHORT = 8_192
# Seconds that an attempt waits for the worker to be free, and to answer.
_PATIENCE = 3.0
_WORKER = Worker()
# Attempts wait here, so that they take no thread from other work.
_LANE = ThreadPoolExecutor(1, thread_name_prefix="worker")
_TURNS = Turns()


async def beside(length: int, work: Callable[P, T], *arguments: P.args, **more: P.kwargs) -> T:
    """The result of `work`, which reads a text of this length.

    Nobody else's request waits for a long text: another process reads it if `work` can be pickled, or else a thread.
    """
    if length <= SHORT:
        return work(*arguments, **more)
    return await in_worker(work, *arguments, **more)


async def in_worker(work: Callable[P, T], *arguments: P.args, **more: P.kwargs) -> T:
    """The result of `work`, however short the text is: for work that may take long with any."""
    return await asyncio.to_thread(lambda: _WORKER.run(work, *arguments, **more))


async def attempt(tenant: str, work: Callable[[], T]) -> T:
    """The result of `work`, done by the worker process alone: for work that a text can make endless.

    It has to be picklable. Tenants take turns. Raises Endless if it was tried with `try_first` and did not end, and
    TimeoutError if its turn did not come in time, or the worker did not answer in time.
    """
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(_PATIENCE), _TURNS.turn(tenant):
        return await loop.run_in_executor(_LANE, _WORKER.attempt, _PATIENCE, work)
