"""Load at a given rate, whatever the answers do: requests over connections that are kept, each timed on its own.

The client is bare, since it shares the machine with what it measures.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import httptools

_MOST_CONNECTIONS = 1_000


@dataclass
class Tally:
    """Of requests sent: `seconds` of those answered with success, and how the others ended."""

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    without_retry_after: int = 0
    broken: int = 0
    unsent: int = 0
    """For which no connection was free."""

    @property
    def sent(self) -> int:
        return sum(self.statuses.values()) + self.broken

    def percentile(self, share: float) -> float:
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


class _Connection(asyncio.Protocol):
    """One request at a time."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._tally = load.tally
        self._sent = 0.0
        self._retry_after: bytes | None = None
        self._parser = httptools.HttpResponseParser(self)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def send(self, request: bytes) -> None:
        self._retry_after, self._tally = None, self._load.tally
        self._sent = time.perf_counter()
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_header(self, name: bytes, value: bytes) -> None:
        if name.lower() == b"retry-after":
            self._retry_after = value

    def on_message_complete(self) -> None:
        seconds, self._sent = time.perf_counter() - self._sent, 0.0
        status, tally = self._parser.get_status_code(), self._tally
        tally.statuses[status] += 1
        if status < 300:
            tally.seconds.append(seconds)
        elif status in (429, 503) and self._retry_after is None:
            tally.without_retry_after += 1
        if self._parser.should_keep_alive():
            self._parser = httptools.HttpResponseParser(self)
            self._load.free(self, float(self._retry_after or 0))
        else:
            self._transport.close()

    def connection_lost(self, _: Exception | None) -> None:
        if self._sent:
            self._tally.broken += 1
        self._load.lost(self)

    def close(self) -> None:
        self._transport.abort()


class Load:
    """Sends `requests` (whole, as bytes) in random order to one address."""

    def __init__(self, host: str, port: int, requests: Sequence[bytes], seed: int) -> None:
        self._address = host, port
        self._requests = requests
        self._random = random.Random(seed)
        self._free: deque[_Connection] = deque()
        self._all: set[_Connection] = set()
        self._patient = False
        self._turn: asyncio.Future[None] | None = None
        self.tally = Tally()
        """Where what is sent now will be counted."""

    def free(self, connection: _Connection, retry_after: float = 0.0) -> None:
        if retry_after and self._patient:
            asyncio.get_running_loop().call_later(retry_after, self.free, connection)
            return
        self._free.append(connection)
        if self._turn is not None and not self._turn.done():
            self._turn.set_result(None)

    def lost(self, connection: _Connection) -> None:
        self._all.discard(connection)
        if connection in self._free:
            self._free.remove(connection)

    async def at(self, rate: float, seconds: float, *, onset: float = 0.0) -> Tally:
        """`rate` requests a second, in the times of a Poisson process; answers may take some seconds more.

        What was sent in the first `onset` seconds, which come before, is not in the tally.
        """
        early, tally, self._patient = Tally(), Tally(), False
        now = time.perf_counter()
        start = now + onset
        due = now + self._random.expovariate(rate)
        while now < start + seconds:
            self.tally = tally if now >= start else early
            await asyncio.sleep(max(0.0, due - now))
            now = time.perf_counter()
            while due <= now:
                await self._send()
                due += self._random.expovariate(rate)
        await self._settle(6.0)
        return tally

    async def closed(self, at_once: int, seconds: float) -> Tally:
        """`at_once` callers, each with its next request as soon as the last one is answered, or as it is told to."""
        tally, self._patient = Tally(), True
        self.tally = tally
        while len(self._free) > at_once:
            self._free.pop().close()
        await self._open(at_once)
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            while self._free:
                self._free.popleft().send(self._random.choice(self._requests))
            self._turn = asyncio.get_running_loop().create_future()
            await asyncio.wait({self._turn}, timeout=end - time.perf_counter())
        await self._settle(6.0)
        return tally

    async def _send(self) -> None:
        if not self._free and len(self._all) < _MOST_CONNECTIONS:
            await self._open(1)
        if self._free:
            self._free.popleft().send(self._random.choice(self._requests))
        else:
            self.tally.unsent += 1

    async def _open(self, count: int) -> None:
        loop = asyncio.get_running_loop()
        while len(self._free) < count:
            _, connection = await loop.create_connection(lambda: _Connection(self), *self._address)
            self._all.add(connection)
            self._free.append(connection)

    async def _settle(self, seconds: float) -> None:
        """Until all are answered; what is not by then is broken off and counted."""
        end = time.perf_counter() + seconds
        while len(self._free) < len(self._all) and time.perf_counter() < end:
            await asyncio.sleep(0.01)
        for connection in self._all - set(self._free):
            connection.close()
        await asyncio.sleep(0)

    def close(self) -> None:
        for connection in [*self._all]:
            connection.close()
