"""Tells the open streams of a tenant when it has new events.

All streams of a tenant share one channel. Idle streams cost nothing when other tenants are busy.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from shared.concurrency.tasks import end
from shared.web.drain import Drain


class Channel:
    """`last` is the number of the tenant's last event, or -1 before the first look."""

    def __init__(self) -> None:
        self.last = -1
        self.followers = 0
        self.turn = asyncio.Lock()
        """Held by the stream that looks at the monitor: however many a tenant has open, they take turns."""
        self._news = asyncio.Event()

    def wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    async def news(self, seconds: float) -> None:
        """Returns when the tenant has new events or the process drains, and after `seconds` at the latest."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._news.wait()

    async def wake_on(self, drain: Drain) -> None:
        await drain.started.wait()
        self.wake()


class Following:
    """The channels of this replica's open streams, by tenant."""

    def __init__(self) -> None:
        self._channels: dict[str, Channel] = {}

    def tenants(self) -> list[str]:
        return list(self._channels)

    def tell(self, tenant: str, last: int) -> None:
        """Wakes the tenant's streams when its last number has changed."""
        channel = self._channels.get(tenant)
        if channel is not None and channel.last != last:
            channel.last = last
            channel.wake()

    @contextlib.asynccontextmanager
    async def follow(self, tenant: str, drain: Drain) -> AsyncIterator[Channel]:
        channel = self._channels.setdefault(tenant, Channel())
        channel.followers += 1
        draining = asyncio.create_task(channel.wake_on(drain))
        try:
            yield channel
        finally:
            channel.followers -= 1
            if not channel.followers:
                del self._channels[tenant]
            await end(draining)
