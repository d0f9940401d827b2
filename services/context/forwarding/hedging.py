"""Sends a read again when it is late or cut off: another replica may answer, and reading twice does no harm."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import TypeVar

from shared.concurrency.courtesy import make_way
from shared.telemetry import metrics

T = TypeVar("T")

# At most this share of all reads is sent twice: when everything is slow, more load does not help.
SHARE = 0.05
_SAVED = 5.0
_LATE_QUANTILE = 0.95
_LATE_FACTOR = 2.0
_LEAST_SECONDS = 0.05
_SEEN = 128
_ENOUGH = 32
_CUT_OFF, _LATE = "cut off", "late"


class Hedge:
    """A read is late after twice the 95th percentile of recent answers, and never before 50 ms."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._seconds: deque[float] = deque(maxlen=_SEEN)
        self._saved = _SAVED
        for reason in (_CUT_OFF, _LATE):
            metrics.HEDGED.labels(name, reason)

    async def first(self, read: Callable[[], Awaitable[T]], *, again_on: type[Exception]) -> T:
        """The first answer of one or two reads. A read that fails with `again_on` is repeated at once, one time.

        Raises the error of the last read.
        """
        self._saved = min(_SAVED, self._saved + SHARE)
        await make_way()
        started = time.monotonic()
        tasks = {asyncio.ensure_future(read())}
        tried = 1
        try:
            waiting: float | None = self._late_after()
            while True:
                done, _ = await asyncio.wait(tasks, timeout=waiting, return_when=asyncio.FIRST_COMPLETED)
                tasks -= done
                failed = [task for task in done if isinstance(task.exception(), again_on)]
                if answered := [task for task in done if task not in failed]:
                    self._seconds.append(time.monotonic() - started)
                    return answered[0].result()
                if tried == 1 and (done or self._saved >= 1.0):
                    # A read that was cut off does not count: it cost the owner little.
                    self._saved -= 0.0 if done else 1.0
                    metrics.HEDGED.labels(self._name, _CUT_OFF if done else _LATE).inc()
                    tasks.add(asyncio.ensure_future(read()))
                    tried = 2
                elif not tasks:
                    return failed[0].result()
                waiting = None
        finally:
            for task in tasks:
                task.cancel()

    def _late_after(self) -> float:
        if len(self._seconds) < _ENOUGH:
            return _LEAST_SECONDS * 10
        ordered = sorted(self._seconds)
        return max(_LEAST_SECONDS, _LATE_FACTOR * ordered[int(_LATE_QUANTILE * len(ordered))])
