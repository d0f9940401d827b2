"""Work of which few pieces are done at a time: tenants that wait take turns. And long steps, a few of them in a row."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Turns:
    """However much one tenant waits with, another waits for one piece of each tenant's, besides those in hand."""

    def __init__(self, at_once: int = 1) -> None:
        self._free = at_once
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
            self._hand_on()

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


class Rounds:
    """Long steps of several tasks, a third of those that wait in a row. What is short goes on in between."""

    def __init__(self, steps: int) -> None:
        """Between two rounds, the event loop takes so many `steps`."""
        self._steps = steps
        self._between = False
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def step(self) -> None:
        """Waits for a round, unless nobody was in one just now. The caller's step lasts until it next waits."""
        if self._between:
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            await turn
        else:
            self._between = True
            self._begin_after(self._steps)

    def _begin_after(self, steps: int) -> None:
        if steps:
            asyncio.get_running_loop().call_soon(self._begin_after, steps - 1)
        elif self._waiting:
            for _ in range(-(-len(self._waiting) // 3)):
                turn = self._waiting.popleft()
                if not turn.done():
                    turn.set_result(None)
            self._begin_after(self._steps)
        else:
            self._between = False
