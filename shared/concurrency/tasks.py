"""Tasks that run beside the requests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import structlog

from shared.errors import AppError

log = structlog.get_logger()

_PATIENCE = 0.5


async def every(seconds: float, what: str, work: Callable[[], Awaitable[Any]]) -> None:
    """Runs `work` now, and again `seconds` after each run. Failures are logged and do not stop it."""
    while True:
        try:
            await work()
        except AppError as error:
            log.warning(f"{what}: put off", error=error.detail)
        except Exception as error:
            log.error(f"{what}: failed", exc_info=error)
        await asyncio.sleep(seconds)


@asynccontextmanager
async def background(*jobs: Callable[[], Coroutine[Any, Any, None]]) -> AsyncIterator[None]:
    """Runs `jobs` as tasks for as long as the context is open."""
    tasks: list[asyncio.Task[None]] = []
    try:
        # One by one: if a job cannot start, those before it end.
        tasks.extend(asyncio.create_task(job()) for job in jobs)
        yield
    finally:
        await end(*tasks)


async def end(*tasks: asyncio.Task[Any]) -> None:
    """Cancels tasks until they are done. Libraries may swallow a cancellation, as the Redis client's timeouts do."""
    left = set(tasks)
    while left:
        for task in left:
            task.cancel()
        done, left = await asyncio.wait(left, timeout=_PATIENCE)
        for task in done:
            if not task.cancelled():
                task.exception()  # read it, or the event loop reports it
