"""Concurrent puts of one key go together, in order, and do not fail for each other."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import cast

import pytest

from services.cache.entries.coalescing import BATCH, Coalescer
from shared.database.postgres import Connection, Work
from shared.deadline import Deadline
from shared.errors import Invalid, Unavailable


class Writes:
    """Answers each item's double; -1 is refused, 0 finds the database away; `gate` holds every write."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.gate = asyncio.Event()

    async def __call__(self, connection: Connection, key: str, items: Sequence[int]) -> list[int]:
        self.batches.append(list(items))
        await self.gate.wait()
        if -1 in items:
            raise Invalid("refused")
        if 0 in items:
            raise Unavailable("postgres", "away")
        return [2 * item for item in items]


async def run(work: Work[Sequence[int]], _: Deadline) -> Sequence[int]:
    """A connection that nobody uses."""
    return await work(cast("Connection", None))


async def put_all(items: Sequence[int], open_after: float = 0.01) -> tuple[Writes, list[int | BaseException]]:
    writes = Writes()
    puts: Coalescer[str, int, int] = Coalescer(run, writes)
    tasks = [asyncio.create_task(puts.put("m", item, Deadline(10))) for item in items]
    await asyncio.sleep(open_after)
    writes.gate.set()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    await puts.stop()
    return writes, list(results)


async def test_the_first_goes_alone_and_the_others_together() -> None:
    items = list(range(1, 2 * BATCH + 4))
    writes, results = await put_all(items)
    assert results == [2 * item for item in items]
    assert [len(batch) for batch in writes.batches] == [1, BATCH, BATCH, 2]
    assert [item for batch in writes.batches for item in batch] == items


async def test_one_that_is_refused_does_not_fail_its_mates() -> None:
    writes, results = await put_all([1, 2, -1, 3])
    assert [type(r) for r in results] == [int, int, Invalid, int]
    assert writes.batches == [[1], [2, -1, 3], [2], [-1], [3]]


async def test_what_is_away_is_not_asked_for_each() -> None:
    writes, results = await put_all([1, 2, 0, 3])
    assert [type(r) for r in results] == [int, Unavailable, Unavailable, Unavailable]
    assert writes.batches == [[1], [2, 0, 3]]


async def test_the_first_may_fail_without_the_others() -> None:
    _, results = await put_all([-1, 2, 3])
    assert [type(r) for r in results] == [Invalid, int, int]


async def test_what_still_queues_at_its_deadline_is_not_written() -> None:
    writes = Writes()
    puts: Coalescer[str, int, int] = Coalescer(run, writes)
    first = asyncio.create_task(puts.put("m", 1, Deadline(10)))
    await asyncio.sleep(0)
    with pytest.raises(Unavailable):
        await puts.put("m", 2, Deadline(0.01))
    writes.gate.set()
    assert await first == 2
    await puts.stop()
    assert writes.batches == [[1]]
    assert await puts.put("m", 3, Deadline(10)) == 6


async def test_a_batch_goes_as_it_is() -> None:
    writes = Writes()
    writes.gate.set()
    puts: Coalescer[str, int, int] = Coalescer(run, writes)
    items = list(range(1, 3 * BATCH))
    assert await puts.put_all("m", items, Deadline(10)) == [2 * item for item in items]
    assert writes.batches == [items]


async def test_a_batch_waits_for_those_before_it() -> None:
    writes = Writes()
    puts: Coalescer[str, int, int] = Coalescer(run, writes)
    first = asyncio.create_task(puts.put("m", 1, Deadline(10)))
    await asyncio.sleep(0.01)
    batch = asyncio.create_task(puts.put_all("m", [2, 3], Deadline(10)))
    await asyncio.sleep(0.01)
    last = asyncio.create_task(puts.put("m", 4, Deadline(10)))
    await asyncio.sleep(0.01)
    writes.gate.set()
    assert [await first, await batch, await last] == [2, [4, 6], 8]
    assert writes.batches == [[1], [2, 3, 4]]


async def test_each_of_a_batch_has_its_own_outcome() -> None:
    writes = Writes()
    writes.gate.set()
    puts: Coalescer[str, int, int] = Coalescer(run, writes)
    outcomes = await puts.put_all("m", [1, -1, 3], Deadline(10))
    assert [type(outcome) for outcome in outcomes] == [int, Invalid, int]


async def test_a_batch_ends_at_its_deadline() -> None:
    writes = Writes()
    puts: Coalescer[str, int, int] = Coalescer(run, writes)
    first = asyncio.create_task(puts.put("m", 1, Deadline(10)))
    await asyncio.sleep(0.01)
    outcomes = await puts.put_all("m", [2, 3], Deadline(0.05))
    assert [type(outcome) for outcome in outcomes] == [Unavailable, Unavailable]
    writes.gate.set()
    assert await first == 2
    await puts.stop()
    assert writes.batches == [[1]]
