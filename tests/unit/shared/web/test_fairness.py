"""Several tenants behind one gate: whose requests run, whose wait, and whose are refused."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from statistics import median

import pytest

from shared.web.door.fairness import BEHIND, FRONT, Pile, Shares, Work
from shared.web.door.overload import Gate

PILE = 64


class Door:
    """A gate in front of a service in which each running request advances by itself."""

    def __init__(self, in_flight: int = PILE, pile: Pile = FRONT, cores: int = 1) -> None:
        self.cores = cores
        self.gate = Gate(in_flight, pile, cores=cores)
        self.now = 0.0
        self.running: list[tuple[Work, float]] = []
        self.answered: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.slowest: dict[str, float] = {}
        self.seconds: defaultdict[str, list[float]] = defaultdict(list)

    def p99(self, tenant: str) -> float:
        ordered = sorted(self.seconds[tenant])
        return ordered[int(0.99 * len(ordered))]

    def ask(self, tenant: str, seconds: float) -> Work | None:
        work = self.gate.enter(tenant, self.now)
        if work is None:
            self.refused[tenant] += 1
        elif self.gate.may_run(work, self.now):
            self.gate.run(work, self.now)
            self.running.append((work, seconds))
        else:
            found = work
            self.gate.wait(found, lambda: self.running.append((found, seconds)), self.now)
        return work

    def step(self, seconds: float) -> None:
        """All that run share the cores."""
        self.now += seconds
        share = seconds * min(1.0, self.cores / max(1, len(self.running)))
        left = [(work, needed - share) for work, needed in self.running]
        self.running = [(work, needed) for work, needed in left if needed > 0]
        for work, needed in left:
            if needed <= 0:
                self._answer(work)
        self.gate.take_turns(self.now)

    def _answer(self, work: Work) -> None:
        tenant = work.share.tenant
        self.answered[tenant] += 1
        self.seconds[tenant].append(self.now - work.entered)
        self.slowest[tenant] = max(self.slowest.get(tenant, 0.0), self.now - work.entered)
        self.gate.pause(work, self.now)
        self.gate.learn(work, tenant, self.now)
        self.gate.leave(work, self.now)


def flood(door: Door, seconds: float, at_once: int, victims: tuple[str, ...] = ("victim",)) -> None:
    """One tenant keeps `at_once` requests open; each victim asks ten times a second. Each request needs 10 ms."""
    due = {victim: door.now + 0.005 * number for number, victim in enumerate(victims)}
    end = door.now + seconds
    while door.now < end:
        open_requests = sum(work.share.tenant == "noisy" for work, _ in door.running) + door.gate.waiting
        for _ in range(at_once - open_requests):
            door.ask("noisy", 0.010)
        for victim, at in due.items():
            if door.now >= at:
                due[victim] += 0.1
                door.ask(victim, 0.010)
        door.step(0.001)


def test_a_flood_slows_another_tenant_by_one_request_at_most() -> None:
    door = Door()
    flood(door, 2.0, at_once=40)
    door.slowest.clear()
    flood(door, 10.0, at_once=40)
    assert not door.refused["victim"]
    assert door.answered["victim"] > 100
    assert door.slowest["victim"] < 0.035
    assert door.answered["noisy"] > 700


def test_a_few_connections_slow_another_tenant_by_one_request_at_most() -> None:
    door = Door()
    flood(door, 2.0, at_once=4)
    door.slowest.clear()
    flood(door, 10.0, at_once=4)
    assert door.slowest["victim"] < 0.035
    assert door.answered["noisy"] > 700


def test_what_the_crowd_does_to_itself_does_not_move_the_limit() -> None:
    """Its first request took long, so that all later ones seem fast beside it."""
    door = Door()
    door.step(0.001)
    door.ask("noisy", 1.0)
    while door.running:
        door.step(0.001)
    flood(door, 2.0, at_once=8)
    door.slowest.clear()
    flood(door, 10.0, at_once=8)
    assert door.slowest["victim"] < 0.035


def test_a_heavy_tenant_goes_on_while_others_always_have_requests() -> None:
    door = Door()
    for _ in range(10_000):
        for tenant, at_once in (("heavy", 8), *((f"light-{number}", 1) for number in range(8))):
            for _ in range(at_once - _open_of(door, tenant)):
                door.ask(tenant, 0.010)
        door.step(0.001)
    assert not door.refused
    assert all(count > 50 for count in door.answered.values())


def test_without_shares_the_flood_slows_everybody() -> None:
    """The control: all are one tenant."""
    door = Door()
    flood(door, 12.0, at_once=40, victims=("noisy",))
    assert door.slowest["noisy"] > 0.2


def test_a_flood_beyond_what_may_pile_up_refuses_only_its_own_requests() -> None:
    door = Door()
    flood(door, 2.0, at_once=400, victims=("first", "second", "third"))
    door.slowest.clear()
    flood(door, 10.0, at_once=400, victims=("first", "second", "third"))
    assert door.refused.keys() == {"noisy"}
    assert max(door.slowest[victim] for victim in ("first", "second", "third")) < 0.1


@pytest.mark.parametrize(("pile", "waiting"), [(FRONT, 4), (BEHIND, 1)])
def test_an_owner_runs_what_a_few_assembles_ask(pile: Pile, waiting: int) -> None:
    door = Door(pile=pile)
    flood(door, 2.0, at_once=4)
    while door.gate.working or door.gate.waiting:
        door.step(0.001)
    for _ in range(5):
        door.ask("noisy", 0.010)
    assert door.gate.waiting == waiting


def test_a_burst_of_writes_beside_another_tenant_is_answered_before_patience_ends() -> None:
    door = Door()
    flood(door, 2.0, at_once=4)
    while door.gate.working or door.gate.waiting:
        door.step(0.001)
    door.slowest.clear()
    for _ in range(60):
        assert door.ask("noisy", 0.030) is not None
    while door.gate.working or door.gate.waiting:
        door.step(0.001)
    assert door.slowest["noisy"] < door.gate.patience(30.0)


def test_heavy_tenants_take_turns() -> None:
    door = Door()
    for _ in range(3_000):
        for tenant, at_once in (("many", 30), ("few", 10)):
            for _ in range(at_once - _open_of(door, tenant)):
                door.ask(tenant, 0.010)
        door.step(0.001)
    assert 0.5 < door.answered["few"] / door.answered["many"] < 2.5


def _open_of(door: Door, tenant: str) -> int:
    return door.gate._shares.open_of(tenant)


def test_a_tenant_is_heavy_while_its_first_long_requests_run() -> None:
    door = Door()
    for _ in range(50):
        door.ask("victim", 0.010)
        for _ in range(20):
            door.step(0.005)
    for _ in range(2):
        door.ask("noisy", 60.0)
    for _ in range(100):
        door.step(0.005)
    works = [door.ask("victim", 0.010) for _ in range(2)]
    assert all(work is not None and work.running for work in works)


def test_a_tenant_alone_has_no_line() -> None:
    door = Door()
    for _ in range(PILE):
        assert door.ask("noisy", 0.010) is not None
    assert len(door.running) == PILE
    assert door.ask("noisy", 0.010) is None


def test_a_tenant_that_has_gone_holds_nobody_back() -> None:
    door = Door()
    flood(door, 1.0, at_once=4)
    while door.gate.working or door.gate.waiting:
        door.step(0.001)
    door.now += 60
    for _ in range(3):
        door.ask("noisy", 0.010)
    assert door.gate.waiting == 0


def test_open_bodies_of_one_tenant_are_bounded() -> None:
    door = Door(in_flight=2)
    open_bodies = 0
    for _ in range(100):
        work = door.ask("noisy", 1.0)
        if work is not None:
            door.gate.pause(work, door.now)
            open_bodies += 1
    assert open_bodies == 8
    assert door.ask("victim", 0.010) is not None


def test_who_gives_up_waiting_leaves_no_trace() -> None:
    door = Door()
    flood(door, 1.0, at_once=4)
    waiting = None
    while waiting is None or waiting.running:
        waiting = door.ask("noisy", 0.010)
    before = door.gate.waiting
    door.gate.leave(waiting, door.now)
    assert door.gate.waiting == before - 1
    flood(door, 1.0, at_once=4)
    while door.gate.working or door.gate.waiting:
        door.step(0.001)
    assert not waiting.running
    assert all(_open_of(door, tenant) == 0 for tenant in ("noisy", "victim"))


@pytest.mark.parametrize("needs", [0.02, 0.05])
def test_who_asks_little_of_a_slow_machine_is_not_of_the_crowd(needs: float) -> None:
    """A flood of which few run at once takes no more than a few slow requests."""
    door = Door()
    noisy, victim = 0.0, 0.0
    while door.now < 20.0:
        while noisy <= door.now:
            noisy += 0.0025
            door.ask("noisy", 0.020)
        if victim <= door.now:
            victim += 0.1
            door.ask("victim", needs)
        door.step(0.001)
        if door.now < 3.0:
            door.slowest.clear()
    assert not door.refused["victim"]
    assert door.slowest["victim"] < 2 * needs + 0.020


def beside(door: Door, seconds: float, noisy: int, needs: float, numbers: random.Random) -> None:
    """A victim with ten requests a second of 20 ms, beside a tenant that keeps `noisy` open."""
    end, due = door.now + seconds, door.now
    while door.now < end:
        for _ in range(noisy - _open_of(door, "noisy")):
            door.ask("noisy", needs * numbers.lognormvariate(0, 0.3))
        if door.now >= due:
            due += 0.1
            door.ask("victim", 0.020 * numbers.lognormvariate(0, 0.3))
        door.step(0.001)


def p99_over_alone(noisy: int, needs: float, seed: int) -> float:
    """Of the victim, on two cores."""
    door, numbers = Door(cores=2), random.Random(seed)
    beside(door, 10.0, 0, needs, numbers)
    alone = door.p99("victim")
    beside(door, 3.0, noisy, needs, numbers)
    door.seconds.clear()
    beside(door, 30.0, noisy, needs, numbers)
    return door.p99("victim") / alone


@pytest.mark.parametrize(("noisy", "needs"), [(4, 0.020), (40, 0.020), (4, 0.200)])
def test_on_two_cores_the_p99_of_another_tenant_rises_by_less_than_a_third(noisy: int, needs: float) -> None:
    assert median(p99_over_alone(noisy, needs, seed) for seed in range(10)) <= 1.3


def among(callers: dict[str, int], rates: dict[str, float], seconds: float = 20.0, seed: int = 0) -> Door:
    """On two cores, some tenants keep requests of 20 ms open, and others ask so many times a second."""
    door, numbers = Door(cores=2), random.Random(seed)
    due = dict.fromkeys(rates, 0.0)
    while door.now < seconds + 4.0:
        order = list(callers)
        numbers.shuffle(order)
        for tenant in order:
            for _ in range(callers[tenant] - _open_of(door, tenant)):
                door.ask(tenant, 0.020 * numbers.lognormvariate(0, 0.3))
        for tenant, rate in rates.items():
            if door.now >= due[tenant]:
                due[tenant] += 1 / rate
                door.ask(tenant, 0.020 * numbers.lognormvariate(0, 0.3))
        if door.now < 4.0:
            door.seconds.clear()
            door.answered.clear()
        door.step(0.001)
    return door


@pytest.mark.parametrize(("heavy", "callers"), [(2, 8), (3, 4), (3, 40), (5, 8), (8, 2), (8, 8)])
def test_many_that_want_too_much_slow_another_no_more_than_one_does(heavy: int, callers: int) -> None:
    """Nor does it cost them much: two cores answer a hundred requests a second."""
    alone = among({}, {"light": 5.0}).p99("light")
    door = among({f"heavy-{number}": callers for number in range(heavy)}, {"light": 5.0})
    answered = [count for tenant, count in door.answered.items() if tenant != "light"]
    assert door.p99("light") < 2 * alone
    assert not door.refused["light"]
    assert sum(answered) > 20.0 * 75
    assert max(answered) < 1.6 * min(answered)


@pytest.mark.parametrize("callers", [(8, 3, 3), (30, 10), (40, 4, 4), (8, 1, 1), (8, 8, 1, 1, 1)])
def test_who_asks_more_gets_no_more_than_others_that_want_all_they_can_get(callers: tuple[int, ...]) -> None:
    door = among({f"tenant-{number}": count for number, count in enumerate(callers)}, {})
    assert max(door.answered.values()) < 1.2 * min(door.answered.values())
    assert sum(door.answered.values()) > 20.0 * 90


def test_tenants_that_want_the_same_do_not_wait_for_each_other() -> None:
    door = among(dict.fromkeys(("first", "second", "third"), 3), {})
    assert door.p99("first") < 1.5 * 9 * 0.020
    assert sum(door.answered.values()) > 20.0 * 90


def test_who_is_refused_wants_more() -> None:
    """Or a flood of which most is refused would seem small."""
    shares = Shares(few=1)
    noisy = shares.arrive("noisy", 0.0)
    shares.arrive("victim", 0.0)
    for _ in range(10):
        shares.refuse("noisy", 0.0)
    assert shares.crowds(noisy, 0.1)


def test_what_waits_for_others_for_long_is_not_wanted() -> None:
    """As a model's answer. Beside it, its tenant's other requests neither wait nor rest."""
    door = Door(cores=2)
    asking = [door.ask("patient", 300.0) for _ in range(4)]
    door.running.clear()
    for _ in range(200):
        door.ask("other", 0.010)
        for _ in range(10):
            door.step(0.010)
    assert all(work is not None and work.running for work in asking)
    share = asking[0].share if asking[0] else None
    assert share is not None
    assert not door.gate._shares.crowds(share, door.now)


def test_strangers_do_not_make_a_flood_seem_small() -> None:
    """Callers without a key that is known are nobody's equals."""
    shares = Shares(few=1)
    noisy, _, strangers = (shares.arrive(tenant, 0.0) for tenant in ("noisy", "victim", ""))
    for _ in range(2):
        shares.run(Work(0.0, noisy), 0.0)
    for _ in range(20):
        shares.wait(Work(0.0, strangers), lambda: None, 0.0)
    assert shares.crowds(noisy, 1.0)
    assert shares.crowds(strangers, 1.0)


def test_a_newcomers_burst_does_not_start_at_once() -> None:
    door = Door()
    beside(door, 5.0, 0, 0.0, random.Random(3))
    for _ in range(40):
        door.ask("noisy", 0.300)
    assert sum(work.share.tenant == "noisy" for work, _ in door.running) == 8


def test_who_waits_is_not_passed_by_later_requests_of_its_own_tenant() -> None:
    """A tenant outside the crowd starts eight at once. Its others come next, not those that it sends then."""
    door = Door()
    flood(door, 8.0, at_once=40)
    while door.gate.working or door.gate.waiting:
        door.step(0.001)
    door.slowest.clear()
    end = door.now + 2.0
    while door.now < end:
        for _ in range(32 - _open_of(door, "light")):
            door.ask("light", 0.010)
        door.step(0.001)
    # Each waits for the 31 before it.
    assert door.slowest["light"] < 0.4
