"""A circuit breaker: a server that keeps failing is left alone for a while, then asked once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from shared.embeddings.base import EmbedderUnavailable


class Breaker:
    """Opens after `failures` in a row for `shortest` seconds, doubling to `longest` while probes fail."""

    def __init__(
        self,
        failures: int = 5,
        shortest: float = 2.0,
        longest: float = 30.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limit, self._shortest, self._longest, self._clock = failures, shortest, longest, clock
        self._close()

    @property
    def is_open(self) -> bool:
        return self._until is not None

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Around one call. Raises EmbedderUnavailable("breaker_open") instead of letting it through."""
        probe = self._admit()
        try:
            yield
        except EmbedderUnavailable as error:
            # A refusal is about this call: the server is well.
            if error.reason == "refused":
                self._close()
            else:
                self._fail(probe)
            raise
        except BaseException:
            # Cancelled: nothing was learned, and the next call may probe.
            if probe:
                self._probing = False
            raise
        self._close()

    def _admit(self) -> bool:
        if self._until is None:
            return False
        wait = self._until - self._clock()
        if wait > 0 or self._probing:
            raise EmbedderUnavailable("breaker_open", retry_after=max(wait, 0.1))
        self._probing = True
        return True

    def _close(self) -> None:
        self._failures, self._pause = 0, 0.0
        self._until: float | None = None
        self._probing = False

    def _fail(self, probe: bool) -> None:
        self._failures += 1
        # Calls that were under way when it opened must not lengthen the pause.
        if probe or (self._until is None and self._failures >= self._limit):
            self._pause = min(max(self._shortest, 2 * self._pause), self._longest)
            self._until = self._clock() + self._pause
            self._probing = False
