"""A stream goes on after what it has looked through, also when it wanted nothing of that."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, cast

import pytest

from services.context.timeline import service
from services.context.timeline.following import Following
from services.context.timeline.schemas import Event, Filter
from services.context.timeline.service import Timeline
from shared.database.postgres import Database
from shared.errors import Unavailable
from shared.web.door.streams import StreamLimits, Streams
from shared.web.drain import Drain
from tests.support.cache_services import principal


class NothingWanted(Timeline):
    """None of the tenant's events is wanted. While `down`, the database does not answer."""

    def __init__(self, following: Following) -> None:
        super().__init__(cast("Database", None), following, Streams(StreamLimits()))
        self.began: list[int] = []
        self.down = False

    async def _events(self, _principal: Any, _wanted: Filter, after: int, *_: Any) -> list[Event]:
        self.began.append(after)
        if self.down:
            raise Unavailable("database", "no answer")
        return []


async def _until_beat(stream: AsyncGenerator[bytes], last: int, most: int = 20) -> None:
    beats = [await anext(stream)]
    while beats[-1] != b"id: %d\n: still here\n\n" % last:
        assert len(beats) < most, beats
        beats.append(await anext(stream))


async def test_a_filtered_stream_moves_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "HEARTBEAT_SECONDS", 0.01)
    monkeypatch.setattr(service, "_RETRY_SECONDS", 0.01)
    following = Following()
    timeline = NothingWanted(following)
    stream = timeline.stream(principal("t"), Filter(kinds=["audit"]), 5, Drain())
    async with aclosing(stream):
        assert await anext(stream) == b"id: 5\nretry: 1000\n\n"
        await _until_beat(stream, 5)
        following.tell("t", 900)
        await _until_beat(stream, 900)
        timeline.down = True
        following.tell("t", 1_000)
        for _ in range(3):
            assert await anext(stream) == b"id: 900\n: still here\n\n"
        timeline.down = False
        await _until_beat(stream, 1_000)
    assert timeline.began[-1] == 900
