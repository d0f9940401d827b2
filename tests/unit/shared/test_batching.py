"""Batches: in order, none lost without a word, none written twice."""

import asyncio
from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from shared.concurrency.batching import Batcher, slices
from shared.errors import Unavailable


class Table:
    """Takes batches, and refuses as many as it is told to."""

    def __init__(self, refuse: int = 0, error: Exception | None = None) -> None:
        self.batches: list[list[int]] = []
        self.lost: list[int] = []
        self._refuse = refuse
        self._error = error or Unavailable("postgres", "away")

    async def write(self, batch: list[int]) -> tuple[()]:
        await asyncio.sleep(0)
        if self._refuse:
            self._refuse -= 1
            raise self._error
        self.batches.append(batch)
        return ()

    def batcher(self, size: int = 3, limit: int = 100) -> Batcher[int]:
        return Batcher("test", self.write, size=size, limit=limit, retry=0.01, lost=self._note)

    def _note(self, items: Sequence[int]) -> None:
        self.lost += items


async def settled(batcher: Batcher[int]) -> None:
    while batcher.waiting():
        await asyncio.sleep(0.005)


async def test_items_go_out_in_order_in_batches() -> None:
    table = Table()
    batcher = table.batcher()
    for number in range(7):
        batcher.add(number)
    batcher.start()
    await settled(batcher)
    assert table.batches == [[0, 1, 2], [3, 4, 5], [6]]
    await batcher.stop()


async def test_a_pause_gathers_items_until_somebody_waits_for_them() -> None:
    table = Table()
    batcher: Batcher[int] = Batcher("test", table.write, size=3, limit=100, pause=3_600.0)
    batcher.start()
    batcher.add(1)
    await settled(batcher)
    batcher.add(2)
    await asyncio.sleep(0.01)
    batcher.add(3)
    assert batcher.waiting() == [2, 3]
    batcher.hurry()
    await settled(batcher)
    assert table.batches == [[1], [2, 3]]
    await batcher.stop()


async def test_a_round_ends_though_each_write_lets_in_more() -> None:
    written: list[list[int]] = []

    async def write(batch: list[int]) -> tuple[()]:
        written.append(batch)
        batcher.add(batch[-1] + 1)
        return ()

    batcher: Batcher[int] = Batcher("test", write, size=2, limit=100, linger=3_600.0)
    for number in range(3):
        batcher.add(number)
    assert await batcher.flush()
    assert written == [[0, 1], [2]]
    assert batcher.waiting() == [2, 3]


async def test_the_end_writes_also_what_came_in_meanwhile() -> None:
    written: list[int] = []

    async def write(batch: list[int]) -> tuple[()]:
        written.extend(batch)
        if len(written) < 5:
            batcher.add(len(written))
        return ()

    batcher: Batcher[int] = Batcher("test", write, size=1, limit=100)
    batcher.add(0)
    await batcher.stop()
    assert written == [0, 1, 2, 3, 4]


async def test_what_is_refused_waits_in_its_place() -> None:
    table = Table(refuse=2)
    batcher = table.batcher()
    for number in range(4):
        batcher.add(number)
    batcher.start()
    await settled(batcher)
    assert table.batches == [[0, 1, 2], [3]]
    assert not table.lost
    await batcher.stop()


async def test_a_bug_loses_its_batch_only() -> None:
    table = Table(refuse=1, error=KeyError("bug"))
    batcher = table.batcher()
    for number in range(4):
        batcher.add(number)
    assert await batcher.flush()
    assert (table.batches, table.lost) == ([[3]], [0, 1, 2])


async def test_beyond_the_limit_the_oldest_are_lost() -> None:
    table = Table()
    batcher = table.batcher(limit=2)
    for number in range(4):
        batcher.add(number)
    assert (batcher.waiting(), table.lost) == ([2, 3], [0, 1])


async def test_stopping_writes_what_waits_or_says_what_is_lost() -> None:
    table, away = Table(), Table(refuse=1_000)
    for one, patience in ((table, 30), (away, 0.05)):
        batcher = one.batcher()
        batcher.start()
        batcher.add(1)
        await batcher.stop(patience)
    assert (table.batches, table.lost) == ([[1]], [])
    assert (away.batches, away.lost) == ([], [1])


async def test_stopping_waits_for_a_write_that_hangs_no_longer_than_asked() -> None:
    lost: list[int] = []

    async def hang(batch: list[int]) -> tuple[()]:
        await asyncio.Event().wait()
        return ()

    batcher: Batcher[int] = Batcher("test", hang, size=1, limit=10, lost=lost.extend)
    batcher.start()
    batcher.add(1)
    batcher.add(2)
    while not batcher.busy_seconds:
        await asyncio.sleep(0)
    async with asyncio.timeout(30):
        await batcher.stop(0.05)
    assert (lost, batcher.waiting()) == ([1, 2], [])


async def test_a_write_returns_what_has_to_wait() -> None:
    written: list[int] = []

    async def odd_ones_wait(batch: list[int]) -> list[int]:
        written.extend(number for number in batch if number % 2 == 0)
        return [number for number in batch if number % 2]

    batcher: Batcher[int] = Batcher("test", odd_ones_wait, size=10, limit=10)
    for number in range(4):
        batcher.add(number)
    assert not await batcher.flush()
    assert (written, batcher.waiting()) == ([0, 2], [1, 3])


@given(st.lists(st.integers(0, 30)), st.integers(1, 40))
def test_slices_hold_all_in_order_and_no_more_than_fits(sizes: list[int], most: int) -> None:
    found = list(slices(sizes, int, most))
    assert [size for some in found for size in some] == sizes
    assert all(len(some) == 1 or (len(some) > 0 and sum(some) <= most) for some in found)


@given(st.lists(st.integers(0, 30)), st.integers(1, 40))
def test_no_slice_has_room_for_the_next_item(sizes: list[int], most: int) -> None:
    found = list(slices(sizes, int, most))
    assert all(sum(some) + after[0] > most for some, after in pairwise(found))
