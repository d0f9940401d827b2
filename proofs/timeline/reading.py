"""A reader of the stream that resumes with the last number it saw."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import time
from dataclasses import dataclass, field

import aiohttp

from tests.support.cluster import Client

_AGAIN_SECONDS = 0.1


@dataclass
class Reader:
    """Follows the stream, breaking off `breaks` times of itself; `seen` are entries' ids in the order they came."""

    client: Client
    random: random.Random
    breaks: int
    wanted: int
    seen: list[int] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    """When each of `seen` came, by the monotonic clock."""
    out_of_order: int = 0
    broken_off: int = 0
    last: int = 0

    async def follow(self) -> None:
        while True:
            stay = None
            if self.broken_off < self.breaks:
                stay = self.random.randint(1, self.wanted // self.breaks)
            with contextlib.suppress(aiohttp.ClientError, TimeoutError):
                self.broken_off += await self._read(stay)
                continue
            # No replica takes the stream now.
            await asyncio.sleep(_AGAIN_SECONDS)

    async def _read(self, stay: int | None) -> bool:
        """Until `stay` events came, and True then; or until the stream ends."""
        headers = {"accept": "text/event-stream", "last-event-id": str(self.last)}
        timeout = aiohttp.ClientTimeout(total=None, sock_read=30)
        async with self.client.session.get("/api/timeline", headers=headers, timeout=timeout) as response:
            response.raise_for_status()
            async for raw in response.content:
                name, _, value = raw.decode().rstrip("\n").partition(": ")
                if name != "data":
                    continue
                self._take(json.loads(value))
                if stay is not None and (stay := stay - 1) <= 0:
                    return True
        return False

    def _take(self, event: dict[str, object]) -> None:
        seq = event["seq"]
        assert isinstance(seq, int)
        self.out_of_order += seq <= self.last
        self.last = seq
        if event["kind"] == "cache_write":
            payload = event["payload"]
            assert isinstance(payload, dict)
            self.seen.append(payload["id"])
            self.times.append(time.monotonic())
