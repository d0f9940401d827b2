"""Beside others, requests of tenants that want too much rest between their steps."""

from __future__ import annotations

import pytest

from shared.concurrency.cores import rest_on
from shared.web.door.fairness import FRONT, Work
from shared.web.door.overload import Gate

MOST = 0.5
STEP = 0.010


class Door:
    """A gate whose clock goes on as requests work and rest."""

    def __init__(self, rest: float = 2.0) -> None:
        self.gate = Gate(64, FRONT, rest)
        self.now = 100.0

    def begin(self, tenant: str) -> Work:
        work = self.gate.enter(tenant, self.now)
        assert work is not None
        self.gate.run(work, self.now)
        return work

    def end(self, work: Work) -> None:
        self.gate.leave(work, self.now)

    def works(self, work: Work, seconds: float, most: float = MOST) -> float:
        """How long the request then rests, which it does."""
        self.now += seconds
        rest = self.gate.rest(work, most, self.now)
        self.now += rest
        self.gate.rested(work, rest, self.now)
        return rest

    def occupied(self) -> Work:
        """A request of a tenant that has worked for most of the last seconds, beside another tenant."""
        self.end(self.begin("light"))
        for _ in range(100):
            work = self.begin("heavy")
            self.now += 0.020
            self.end(work)
        self.end(self.begin("light"))
        return self.begin("heavy")


def test_a_request_of_who_wants_too_much_rests_after_each_step() -> None:
    door = Door()
    work = door.occupied()
    assert door.works(work, STEP) == pytest.approx(2 * STEP)
    assert door.works(work, 2 * STEP) == pytest.approx(4 * STEP)
    assert door.works(work, 0.0) == 0.0


def test_others_do_not_rest() -> None:
    door = Door()
    door.occupied()
    light = door.begin("light")
    assert not door.gate.steps_back(light, door.now)
    assert door.works(light, STEP) == 0.0


def test_a_tenant_alone_does_not_rest() -> None:
    door = Door()
    door.end(door.occupied())
    door.now += 60.0
    for _ in range(100):
        work = door.begin("heavy")
        assert door.works(work, STEP) == 0.0
        door.end(work)


def test_tenants_that_want_the_same_do_not_rest() -> None:
    door = Door()
    for _ in range(200):
        for tenant in ("first", "second"):
            work = door.begin(tenant)
            assert door.works(work, STEP) == 0.0
            door.end(work)
    assert all(door.begin(tenant).share.busy.at(door.now) > 1.0 for tenant in ("first", "second"))


def test_the_heavier_of_two_that_ask_little_does_not_rest() -> None:
    door = Door()
    for _ in range(100):
        for tenant, seconds in (("much", 0.030), ("little", 0.010)):
            work = door.begin(tenant)
            assert door.works(work, seconds) == 0.0
            door.end(work)
        door.now += 0.160


def test_requests_of_one_tenant_rest_in_turn() -> None:
    """However many it sends at once, they work no larger part of the time."""
    door = Door()
    first = door.occupied()
    second = door.begin("heavy")
    door.now += STEP
    assert door.gate.rest(first, MOST, door.now) == pytest.approx(2 * STEP)
    assert door.gate.rest(second, MOST, door.now) == pytest.approx(4 * STEP)


def test_requests_of_several_tenants_that_want_too_much_rest_in_turn_and_less_each() -> None:
    """Together they work as much as those of one, or as each core lets one do."""
    door = Door()
    door.gate = Gate(64, FRONT, 2.0, cores=2)
    for _ in range(100):
        works = [door.begin(tenant) for tenant in ("heavy", "heavier", "light")]
        door.end(works.pop())
        door.now += 0.020
        for work in works:
            door.end(work)
    first, second = (door.begin(tenant) for tenant in ("heavy", "heavier"))
    door.now += STEP
    assert door.gate.rest(first, MOST, door.now) == pytest.approx(STEP)
    assert door.gate.rest(second, MOST, door.now) == pytest.approx(2 * STEP)


def test_nobody_rests_longer_than_allowed_or_for_a_step_that_only_waited() -> None:
    door = Door()
    work = door.occupied()
    assert door.works(work, STEP, most=0.005) == 0.005
    assert door.works(work, 60.0, most=10.0) == pytest.approx(0.5)


def test_what_another_service_worked_counts_for_nothing() -> None:
    door = Door()
    work = door.occupied()
    door.now += 0.100
    door.gate.skip(work, door.now)
    assert door.works(work, STEP) == pytest.approx(2 * STEP)


def test_a_rest_is_no_work() -> None:
    """Or who rests because it is heavy would become heavier by it, and seem slow where nobody competes."""
    door = Door()
    work = door.occupied()
    before = work.share.busy.at(door.now)
    rest = door.works(work, STEP)
    assert work.share.busy.at(door.now) < before + STEP
    door.gate.pause(work, door.now)
    assert work.seconds == pytest.approx(STEP)
    assert rest > STEP


def test_a_tenant_whose_requests_rest_still_wants_too_much() -> None:
    """Or its other requests would not rest, and more of them would start."""
    door = Door()
    works = [door.occupied(), *(door.begin("heavy") for _ in range(7))]
    door.now += STEP
    assert all(door.gate.rest(work, MOST, door.now) > 0 for work in works)
    assert all(door.gate.steps_back(work, door.now) for work in works)


@pytest.mark.parametrize(("cores", "rest"), [(1, 7.0), (2, 3.0), (4, 1.0), (8, 0.0), (64, 0.0)])
def test_on_many_cores_nobody_rests(cores: int, rest: float) -> None:
    assert rest_on(cores) == rest
    door = Door(rest_on(cores))
    work = door.occupied()
    assert door.gate.steps_back(work, door.now) == (rest > 0)
    assert door.works(work, STEP) == pytest.approx(rest * STEP)
