"""Work on a text, beside the event loop when the text is long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from shared.concurrency.worker import Worker

P = ParamSpec("P")
T = TypeVar("T")

# Up to this length, the work takes less than a millisecond, and not much more than a thread's start.
SHORT = 8_192
_WORKER = Worker()


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
