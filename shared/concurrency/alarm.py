"""What a background worker sleeps on between its rounds."""

from __future__ import annotations

import asyncio
import contextlib


class Alarm:
    def __init__(self) -> None:
        self._rung = asyncio.Event()

    def ring(self) -> None:
        """Ends the sleep, or the next one if nobody sleeps now."""
        self._rung.set()

    async def sleep(self, seconds: float | None) -> None:
        """Until it rings, and for at most so long. None: only until it rings."""
        # Not wait_for: before Python 3.12 it swallows a cancellation that arrives together with the event.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._rung.wait()
        self._rung.clear()
