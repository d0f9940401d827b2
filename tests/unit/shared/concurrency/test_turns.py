"""Few at a time, and tenant by tenant."""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress

import pytest

from shared.concurrency.turns import Rounds, Turns


async def _work(turns: Turns, tenant: str, done: list[str], running: list[str]) -> None:
    async with turns.turn(tenant):
        running.append(tenant)
        assert len(running) == 1
        await asyncio.sleep(0)
        running.remove(tenant)
        done.append(tenant)


async def test_tenants_take_turns() -> None:
    turns, done = Turns(), list[str]()
    running: list[str] = []
    await asyncio.gather(*(_work(turns, tenant, done, running) for tenant in "aaaaabbc"))
    assert "".join(done) == "aabcabaa"


async def test_as_many_turns_run_at_once_as_there_may() -> None:
    turns, done, running = Turns(2), list[str](), list[str]()
    most = 0

    async def work(tenant: str) -> None:
        nonlocal most
        async with turns.turn(tenant):
            running.append(tenant)
            most = max(most, len(running))
            await asyncio.sleep(0)
            running.remove(tenant)
            done.append(tenant)

    for _ in range(2):
        await asyncio.gather(*map(work, "aaaaab"))
        assert (most, "".join(done)) == (2, "aaabaa")
        done.clear()


async def test_a_turn_passes_on_when_the_work_fails() -> None:
    turns = Turns()
    with pytest.raises(ValueError, match="wrong"):
        async with turns.turn("a"):
            raise ValueError("wrong")
    async with asyncio.timeout(1), turns.turn("b"):
        pass


async def test_who_gives_up_waiting_holds_up_nobody() -> None:
    turns, done, running = Turns(), list[str](), list[str]()
    async with turns.turn("a"):
        waiting = [asyncio.create_task(_work(turns, tenant, done, running)) for tenant in "bbc"]
        await asyncio.sleep(0)
        waiting[0].cancel()
        with suppress(asyncio.CancelledError):
            await waiting[0]
    await asyncio.gather(*waiting[1:])
    assert sorted(done) == ["b", "c"]


async def test_who_gives_up_as_its_turn_comes_hands_it_on() -> None:
    turns, done, running = Turns(), list[str](), list[str]()
    async with turns.turn("a"):
        waiting = [asyncio.create_task(_work(turns, tenant, done, running)) for tenant in "bc"]
        await asyncio.sleep(0)
    # Its turn has come, but it has not run yet.
    waiting[0].cancel()
    async with asyncio.timeout(1):
        await waiting[1]
    assert done == ["c"]
    async with asyncio.timeout(1), turns.turn("d"):
        pass


async def test_between_rounds_of_long_steps_the_event_loop_does_what_is_short() -> None:
    rounds, done = Rounds(3), list[str]()

    async def long(name: str) -> None:
        await rounds.step()
        done.append(name)

    async def short() -> None:
        for _ in range(30):
            await asyncio.sleep(0)
            done.append(".")

    await asyncio.gather(*map(long, "abcdefg"), short())
    steps = "".join(done)
    assert re.sub(r"\.+", " ", steps).split() == ["a", "bc", "de", "f", "g"]
    assert min(map(len, re.split("[a-g]+", steps)[1:])) >= 3
    for name in "hi":
        await long(name)


async def test_a_long_step_that_nobody_waits_for_begins_at_once() -> None:
    step = asyncio.ensure_future(Rounds(3).step())
    await asyncio.sleep(0)
    assert step.done()


async def test_a_round_goes_on_without_who_gave_up() -> None:
    rounds = Rounds(3)
    waiting = [asyncio.ensure_future(rounds.step()) for _ in range(5)]
    await asyncio.sleep(0)
    for each in waiting[1:4]:
        each.cancel()
    async with asyncio.timeout(1):
        await asyncio.gather(*waiting, return_exceptions=True)
        await rounds.step()
