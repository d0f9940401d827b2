import asyncio
from collections.abc import Awaitable, Callable

import pytest

from services.context.forwarding import hedging
from services.context.forwarding.hedging import Hedge


class CutOffError(Exception):
    pass


class Reads:
    """Each read does the next of `behaviours`, the last one for ever."""

    def __init__(self, *behaviours: Callable[[], Awaitable[str]]) -> None:
        self.started = 0
        self.cancelled = 0
        self._behaviours = behaviours

    async def __call__(self) -> str:
        behaviour = self._behaviours[min(self.started, len(self._behaviours) - 1)]
        self.started += 1
        try:
            return await behaviour()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise


async def at_once() -> str:
    return "at once"


async def never() -> str:
    await asyncio.Event().wait()
    return "never"


async def cut_off() -> str:
    raise CutOffError


async def refused() -> str:
    raise ValueError("refused")


async def used_to_fast() -> Hedge:
    hedge = Hedge("owner")
    for _ in range(64):
        await hedge.first(Reads(at_once), again_on=CutOffError)
    return hedge


async def test_a_read_in_time_is_sent_once() -> None:
    reads = Reads(at_once)
    assert await Hedge("owner").first(reads, again_on=CutOffError) == "at once"
    assert reads.started == 1


async def test_a_late_read_is_sent_again_and_given_up_when_that_answers() -> None:
    hedge = await used_to_fast()
    reads = Reads(never, at_once)
    assert await hedge.first(reads, again_on=CutOffError) == "at once"
    await asyncio.sleep(0)
    assert (reads.started, reads.cancelled) == (2, 1)


async def test_a_cut_off_read_is_sent_again_once() -> None:
    hedge = Hedge("owner")
    assert await hedge.first(Reads(cut_off, at_once), again_on=CutOffError) == "at once"
    reads = Reads(cut_off)
    with pytest.raises(CutOffError):
        await hedge.first(reads, again_on=CutOffError)
    assert reads.started == 2


async def test_a_refusal_is_an_answer() -> None:
    reads = Reads(refused, at_once)
    with pytest.raises(ValueError, match="refused"):
        await Hedge("owner").first(reads, again_on=CutOffError)
    assert reads.started == 1


async def test_only_a_share_is_sent_twice() -> None:
    hedge = await used_to_fast()
    answer = asyncio.Event()

    async def late() -> str:
        await answer.wait()
        return "late"

    reads = Reads(late)
    asked = [asyncio.create_task(hedge.first(reads, again_on=CutOffError)) for _ in range(100)]
    while reads.started <= 100:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.2)
    answer.set()
    await asyncio.gather(*asked)
    assert 100 < reads.started <= 100 + 100 * hedging.SHARE + 5


async def test_giving_up_gives_up_both() -> None:
    hedge = await used_to_fast()
    reads = Reads(never)
    asked = asyncio.create_task(hedge.first(reads, again_on=CutOffError))
    while reads.started < 2:
        await asyncio.sleep(0.01)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    await asyncio.sleep(0)
    assert (reads.started, reads.cancelled) == (2, 2)
