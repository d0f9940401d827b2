from __future__ import annotations

import asyncio
import contextlib

from shared.tasks import end


async def test_a_task_that_swallows_a_cancellation_ends_all_the_same() -> None:
    async def deaf() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        await asyncio.sleep(60)

    async def failing() -> None:
        raise ValueError

    tasks = [asyncio.create_task(one()) for one in (deaf, failing)]
    await asyncio.sleep(0)
    await asyncio.wait_for(end(*tasks), 30)
    assert all(task.done() for task in tasks)
    await end()
