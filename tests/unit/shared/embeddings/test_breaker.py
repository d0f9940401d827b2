from __future__ import annotations

import asyncio

import pytest

from shared.concurrency.breaker import Breaker
from shared.embeddings.base import EmbedderUnavailable, Reason
from shared.embeddings.remote import guarded


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    return Breaker(failures=3, shortest=2.0, longest=5.0, clock=clock)


def fail(breaker: Breaker, reason: Reason = "failing") -> EmbedderUnavailable:
    with pytest.raises(EmbedderUnavailable) as raised, guarded(breaker):
        raise EmbedderUnavailable(reason)
    return raised.value


def succeed(breaker: Breaker) -> None:
    with guarded(breaker):
        pass


def test_opens_after_failures_in_a_row_only(breaker: Breaker) -> None:
    fail(breaker)
    fail(breaker)
    succeed(breaker)
    fail(breaker)
    fail(breaker)
    assert not breaker.is_open
    fail(breaker)
    assert breaker.is_open
    refused = fail(breaker)
    assert refused.reason == "breaker_open"
    assert refused.retry_after == pytest.approx(2.0)


def test_a_successful_probe_closes_it(breaker: Breaker, clock: Clock) -> None:
    for _ in range(3):
        fail(breaker)
    clock.now += 2.0
    succeed(breaker)
    assert not breaker.is_open
    fail(breaker)
    assert not breaker.is_open


def test_failed_probes_double_the_pause_up_to_the_longest(breaker: Breaker, clock: Clock) -> None:
    for _ in range(3):
        fail(breaker)
    pauses = []
    for _ in range(4):
        waiting = fail(breaker)
        assert waiting.retry_after is not None
        pauses.append(waiting.retry_after)
        clock.now += waiting.retry_after
        assert fail(breaker).reason == "failing"
    assert pauses == pytest.approx([2.0, 4.0, 5.0, 5.0])


def test_one_probe_at_a_time(breaker: Breaker, clock: Clock) -> None:
    for _ in range(3):
        fail(breaker)
    clock.now += 2.0
    with guarded(breaker):
        assert fail(breaker).reason == "breaker_open"
    assert not breaker.is_open


def test_late_failures_do_not_lengthen_the_pause(breaker: Breaker, clock: Clock) -> None:
    late = [guarded(breaker) for _ in range(3)]
    for guard in late:
        guard.__enter__()
    for _ in range(3):
        fail(breaker)
    clock.now += 1.0
    for guard in late:
        error = EmbedderUnavailable("slow")
        assert not guard.__exit__(EmbedderUnavailable, error, None)
    waiting = fail(breaker)
    assert waiting.retry_after == pytest.approx(1.0)


def test_a_cancelled_probe_lets_the_next_call_probe(breaker: Breaker, clock: Clock) -> None:
    for _ in range(3):
        fail(breaker)
    clock.now += 2.0
    with pytest.raises(asyncio.CancelledError), guarded(breaker):
        raise asyncio.CancelledError
    assert breaker.is_open
    succeed(breaker)
    assert not breaker.is_open


def test_a_refusal_is_about_the_call_and_not_the_server(breaker: Breaker) -> None:
    for _ in range(10):
        assert fail(breaker, "refused").reason == "refused"
    assert not breaker.is_open
