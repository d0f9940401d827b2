"""Limits how many requests a service works on at once. It refuses the others immediately instead of answering late.

While the service refuses few requests, it admits `in_flight` at once: clients that wait for an answer before they ask
again do no harm. Under overload, so many requests would make every answer late. When the service refuses a large
share, it therefore admits only as many requests as do not slow each other down. This limit adapts, up in small steps
and down in large ones, by comparing how long requests take with requests of the same route that ran alone.

Pure: the caller brings the time, in seconds of a monotonic clock.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Hashable

from shared.web.door.fairness import FRONT, Pile, Shares, Work

# One request may always run: others are compared with the seconds that it takes alone.
LEAST = 1
# Requests may take this many times as long as alone, and less while tenants compete.
_SLOWDOWN, _COMPETING_SLOWDOWN = 1.25, 1.05
# The limit applies from this share of refusals. The share is a moving average; these are its weight and decay.
_REFUSED_SHARE = 0.4
_REFUSED_WEIGHT = 1 / 64
_REFUSED_DECAY_SECONDS = 3.0
# The limit is adjusted after this many samples and seconds, or after a longer time with fewer samples.
_ADJUST_SAMPLES = 16
_ADJUST_SECONDS = 0.1
_ADJUST_AT_LATEST_SECONDS = 1.0
_LEARNING_RATE = 0.1
_MOST_ROUTES = 1_000
# A request older than this, and than twice the usual time, waits for something outside this service and no longer
# competes with others. Including such requests, the service holds at most a few times `in_flight`.
_OLD_SECONDS = 1.0
_OLD_USUAL = 2.0
_MOST_WITH_OLD = 4
# A request that has worked for less does not rest yet, and a step that takes longer waits for something.
_SHORTEST_STEP, _LONGEST_STEP = 0.001, 0.25
# The longest that a request waits for its turn. A burst of some hundred writes takes no longer.
_TURN_SECONDS = 2.5


class Gate:
    """Admits requests. `working` are in progress, of which `_young` count against the limit; others wait.

    While a single tenant sends requests, all that are admitted start at once. While several do, those of the crowd wait
    until fewer run than a part of `limit`. Otherwise they would slow down each request of the others.
    """

    def __init__(self, in_flight: int, pile: Pile = FRONT, rest: float = 0.0, cores: int = 1) -> None:
        """Where one of several tenants wants too much and occupies the service, its requests `rest` so many times as
        long as they work."""
        self._in_flight = in_flight
        self._pile = pile
        self._rest = rest
        self._cores = cores
        self._needed = min(0.5, pile.part)
        self._shares = Shares(pile.few, cores)
        self.limit = float(LEAST)
        self.working = 0
        self._young = 0
        self._by_age: deque[Work] = deque()
        self._refused_share = 0.0
        self._last_arrival = 0.0
        self._last_crowded = 0.0
        self._alone_log_seconds: dict[Hashable, float] = {}
        self._usual_seconds = 0.0
        self._log_slowdowns = 0.0
        self._samples = 0
        self._limit_is_needed = False
        self._adjusted = 0.0

    @property
    def waiting(self) -> int:
        return self._shares.waiting

    def full(self, tenant: str, now: float) -> bool:
        """Whether a request of the tenant would be refused."""
        self._discount_old(now)
        most, allowed = _MOST_WITH_OLD * self._in_flight, self.allowed()
        if self.working + self.waiting >= most or self._shares.open_of(tenant) >= most:
            return True
        return self._young + self.waiting + 1 > allowed and not self._shares.may_open(tenant, allowed, now)

    def allowed(self) -> float:
        if self._refused_share > _REFUSED_SHARE:
            return max(self.limit, self._least())
        return max(self.limit, self._in_flight)

    def _least(self) -> int:
        """So many requests of the crowd may run in any case: one of each of its tenants, while there are cores."""
        return max(LEAST, min(self._cores, self._shares.crowd()))

    def refuse(self, tenant: str, now: float) -> None:
        """Counts a request that came while the service was full."""
        self._note_arrival(now, refused=True)
        self._shares.refuse(tenant, now)

    def enter(self, tenant: str, now: float) -> Work | None:
        """The request, which does not yet run. None when it is refused."""
        if self.full(tenant, now):
            self.refuse(tenant, now)
            return None
        self._note_arrival(now, refused=False)
        work = Work(now, self._shares.arrive(tenant, now))
        work.share.open += 1
        return work

    def run(self, work: Work, now: float) -> None:
        """The request runs: for the first time, or after a pause."""
        work.resumed, work.paid, work.rested = now, 0.0, 0.0
        work.running = work.young = True
        work.share.admitted += 1
        self._shares.run(work, now)
        self.working += 1
        self._young += 1
        self._by_age.append(work)

    def may_run(self, work: Work, now: float) -> bool:
        """Whether the request may run now, rather than wait for its turn. A new one does not pass its tenant's others
        that wait."""
        if work.start is None and work.share.waiting:
            return False
        return self._has_room() or not self._shares.piles_up(work.share, now)

    def patience(self, left: float) -> float:
        """How long a request waits for its turn, in seconds, when it has `left` to be answered."""
        return min(_TURN_SECONDS, left / 2)

    def wait(self, work: Work, start: Callable[[], None], now: float) -> None:
        """Calls `start` when it is the request's turn: it then runs."""
        work.share.admitted += 1
        self._shares.wait(work, start, now)
        self.take_turns(now)

    def take_turns(self, now: float) -> None:
        """Runs those who wait, as far as there is room."""
        self._discount_old(now)
        while (work := self._shares.next(now, room=self._has_room())) is not None:
            start, work.start = work.start, None
            work.share.admitted -= 1
            self.run(work, now)
            if start is not None:
                start()

    def pause(self, work: Work, now: float) -> None:
        """The request waits for its client, and does not compete with others. Those who wait may then take turns."""
        if not work.running:
            return
        work.seconds += now - work.resumed
        if self._young > LEAST:
            self._last_crowded = now
        self.working -= 1
        self._discount(work, now)
        work.running = False
        work.share.admitted -= 1

    def rest(self, work: Work, most: float, now: float) -> float:
        """For how many seconds the request should do nothing now, `most` at most, after what it has worked since it
        last rested."""
        worked = now - work.resumed - work.paid
        if not work.running or worked < _SHORTEST_STEP:
            return 0.0
        work.paid += worked
        if not self.steps_back(work, now):
            return 0.0
        return self._shares.rest(min(worked, _LONGEST_STEP) * self._rest / self._least(), most, now)

    def rested(self, work: Work, seconds: float, now: float) -> None:
        """The request has done nothing for so long, until now. Only then, so that its tenant does not seem to take
        little, and starts no others, while it rests."""
        if work.running:
            seconds = min(seconds, now - work.resumed)
            work.resumed += seconds
            if work.young:
                work.rested += seconds
                work.share.busy.leave_out(seconds)

    def steps_back(self, work: Work, now: float) -> bool:
        """Whether the request is one of those that rest."""
        return self._rest > 0 and self._shares.occupies(work.share, now)

    def skip(self, work: Work, now: float) -> None:
        """What the request took since it last rested was not its work."""
        work.paid = max(work.paid, now - work.resumed)

    def leave(self, work: Work, now: float) -> None:
        """The request has ended, or gave up waiting."""
        self.pause(work, now)
        self.stop_waiting(work, now)
        work.share.open -= 1

    def stop_waiting(self, work: Work, now: float) -> None:
        if work.start is not None:
            self._shares.give_up(work, now)
            work.share.admitted -= 1

    def _has_room(self) -> bool:
        """Whether one more of the crowd may run. The rest of the limit is left to those outside it."""
        return not self._shares.compete() or self._young + 1 <= max(
            self._least(), self.limit * self._pile.part
        )

    def learn(self, work: Work, route: Hashable, now: float) -> None:
        """Learns from a request that was answered, after its last pause."""
        self._usual_seconds += _LEARNING_RATE * (work.seconds - self._usual_seconds)
        log_seconds = math.log(max(work.seconds, 1e-6))
        if work.entered > self._last_crowded:
            self._learn_alone(route, log_seconds)
        alone = self._alone_log_seconds.get(route)
        # The limit spares the others: what the crowd does to itself must not move it.
        if alone is not None and not self._shares.crowds(work.share, now):
            self._log_slowdowns += log_seconds - alone
            self._samples += 1
            self._adjust_when_due(now)

    def _learn_alone(self, route: Hashable, log_seconds: float) -> None:
        known = self._alone_log_seconds.get(route)
        if known is None and len(self._alone_log_seconds) >= _MOST_ROUTES:
            self._alone_log_seconds.clear()
        self._alone_log_seconds[route] = (
            log_seconds if known is None else known + _LEARNING_RATE * (log_seconds - known)
        )

    def _adjust_when_due(self, now: float) -> None:
        passed = now - self._adjusted
        enough = self._samples >= _ADJUST_SAMPLES and passed >= _ADJUST_SECONDS
        if enough or passed >= _ADJUST_AT_LATEST_SECONDS:
            self._adjust()
            self._log_slowdowns, self._samples, self._limit_is_needed = 0.0, 0, False
            self._adjusted = now

    def _adjust(self) -> None:
        slowdown = math.exp(self._log_slowdowns / self._samples)
        most = _COMPETING_SLOWDOWN if self._shares.compete() else _SLOWDOWN
        if slowdown > most:
            self.limit = max(LEAST, self.limit * max(0.5, most / slowdown))
        elif self._limit_is_needed:
            self.limit = min(self._in_flight * _MOST_WITH_OLD, self.limit + max(0.25, self.limit / 4))

    def _note_arrival(self, now: float, *, refused: bool) -> None:
        self._refused_share *= math.exp((self._last_arrival - now) / _REFUSED_DECAY_SECONDS)
        self._refused_share += _REFUSED_WEIGHT * (refused - self._refused_share)
        self._last_arrival = now
        self._limit_is_needed = self._limit_is_needed or self._young + 1 >= self.limit * self._needed

    def _discount_old(self, now: float) -> None:
        queue, old = self._by_age, now - _OLD_SECONDS - _OLD_USUAL * self._usual_seconds
        while queue and (not queue[0].young or queue[0].resumed < old):
            self._discount(queue.popleft(), now)

    def _discount(self, work: Work, now: float) -> None:
        """The request no longer competes with others."""
        if work.young:
            self._young -= 1
            self._shares.pause(work, now)
            work.young = False
