"""Pages and streams of the timeline, in the order of its numbers."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator

import msgspec

from services.context.timeline import queries
from services.context.timeline.numbering import POLL_SECONDS, Numbering
from services.context.timeline.schemas import Event, EventCursor, Events, Filter
from shared.auth import Principal
from shared.database.postgres import Database
from shared.deadline import Deadline
from shared.errors import AppError
from shared.paging.pages import page_of
from shared.web.drain import Drain

HEARTBEAT_SECONDS = 15.0
RETRY_MS = 1_000
PAGE = 200
_PAGE_SECONDS = 2.0


class Timeline:
    def __init__(self, database: Database, numbering: Numbering) -> None:
        self.database = database
        self._numbering = numbering

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
            lambda c: queries.read_events(c, principal, wanted, after, limit), deadline
        )

    async def last(self, principal: Principal, deadline: Deadline) -> int:
        return await self.database.run(lambda c: queries.last_event(c, principal.tenant), deadline)

    async def stream(
        self, principal: Principal, wanted: Filter, after: int, drain: Drain
    ) -> AsyncGenerator[bytes]:
        """Server-sent events after `after`, until the client disconnects or this process drains."""
        # Send the starting position first: a stream that breaks off before its first event resumes there.
        yield f"id: {after}\nretry: {RETRY_MS}\n\n".encode()
        spoke = time.monotonic()
        looked_at = -1
        while not drain.started.is_set():
            events: list[Event] = []
            # The replica's numbering knows the last number, so an idle stream makes no query.
            if (last := self._numbering.last) != looked_at:
                with contextlib.suppress(AppError):
                    events = await self._events(principal, wanted, after, PAGE, Deadline(_PAGE_SECONDS))
                    looked_at = last
            for event in events:
                yield _server_sent(event)
                after = event.seq
            if events:
                spoke = time.monotonic()
                looked_at = -1
                continue
            if time.monotonic() - spoke >= HEARTBEAT_SECONDS:
                yield b": still here\n\n"
                spoke = time.monotonic()
            await self._wait_for_news(drain)
        yield f"retry: {RETRY_MS}\n\n".encode()

    async def _wait_for_news(self, drain: Drain) -> None:
        waits = {asyncio.create_task(wait) for wait in (self._numbering.looked(), _drained(drain))}
        try:
            await asyncio.wait(waits, timeout=POLL_SECONDS * 2, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)


async def _drained(drain: Drain) -> None:
    await drain.started.wait()


def _server_sent(event: Event) -> bytes:
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (
        event.seq,
        event.kind.encode(),
        msgspec.json.encode(event),
    )
