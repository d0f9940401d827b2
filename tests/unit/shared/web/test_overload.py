"""The gate in front of a simulated service: one core for the door, one for the rest, each shared by all requests."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from shared.web.door.fairness import Share, Work
from shared.web.door.overload import LEAST, Gate

STEP = 5e-4
PILE = 64
CAPACITY = 440
"""Requests a second, with the times below."""


@dataclass
class Request:
    arrived: float
    work: Work
    needs: list[float]
    """Seconds still needed: of the door, of the rest, of the door again."""
    stage: int = 0


@dataclass
class Outcome:
    answered: list[tuple[float, float]] = field(default_factory=list)
    """When it came, and how long it took."""
    refused: list[float] = field(default_factory=list)
    late: int = 0

    def percentile(self, share: float, since: float = 1.0) -> float:
        ordered = sorted(took for came, took in self.answered if came >= since)
        return ordered[int(share * len(ordered))]

    def per_second(self, start: float, end: float) -> float:
        return sum(start <= came < end for came, _ in self.answered) / (end - start)

    def refusals(self, start: float, end: float) -> float:
        """Their share of what came in that time."""
        refused = sum(start <= came < end for came in self.refused)
        return refused / max(1, refused + round(self.per_second(start, end) * (end - start)))


def enter(gate: Gate, now: float, tenant: str = "acme") -> Work | None:
    """A request that runs at once."""
    work = gate.enter(tenant, now)
    if work is not None:
        gate.run(work, now)
    return work


class Service:
    def __init__(
        self, gate: Gate | None, *, times: float = 1.0, deadline: float = 2.0, seed: int = 5
    ) -> None:
        self.gate = gate
        self._times, self._deadline = times, deadline
        self._random = random.Random(seed)
        self._at_door: list[Request] = []
        self._elsewhere: list[Request] = []
        self.outcome = Outcome()

    @property
    def busy(self) -> int:
        return len(self._at_door) + len(self._elsewhere)

    def ask(self, now: float) -> None:
        work = enter(self.gate, now) if self.gate else Work(now, Share("", now))
        if work is None:
            self.outcome.refused.append(now)
            return
        half = 1e-3 * self._random.lognormvariate(0, 0.3) * self._times
        rest = 2e-3 * self._random.lognormvariate(0, 0.5) * self._times
        self._at_door.append(Request(now, work, [half, rest, half]))

    def run(self, now: float) -> None:
        """One step of time."""
        for line, others in ((self._at_door, self._elsewhere), (self._elsewhere, self._at_door)):
            share = STEP / max(1, len(line))
            for one in [*line]:
                one.needs[one.stage] -= share
                if one.needs[one.stage] > 0 and now - one.arrived < self._deadline:
                    continue
                line.remove(one)
                one.stage += 1
                if now - one.arrived >= self._deadline:
                    self.outcome.late += 1
                    self._leave(one, now, answered=False)
                elif one.stage == 3:
                    self.outcome.answered.append((one.arrived, now - one.arrived))
                    self._leave(one, now, answered=True)
                else:
                    others.append(one)

    def _leave(self, one: Request, now: float, *, answered: bool) -> None:
        if self.gate:
            self.gate.pause(one.work, now)
            if answered:
                self.gate.learn(one.work, "route", now)
            self.gate.leave(one.work, now)


def offered(service: Service, rate: Callable[[float], float], seconds: float) -> Outcome:
    """Poisson arrivals."""
    chance = random.Random(11)
    due = now = 0.0
    while now < seconds:
        while due <= now:
            service.ask(now)
            due += chance.expovariate(rate(now))
        service.run(now)
        now += STEP
    return service.outcome


def callers(service: Service, count: int, seconds: float) -> Outcome:
    """Each asks again as soon as it has its answer; who is refused comes back after a second."""
    now, waiting = 0.0, [0.0] * count
    while now < seconds:
        for came in [at for at in waiting if at <= now]:
            waiting.remove(came)
            refused = len(service.outcome.refused)
            service.ask(now)
            if len(service.outcome.refused) > refused:
                waiting.append(now + 1.0)
        busy = service.busy
        service.run(now)
        waiting += [now] * (busy - service.busy)
        now += STEP
    return service.outcome


@pytest.fixture(scope="module")
def alone() -> Outcome:
    return offered(Service(None), lambda _: 20, 10)


@pytest.mark.parametrize("times", [2, 5, 10])
def test_overload_is_shed(alone: Outcome, times: int) -> None:
    outcome = offered(Service(Gate(PILE)), lambda _: times * CAPACITY, 4)
    assert outcome.percentile(0.99) < 2 * alone.percentile(0.99)
    assert outcome.percentile(0.5) < 2 * alone.percentile(0.5)
    assert outcome.per_second(1, 4) > CAPACITY * 0.5
    assert outcome.late == 0


def test_without_a_gate_it_is_suffered(alone: Outcome) -> None:
    outcome = offered(Service(None, deadline=1.0), lambda _: 2 * CAPACITY, 3)
    assert outcome.percentile(0.99, since=0) > 20 * alone.percentile(0.99)
    assert outcome.per_second(1, 3) < CAPACITY * 0.2


@pytest.mark.parametrize("count", [1, 8, 32, 64])
def test_callers_that_wait_for_their_answers_are_not_refused(count: int) -> None:
    outcome = callers(Service(Gate(PILE)), count, 3)
    assert not outcome.refused
    assert outcome.per_second(1, 3) > CAPACITY * (0.45 if count == 1 else 0.85)


@pytest.mark.parametrize("load", [0.5, 0.8])
def test_nobody_is_refused_below_capacity(load: float) -> None:
    assert not offered(Service(Gate(PILE)), lambda _: load * CAPACITY, 4).refused


def test_a_spike_is_over_when_it_is_over() -> None:
    outcome = offered(Service(Gate(PILE)), lambda now: CAPACITY * (5 if now < 1 else 0.8), 4)
    assert outcome.refusals(0.2, 1.0) > 0.6
    assert outcome.refusals(2.0, 4.0) < 0.02


def test_a_service_that_starts_in_an_overload_finds_its_limit() -> None:
    gate = Gate(PILE)
    offered(Service(gate), lambda _: 5 * CAPACITY, 3)
    assert LEAST <= gate.limit < 8


def test_what_takes_long_by_nature_may_go_on_together() -> None:
    """An embedder far away: everything takes 0.3 s, nothing competes, and 90 at once are needed."""
    gate, refused = Gate(PILE), 0
    ends: deque[tuple[float, Work]] = deque()
    for number in range(300 * 20):
        now = number / 300
        while ends and ends[0][0] <= now:
            _, work = ends.popleft()
            gate.pause(work, now)
            gate.learn(work, "route", now)
            gate.leave(work, now)
        entered = enter(gate, now)
        refused += entered is None and now > 15
        if entered is not None:
            ends.append((now + 0.3, entered))
    assert not refused


def test_a_stalled_dependency_of_some_is_not_an_overload_of_all() -> None:
    """Of 60 requests a second half take five seconds and fail; the others go on."""
    gate, now, refused = Gate(PILE), 0.0, 0
    ends: list[tuple[float, Work, bool]] = []
    for number in range(1_200):
        now = number / 60
        for _, work, good in [one for one in ends if one[0] <= now]:
            gate.pause(work, now)
            if good:
                gate.learn(work, "route", now)
            gate.leave(work, now)
        ends = [one for one in ends if one[0] > now]
        entered = enter(gate, now)
        refused += entered is None
        if entered is not None:
            ends.append((now + (0.005 if number % 2 else 5.0), entered, bool(number % 2)))
    assert not refused


def test_who_waits_for_a_client_is_not_counted() -> None:
    gate = Gate(4)
    slow = [enter(gate, 0.1) for _ in range(4)]
    assert enter(gate, 0.1) is None
    for work in slow:
        assert work is not None
        gate.pause(work, 0.2)
    assert gate.working == 0
    quick = [enter(gate, 0.3) for _ in range(4)]
    assert all(quick)
    for work in slow:
        assert work is not None
        gate.run(work, 0.4)
    assert gate.working == 8
    assert enter(gate, 0.5) is None


def test_what_nobody_ends_is_bounded() -> None:
    gate = Gate(8)
    entered = sum(enter(gate, second * 10.0) is not None for second in range(100))
    assert entered == 4 * 8


def test_one_may_always_go_on() -> None:
    gate = Gate(1)
    assert [enter(gate, 0.1) is not None for _ in range(3)] == [True, False, False]
