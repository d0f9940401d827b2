"""A circuit breaker: after repeated failures, callers leave a dependency alone for a while, then try again."""

from __future__ import annotations

import time
from collections.abc import Callable


class BreakerOpen(Exception):
    """The breaker lets no call through. `seconds` is how long to wait before the next try."""

    def __init__(self, seconds: float) -> None:
        super().__init__("the breaker is open")
        self.seconds = seconds


class Breaker:
    """Opens after `failures` in a row for `shortest` seconds, which double up to `longest` while probes fail.

    After that time a single call probes, or every call with `probe_alone=False`. A caller asks `admit` before each
    call, and reports the outcome.
    """

    def __init__(
        self,
        failures: int,
        shortest: float,
        longest: float,
        *,
        probe_alone: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limit, self._shortest, self._longest = failures, shortest, longest
        self._probe_alone, self._clock = probe_alone, clock
        self._failures, self._pause = 0, 0.0
        self._until: float | None = None
        self._probing = False

    @property
    def is_open(self) -> bool:
        return self._until is not None

    def admit(self) -> bool:
        """Whether the call is a probe. Raises BreakerOpen."""
        if self._until is None:
            return False
        wait = self._until - self._clock()
        if wait > 0 or (self._probing and self._probe_alone):
            raise BreakerOpen(max(wait, 0.1))
        self._probing = True
        return True

    def succeeded(self) -> None:
        self._failures, self._pause = 0, 0.0
        self._until = None
        self._probing = False

    def failed(self, *, probe: bool) -> None:
        self._failures += 1
        # Calls that began before the breaker opened must not lengthen the pause.
        if probe or (self._until is None and self._failures >= self._limit):
            self._pause = min(max(self._shortest, 2 * self._pause), self._longest)
            self._until = self._clock() + self._pause
            self._probing = False

    def abandoned(self, *, probe: bool) -> None:
        """The call ended without an outcome, so the next one may probe."""
        if probe:
            self._probing = False
