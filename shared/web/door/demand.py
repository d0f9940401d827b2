"""What tenants want of a service: the seconds for which their requests run or wait, and how much of them is too much.

Pure: the caller brings the time, in seconds of a monotonic clock.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

# What has ended is forgotten at this rate.
DECAY_SECONDS = 3.0
# Of those who want about the same, nobody wants too much.
_CLEARLY_MORE = 1.2
# Who asks one thing after another is content, however small its fair share.
_FEW = 1.5 * DECAY_SECONDS


class Seconds:
    """The seconds for which requests have recently run, or waited, in total. `count` of them still do."""

    __slots__ = ("_as_of", "_ended", "_since", "count")

    def __init__(self, now: float) -> None:
        self.count = 0
        self._ended = 0.0
        self._as_of = now
        self._since = 0.0
        """The sum of the times when they began."""

    def at(self, now: float) -> float:
        return self._ended_by(now) + self.count * now - self._since

    def begin(self, now: float) -> None:
        self.count += 1
        self._since += now

    def end(self, since: float, now: float) -> None:
        """One of them has done it since then."""
        self.count -= 1
        self._since = self._since - since if self.count else 0.0
        self.add(now - since, now)

    def add(self, seconds: float, now: float) -> None:
        self._ended, self._as_of = self._ended_by(now) + seconds, now

    def leave_out(self, seconds: float) -> None:
        """One of them has not done it for so long."""
        self._since += seconds

    def _ended_by(self, now: float) -> float:
        return self._ended * math.exp((self._as_of - now) / DECAY_SECONDS)


class Limit(NamedTuple):
    """Who wants or takes more seconds than these wants too much."""

    wanted: float
    taken: float
    spares_others: bool
    """Whether somebody is content with its share."""

    def is_exceeded_by(self, wanted: float, taken: float) -> bool:
        return wanted > self.wanted or taken > self.taken


def limit_of(tenants: Sequence[tuple[float, float]], capacity: float) -> Limit:
    """Of tenants that want and take so many seconds each of a service that can give `capacity`.

    Too much is clearly more than the average, or more than the max-min fair share. Where nobody is content with that
    share, each may take what the others take.
    """
    if not tenants:
        return Limit(math.inf, math.inf, spares_others=False)
    wanted, taken = zip(*tenants, strict=True)
    share = max(fair_share(wanted, capacity), _FEW)
    if min(wanted) <= share:
        return Limit(min(_CLEARLY_MORE * sum(wanted) / len(wanted), share), math.inf, spares_others=True)
    return Limit(math.inf, _CLEARLY_MORE * sum(taken) / len(taken), spares_others=False)


def fair_share(wanted: Sequence[float], capacity: float) -> float:
    """The largest part of the capacity that any tenant gets by max-min fairness: those that want less than an equal
    part leave the rest of it to the others. Infinite if the capacity is enough for all."""
    left = capacity
    for served, seconds in enumerate(ordered := sorted(wanted)):
        equal = left / (len(ordered) - served)
        if seconds > equal:
            return equal
        left -= seconds
    return math.inf
