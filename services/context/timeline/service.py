"""Pages and streams of the timeline, in the order of its numbers."""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncGenerator

import msgspec

from services.context.timeline import queries
from services.context.timeline.following import Channel, Following
from services.context.timeline.schemas import Event, EventCursor, Events, Filter
from shared.auth import Principal
from shared.database.postgres import Database
from shared.deadline import Deadline
from shared.errors import AppError
from shared.paging.pages import page_of
from shared.web.door.streams import Streams
from shared.web.drain import Drain

HEARTBEAT_SECONDS = 15.0
RETRY_MS = 1_000
PAGE = 200
_PAGE_SECONDS = 2.0
# After a failed look.
_RETRY_SECONDS = 0.5


class Timeline:
    def __init__(self, database: Database, following: Following, streams: Streams) -> None:
        self.database = database
        self.following = following
        self.streams = streams

    async def page(
        self, principal: Principal, wanted: Filter, after: int, limit: int, deadline: Deadline
    ) -> Events:
        """Numbered events after `after`, in order. A bound key sees only its agent's and missions' events."""
        events = await self._events(principal, wanted, after, limit + 1, deadline)
        page = page_of(events, limit, lambda event: EventCursor(seq=event.seq))
        return Events(list(page.rows), page.next)

    async def _events(
        self, principal: Principal, wanted: Filter, after: int, limit: int, deadline: Deadline
    ) -> list[Event]:
        if wanted.mission is not None:
            principal.require_mission(wanted.mission)
        return await self.database.run(
            principal.tenant, lambda c: queries.read_events(c, principal, wanted, after, limit), deadline
        )

    async def last(self, principal: Principal, deadline: Deadline) -> int:
        return await self.database.run(
            principal.tenant, lambda c: queries.last_number(c, principal.tenant), deadline
        )

    async def stream(
        self, principal: Principal, wanted: Filter, after: int, drain: Drain
    ) -> AsyncGenerator[bytes]:
        """Server-sent events after `after`, until the client disconnects or this process drains."""
        # Send the starting position first: a stream that breaks off before its first event resumes there.
        yield f"id: {after}\nretry: {RETRY_MS}\n\n".encode()
        async with self.following.follow(principal.tenant, drain) as channel:
            async for piece in self._follow(principal, wanted, after, channel, drain):
                yield piece
        yield f"retry: {RETRY_MS}\n\n".encode()

    async def _follow(
        self, principal: Principal, wanted: Filter, after: int, channel: Channel, drain: Drain
    ) -> AsyncGenerator[bytes]:
        spoke, looked_at = time.monotonic(), -2
        while not drain.started.is_set():
            events: list[Event] = []
            if (last := channel.last) != looked_at:
                with contextlib.suppress(AppError):
                    events = await self._events(principal, wanted, after, PAGE, Deadline(_PAGE_SECONDS))
                    looked_at = last
            for event in events:
                yield _server_sent(event)
                after = event.seq
            if events:
                spoke, looked_at = time.monotonic(), -2
                continue
            if looked_at == last:
                # All numbers up to `last` were committed before the look, so nothing up to there is still to come.
                after = max(after, last)
            if time.monotonic() - spoke >= HEARTBEAT_SECONDS:
                yield b"id: %d\n: still here\n\n" % after
                spoke = time.monotonic()
            if looked_at != last:
                await channel.news(_RETRY_SECONDS)
            elif last == channel.last:
                await channel.news(spoke + HEARTBEAT_SECONDS - time.monotonic())


def _server_sent(event: Event) -> bytes:
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (
        event.seq,
        event.kind.encode(),
        msgspec.json.encode(event),
    )
