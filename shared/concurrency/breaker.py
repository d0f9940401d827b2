"""A circuit breaker: callers leave a dependency alone for as long as it does not answer a cheap probe.

Failed calls only lead to a probe, because a call may fail by what it asks. So no caller's requests, however slow, take
the dependency from the others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import Context

import structlog

from shared.concurrency.tasks import end

log = structlog.get_logger()


class BreakerOpen(Exception):
    """The breaker lets no call through. The next probe comes within `seconds`."""

    def __init__(self, seconds: float) -> None:
        super().__init__("the breaker is open")
        self.seconds = seconds


class Breaker:
    """Probes after `failures` in a row, and opens when the probe fails or takes longer than `probe_seconds`.

    While open it probes again after `shortest` seconds, which double up to `longest`, and closes with the first answer.
    A caller runs `check` before each call, and reports the outcome.
    """

    def __init__(
        self,
        dependency: str,
        probe: Callable[[], Awaitable[object]],
        *,
        failures: int,
        probe_seconds: float,
        shortest: float,
        longest: float,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._dependency, self._probe, self._sleep = dependency, probe, sleep
        self._limit, self._probe_seconds = failures, probe_seconds
        self._shortest, self._longest = shortest, longest
        self._failures, self._pause = 0, 0.0
        self._probing: asyncio.Task[None] | None = None

    @property
    def is_open(self) -> bool:
        return self._pause > 0

    def check(self) -> None:
        """Raises BreakerOpen."""
        if self.is_open:
            raise BreakerOpen(self._pause)

    def succeeded(self) -> None:
        self._failures = 0

    def failed(self) -> None:
        self._failures += 1
        if self._failures >= self._limit and self._probing is None:
            # In a context of its own: the probe belongs to no request's trace.
            loop = asyncio.get_running_loop()
            self._probing = loop.create_task(self._probe_until_answered(), context=Context())

    async def close(self) -> None:
        if self._probing is not None:
            await end(self._probing)

    async def _probe_until_answered(self) -> None:
        try:
            while not await self._answers():
                if not self.is_open:
                    log.warning("breaker opened", dependency=self._dependency)
                self._pause = min(max(self._shortest, 2 * self._pause), self._longest)
                await self._sleep(self._pause)
            if self.is_open:
                log.info("breaker closed", dependency=self._dependency)
        finally:
            self._failures, self._pause, self._probing = 0, 0.0, None

    async def _answers(self) -> bool:
        # Not wait_for: what waits for a stalled server may not even end when it is cancelled.
        probe = asyncio.ensure_future(self._probe())
        probe.add_done_callback(_read)
        try:
            done, _ = await asyncio.wait({probe}, timeout=self._probe_seconds)
        finally:
            probe.cancel()
        return bool(done) and not probe.cancelled() and probe.exception() is None


def _read(probe: asyncio.Future[object]) -> None:
    """Reads the error, or the event loop reports it."""
    if not probe.cancelled():
        probe.exception()
