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
from collections.abc import Hashable

# One request may always run: others are compared with the seconds that it takes alone.
LEAST = 1
# Requests may take this many times as long as alone.
_SLOWDOWN = 1.25
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
# Open event streams allowed per request that may be in flight.
_STREAMS = 4


class Work:
    """One request in progress, after `seconds` of work so far. It is `young` while it competes with others."""

    __slots__ = ("entered", "resumed", "seconds", "young")

    def __init__(self, entered: float) -> None:
        self.entered = entered
        self.resumed = entered
        self.seconds = 0.0
        self.young = False


class Gate:
    """Admits requests. `working` are in progress, of which `_young` count against the limit.

    An open event stream mostly waits, so `streams` have their own limit.
    """

    def __init__(self, in_flight: int) -> None:
        self._in_flight = in_flight
        self.limit = float(LEAST)
        self.working = 0
        self.streams = 0
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

    def full(self, now: float) -> bool:
        self._discount_old(now)
        return self._young + 1 > self.allowed() or self.working >= _MOST_WITH_OLD * self._in_flight

    def allowed(self) -> float:
        return self.limit if self._refused_share > _REFUSED_SHARE else max(self.limit, self._in_flight)

    def refuse(self, now: float) -> None:
        """Counts a request that came while the service was full."""
        self._note_arrival(now, refused=True)

    def enter(self, now: float, *, stream: bool = False) -> Work | None:
        """None when the request is refused. `stream` marks a request for an event stream."""
        if stream and self.streams >= _STREAMS * self._in_flight:
            return None
        full = self.full(now)
        self._note_arrival(now, refused=full)
        if full:
            return None
        work = Work(now)
        self.resume(work, now)
        return work

    def pause(self, work: Work, now: float) -> None:
        """The request waits for its client and does not compete with others."""
        work.seconds += now - work.resumed
        if self._young > LEAST:
            self._last_crowded = now
        self.working -= 1
        self._young -= work.young
        work.young = False

    def resume(self, work: Work, now: float) -> None:
        work.resumed = now
        work.young = True
        self.working += 1
        self._young += 1
        self._by_age.append(work)

    def learn(self, work: Work, route: Hashable, now: float) -> None:
        """Learns from a request that was answered, after its last pause."""
        self._usual_seconds += _LEARNING_RATE * (work.seconds - self._usual_seconds)
        log_seconds = math.log(max(work.seconds, 1e-6))
        if work.entered > self._last_crowded:
            self._learn_alone(route, log_seconds)
        alone = self._alone_log_seconds.get(route)
        if alone is not None:
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
        if slowdown > _SLOWDOWN:
            self.limit = max(LEAST, self.limit * max(0.5, _SLOWDOWN / slowdown))
        elif self._limit_is_needed:
            self.limit = min(self._in_flight * _MOST_WITH_OLD, self.limit + max(0.25, self.limit / 4))

    def _note_arrival(self, now: float, *, refused: bool) -> None:
        self._refused_share *= math.exp((self._last_arrival - now) / _REFUSED_DECAY_SECONDS)
        self._refused_share += _REFUSED_WEIGHT * (refused - self._refused_share)
        self._last_arrival = now
        self._limit_is_needed = self._limit_is_needed or self._young + 1 >= self.limit / 2

    def _discount_old(self, now: float) -> None:
        queue, old = self._by_age, now - _OLD_SECONDS - _OLD_USUAL * self._usual_seconds
        while queue and (not queue[0].young or queue[0].resumed < old):
            work = queue.popleft()
            self._young -= work.young
            work.young = False
