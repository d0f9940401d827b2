from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from shared.concurrency.breaker import Breaker
from shared.concurrency.calls import Reason, guarded
from shared.embeddings.base import EmbedderUnavailable


class Dependency:
    """Answers probes as told, and counts them. Pauses end when the test says so."""

    def __init__(self) -> None:
        self.well = True
        self.hangs = False
        self.probes = 0
        self.pauses: list[float] = []
        self._turn = asyncio.Event()

    async def probe(self) -> None:
        self.probes += 1
        if self.hangs:
            await asyncio.sleep(3_600)
        if not self.well:
            raise ConnectionError

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self._turn.clear()
        await self._turn.wait()

    async def pause_ends(self) -> None:
        self._turn.set()
        await settle()


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.fixture
def dependency() -> Dependency:
    return Dependency()


@pytest.fixture
async def breaker(dependency: Dependency) -> AsyncIterator[Breaker]:
    breaker = Breaker(
        "it",
        dependency.probe,
        failures=3,
        probe_seconds=0.02,
        shortest=2.0,
        longest=5.0,
        sleep=dependency.sleep,
    )
    yield breaker
    await breaker.close()


def fail(breaker: Breaker, reason: Reason = "failing") -> EmbedderUnavailable:
    with pytest.raises(EmbedderUnavailable) as raised, guarded(breaker, EmbedderUnavailable):
        raise EmbedderUnavailable(reason)
    return raised.value


def succeed(breaker: Breaker) -> None:
    with guarded(breaker, EmbedderUnavailable):
        pass


async def open_(breaker: Breaker, dependency: Dependency) -> None:
    dependency.well = False
    for _ in range(3):
        fail(breaker)
    await settle()
    assert breaker.is_open


async def test_failed_calls_open_nothing_while_the_probe_succeeds(
    breaker: Breaker, dependency: Dependency
) -> None:
    for _ in range(10):
        for _ in range(3):
            fail(breaker)
        await settle()
        assert not breaker.is_open
    assert dependency.probes == 10


async def test_only_failures_in_a_row_ask_for_a_probe(breaker: Breaker, dependency: Dependency) -> None:
    for _ in range(5):
        fail(breaker)
        fail(breaker)
        succeed(breaker)
    await settle()
    assert dependency.probes == 0


async def test_many_failures_at_once_ask_for_one_probe(breaker: Breaker, dependency: Dependency) -> None:
    for _ in range(50):
        fail(breaker)
    await settle()
    assert dependency.probes == 1


async def test_a_failed_probe_opens_it_and_says_how_long_to_wait(
    breaker: Breaker, dependency: Dependency
) -> None:
    await open_(breaker, dependency)
    refused = fail(breaker)
    assert refused.reason == "breaker_open"
    assert refused.retry_after == pytest.approx(2.0)


async def test_a_probe_without_an_answer_opens_it(breaker: Breaker, dependency: Dependency) -> None:
    dependency.hangs = True
    for _ in range(3):
        fail(breaker)
    async with asyncio.timeout(60):
        while not breaker.is_open:
            await asyncio.sleep(0.01)


async def test_the_first_answered_probe_closes_it(breaker: Breaker, dependency: Dependency) -> None:
    await open_(breaker, dependency)
    dependency.well = True
    await dependency.pause_ends()
    assert not breaker.is_open
    succeed(breaker)
    fail(breaker)
    await settle()
    assert dependency.probes == 2


async def test_failed_probes_double_the_pause_up_to_the_longest(
    breaker: Breaker, dependency: Dependency
) -> None:
    await open_(breaker, dependency)
    for _ in range(3):
        await dependency.pause_ends()
    assert dependency.pauses == [2.0, 4.0, 5.0, 5.0]


async def test_a_late_success_does_not_close_it(breaker: Breaker, dependency: Dependency) -> None:
    late = guarded(breaker, EmbedderUnavailable)
    late.__enter__()
    await open_(breaker, dependency)
    late.__exit__(None, None, None)
    assert breaker.is_open


async def test_a_refusal_is_about_the_call_and_not_the_server(
    breaker: Breaker, dependency: Dependency
) -> None:
    for _ in range(10):
        assert fail(breaker, "refused").reason == "refused"
    await settle()
    assert dependency.probes == 0
