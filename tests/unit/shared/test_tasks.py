from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine

import pytest

from shared.concurrency.tasks import background, end


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


async def test_background_tasks_end_with_their_context() -> None:
    ended: list[int] = []

    async def job(number: int) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(number)

    async with background(lambda: job(1), lambda: job(2)):
        await asyncio.sleep(0)
    assert sorted(ended) == [1, 2]


async def test_a_background_job_that_cannot_start_ends_those_before_it() -> None:
    before = asyncio.all_tasks()

    def fail() -> Coroutine[None, None, None]:
        raise ValueError

    with pytest.raises(ValueError):
        async with background(lambda: asyncio.sleep(60), fail):
            raise AssertionError
    assert asyncio.all_tasks() == before
