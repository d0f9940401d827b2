"""How many threads of the local model work for batches or the index: as many as get a core of their own."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

# A thread of low priority that gets less of its core than this competes with somebody.
_WHOLE = 0.7
# A shorter measurement would be about a single turn of the interpreter's lock.
_MEASURED_SECONDS = 0.05
_ALONE_SECONDS = 1.0


class SpareCores:
    """Admits up to `most` texts at once while each of their threads gets a whole core and nobody asks. Otherwise, one
    text at a time is alone for the next second."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = most, clock
        self._running = 0
        self._alone_until = -math.inf
        self._processor = self._wall = 0.0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def core(self) -> AsyncIterator[None]:
        """Waits for a turn."""
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._admit()
        try:
            await turn
            yield
        finally:
            if turn.done() and not turn.cancelled():
                self._running -= 1
            turn.cancel()
            self._admit()

    @property
    def alone(self) -> bool:
        return self._clock() < self._alone_until

    def leave(self) -> None:
        """For a question, whose processes wake each other many times: each time, they need a core that is free."""
        self._alone_until = self._clock() + _ALONE_SECONDS

    def note(self, processor: float, wall: float) -> None:
        """What a text took of its thread's time and of everybody's, in seconds."""
        self._processor += processor
        self._wall += wall
        if self._wall < _MEASURED_SECONDS:
            return
        if self._processor < _WHOLE * self._wall:
            self.leave()
        self._processor = self._wall = 0.0

    def _admit(self) -> None:
        allowed = 1 if self.alone else self._most
        while self._running < allowed and self._waiting:
            turn = self._waiting.popleft()
            if not turn.cancelled():
                turn.set_result(None)
                self._running += 1
