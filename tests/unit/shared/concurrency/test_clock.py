from __future__ import annotations

import time

import pytest

from shared.concurrency.clock import Clock

HOUR = 3_600.0


async def _fails() -> float:
    raise ConnectionError


@pytest.mark.parametrize("jump", [HOUR, -HOUR])
def test_a_clock_that_is_set_changes_nothing(monkeypatch: pytest.MonkeyPatch, jump: float) -> None:
    clock, now = Clock(), time.time
    before = clock.time()
    monkeypatch.setattr(time, "time", lambda: now() + jump)
    assert 0 <= clock.time() - before < HOUR / 2


async def test_it_shows_what_the_database_shows() -> None:
    clock = Clock()

    async def shown() -> float:
        return 1_000.0

    await clock.follow(shown)
    assert 1_000 <= clock.time() < 1_000 + HOUR / 2


async def test_it_goes_on_when_the_database_does_not_answer() -> None:
    clock = Clock()
    before = clock.time()
    with pytest.raises(ConnectionError):
        await clock.follow(_fails)
    assert 0 <= clock.time() - before < HOUR / 2


async def test_a_late_answer_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, elapsed = Clock(), time.monotonic
    before = clock.time()

    async def late() -> float:
        monkeypatch.setattr(time, "monotonic", lambda: elapsed() + 2)
        return 1_000.0

    await clock.follow(late)
    assert 2 <= clock.time() - before < HOUR / 2
