"""Work of which few pieces are done at a time: tenants that wait take turns."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Turns:
    """However much one tenant waits with, another waits for one piece of each tenant's, besides those in hand."""

    def __init__(self, at_once: int = 1, *, steps: int = 0) -> None:
        """Between the end of a turn and the next one, the event loop takes so many `steps`."""
        self._free = at_once
        self._steps = steps
        # In the order of their turns.
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def turn(self, tenant: str) -> AsyncIterator[None]:
        """Waits for a turn of the tenant, which lasts as long as the context."""
        if self._free:
            self._free -= 1
        else:
            await self._wait(tenant)
        try:
            yield
        finally:
            self._hand_on_after(self._steps)

    async def step(self, tenant: str) -> None:
        """Waits for a turn of the tenant, which lasts until the caller next waits for anything."""
        async with self.turn(tenant):
            pass

    async def _wait(self, tenant: str) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(tenant, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                # It was its turn just as it gave up.
                self._hand_on()
            raise

    def _hand_on_after(self, steps: int) -> None:
        if steps:
            asyncio.get_running_loop().call_soon(self._hand_on_after, steps - 1)
        else:
            self._hand_on()

    def _hand_on(self) -> None:
        while self._waiting:
            tenant = next(iter(self._waiting))
            waiting = self._waiting.pop(tenant)
            turn = waiting.popleft()
            if waiting:
                self._waiting[tenant] = waiting
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
