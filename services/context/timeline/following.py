"""Tells the open streams of a tenant when it has new events.

All streams of a tenant share one look at the database, so idle streams cost nothing when other tenants are busy.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from services.context.timeline import queries
from services.context.timeline.numbering import Numbering
from shared.concurrency.tasks import end
from shared.database.postgres import Database
from shared.deadline import Deadline
from shared.errors import AppError
from shared.web.drain import Drain

_LOOK_SECONDS = 2.0


class Channel:
    """`last` is the number of the tenant's last event, or -1 before the first look."""

    def __init__(self) -> None:
        self.last = -1
        self.followers = 0
        self.tasks: list[asyncio.Task[None]] = []
        self._news = asyncio.Event()

    def wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    async def news(self, seconds: float) -> None:
        """Returns when the tenant has new events or the process drains, and after `seconds` at the latest."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._news.wait()


class Following:
    def __init__(self, database: Database, numbering: Numbering) -> None:
        self._database = database
        self._numbering = numbering
        self._channels: dict[str, Channel] = {}

    @contextlib.asynccontextmanager
    async def follow(self, tenant: str, drain: Drain) -> AsyncIterator[Channel]:
        channel = self._channels.get(tenant)
        if channel is None:
            channel = self._channels[tenant] = Channel()
            jobs = (self._look_forever(tenant, channel), _wake_on(drain, channel))
            channel.tasks = [asyncio.create_task(job) for job in jobs]
        channel.followers += 1
        try:
            yield channel
        finally:
            channel.followers -= 1
            if not channel.followers:
                del self._channels[tenant]
                await end(*channel.tasks)

    async def _look_forever(self, tenant: str, channel: Channel) -> None:
        looked_at = -1
        while True:
            # The replica's numbering knows the last number of all, so an idle cluster makes no query.
            if (last := self._numbering.last) != looked_at:
                with contextlib.suppress(AppError):
                    await self._look(tenant, channel)
                    looked_at = last
            await self._numbering.looked()

    async def _look(self, tenant: str, channel: Channel) -> None:
        last = await self._database.run(
            tenant, lambda c: queries.last_event(c, tenant), Deadline(_LOOK_SECONDS)
        )
        if last != channel.last:
            channel.last = last
            channel.wake()


async def _wake_on(drain: Drain, channel: Channel) -> None:
    await drain.started.wait()
    channel.wake()
