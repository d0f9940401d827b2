"""Streams the monitor: every agent's state, and from then on each state that has changed."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import NamedTuple

import msgspec

from services.context.timeline.following import Channel, Following
from services.context.timeline.monitor import Monitored, MonitoredAgent
from services.context.timeline.service import HEARTBEAT_SECONDS, RETRY_MS
from shared.concurrency.tasks import end
from shared.deadline import Deadline
from shared.errors import AppError
from shared.web.drain import Drain

_LOOK_SECONDS = 2.0
# A stream rests for so many times as long as its last look took, and no less than this.
_RESTS, _LEAST_REST = 4, 1.0
_BEAT = b": still here\n\n"

Look = Callable[[Deadline], Awaitable[Monitored]]


async def watched(following: Following, tenant: str, look: Look, drain: Drain) -> AsyncGenerator[bytes]:
    """Server-sent states, until the client disconnects or this process drains."""
    yield f"retry: {RETRY_MS}\n\n".encode()
    async with following.follow(tenant, drain) as channel:
        async for piece in _watch(channel, look, drain):
            yield piece


async def _watch(channel: Channel, look: Look, drain: Drain) -> AsyncGenerator[bytes]:
    known: dict[str, MonitoredAgent] = {}
    while not drain.started.is_set():
        last = channel.last
        looking = asyncio.create_task(_look(channel, look, drain))
        try:
            # Others of the tenant may look first, for a while.
            while not (await asyncio.wait([looking], timeout=HEARTBEAT_SECONDS))[0]:
                yield _BEAT
        finally:
            await end(looking)
        found = looking.result()
        agents = [*known.values()] if found.agents is None else found.agents
        changed = [each for each in reversed(agents) if known.get(each.agent_name) != each]
        known = {each.agent_name: each for each in agents}
        for each in changed:
            yield b"event: agent\ndata: %s\n\n" % msgspec.json.encode(each)
        if not changed:
            yield _BEAT
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(_LEAST_REST, _RESTS * found.seconds)):
                await drain.started.wait()
        # An agent becomes idle, and a call costs, without an event.
        if channel.last == last:
            await channel.news(HEARTBEAT_SECONDS)


class _Found(NamedTuple):
    agents: list[MonitoredAgent] | None
    """None: the database did not answer in time, or the process drains."""
    seconds: float


async def _look(channel: Channel, look: Look, drain: Drain) -> _Found:
    agents = None
    async with channel.turn:
        began = time.monotonic()
        if not drain.started.is_set():
            with contextlib.suppress(AppError):
                agents = (await look(Deadline(_LOOK_SECONDS))).data
        return _Found(agents, time.monotonic() - began)
