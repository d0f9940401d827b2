"""Streams of the monitor that wait for their turn say so, and end with the process."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from services.context.timeline import watching
from services.context.timeline.following import Following
from services.context.timeline.monitor import Monitored
from shared.deadline import Deadline
from shared.web.drain import Drain

BEAT = b": still here\n\n"


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "HEARTBEAT_SECONDS", 0.01)
    monkeypatch.setattr(watching, "_LEAST_REST", 0.01)


class Looking:
    """Looks that take as long as the test wants."""

    def __init__(self) -> None:
        self.begun = 0
        self.answers = asyncio.Event()

    async def __call__(self, _: Deadline) -> Monitored:
        self.begun += 1
        await self.answers.wait()
        return Monitored([], None)


async def test_a_stream_that_waits_for_another_says_that_it_is_there() -> None:
    following, drain, look = Following(), Drain(), Looking()
    first = watching.watched(following, "t", look, drain)
    second = watching.watched(following, "t", look, drain)
    async with aclosing(first), aclosing(second):
        for stream in (first, second):
            assert (await anext(stream)).startswith(b"retry:")
        for _ in range(3):
            assert await anext(first) == await anext(second) == BEAT
        assert look.begun == 1
    # Whoever leaves gives its turn up.
    look.answers.set()
    third = watching.watched(following, "t", look, drain)
    async with aclosing(third):
        await anext(third)
        assert await anext(third) == BEAT
        assert look.begun == 2


async def test_streams_in_a_line_end_without_a_look_when_the_process_does() -> None:
    following, drain, look = Following(), Drain(), Looking()
    streams = [watching.watched(following, "t", look, drain) for _ in range(20)]

    async def read(stream: object) -> None:
        async for _ in stream:  # type: ignore[attr-defined]
            pass

    reading = [asyncio.create_task(read(stream)) for stream in streams]
    while not look.begun:
        await asyncio.sleep(0)
    drain.started.set()
    look.answers.set()
    await asyncio.wait_for(asyncio.gather(*reading), 5)
    assert look.begun == 1
