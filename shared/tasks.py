"""Tasks that run beside the requests."""

from __future__ import annotations

import asyncio
from typing import Any

_PATIENCE = 0.5


async def end(*tasks: asyncio.Task[Any]) -> None:
    """Cancels them until they are done: a library's own timeouts may swallow a cancellation, the Redis client's do."""
    left = set(tasks)
    while left:
        for task in left:
            task.cancel()
        done, left = await asyncio.wait(left, timeout=_PATIENCE)
        for task in done:
            if not task.cancelled():
                task.exception()  # looked at, or it would be reported as forgotten
