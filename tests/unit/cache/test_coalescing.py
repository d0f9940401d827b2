"""Concurrent puts of one key go together, in order, and do not fail for each other."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from services.cache.missions.coalescing import BATCH, Coalescer
from shared.deadline import Deadline
from shared.errors import Invalid, Unavailable


class Flushes:
    """Answers each item's double; -1 is refused, 0 finds the database away; `gate` holds every flush."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.gate = asyncio.Event()

    async def __call__(self, key: str, items: Sequence[int], deadline: Deadline) -> list[int]:
        self.batches.append(list(items))
        await self.gate.wait()
        if -1 in items:
            raise Invalid("refused")
        if 0 in items:
            raise Unavailable("postgres", "away")
        return [2 * item for item in items]


async def put_all(
    items: Sequence[int], open_after: float = 0.01
) -> tuple[Flushes, list[int | BaseException]]:
    flushes = Flushes()
    puts: Coalescer[str, int, int] = Coalescer(flushes)
    tasks = [asyncio.create_task(puts.put("m", item, Deadline(10))) for item in items]
    await asyncio.sleep(open_after)
    flushes.gate.set()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    await puts.stop()
    return flushes, list(results)


async def test_the_first_goes_alone_and_the_others_together() -> None:
    items = list(range(1, 2 * BATCH + 4))
    flushes, results = await put_all(items)
    assert results == [2 * item for item in items]
    assert [len(batch) for batch in flushes.batches] == [1, BATCH, BATCH, 2]
    assert [item for batch in flushes.batches for item in batch] == items


async def test_one_that_is_refused_does_not_fail_its_mates() -> None:
    flushes, results = await put_all([1, 2, -1, 3])
    assert [type(r) for r in results] == [int, int, Invalid, int]
    assert flushes.batches == [[1], [2, -1, 3], [2], [-1], [3]]


async def test_what_is_away_is_not_asked_for_each() -> None:
    flushes, results = await put_all([1, 2, 0, 3])
    assert [type(r) for r in results] == [int, Unavailable, Unavailable, Unavailable]
    assert flushes.batches == [[1], [2, 0, 3]]


async def test_the_first_may_fail_without_the_others() -> None:
    _, results = await put_all([-1, 2, 3])
    assert [type(r) for r in results] == [Invalid, int, int]


async def test_what_still_queues_at_its_deadline_is_not_written() -> None:
    flushes = Flushes()
    puts: Coalescer[str, int, int] = Coalescer(flushes)
    first = asyncio.create_task(puts.put("m", 1, Deadline(10)))
    await asyncio.sleep(0)
    with pytest.raises(Unavailable):
        await puts.put("m", 2, Deadline(0.01))
    flushes.gate.set()
    assert await first == 2
    await puts.stop()
    assert flushes.batches == [[1]]
    assert await puts.put("m", 3, Deadline(10)) == 6
