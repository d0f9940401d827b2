"""Clients that take their time: with their request's head, with its body, and with reading the answer."""

from __future__ import annotations

import asyncio
import itertools
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Self

_PAUSE_SECONDS = 0.5
# Public, and larger than a small window and the server's buffers hold.
_LARGE = "/schema/openapi.json"


class SlowClients:
    """`count` of them, a third of each kind, while the block lasts; `ended` were answered or sent away."""

    def __init__(self, host: str, port: int, token: str, count: int) -> None:
        self._address = host, port
        self._token = token
        self._count = count
        self.ended = 0

    async def __aenter__(self) -> Self:
        kinds = itertools.cycle((self._head, self._body, self._reader))
        self._tasks = [
            asyncio.create_task(self._until_ended(kind)) for kind in itertools.islice(kinds, self._count)
        ]
        await asyncio.sleep(2 * _PAUSE_SECONDS)
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _until_ended(self, kind: Callable[[], Awaitable[None]]) -> None:
        with suppress(OSError):
            await kind()
        self.ended += 1

    async def _head(self) -> None:
        await self._trickle(b"", b"GET /api/timeline HTTP/1.1\r\nx-slow: " + b"x" * 10_000)

    async def _body(self) -> None:
        head = (
            f"POST /api/psychic-cache/write HTTP/1.1\r\nhost: slow\r\nauthorization: Bearer {self._token}\r\n"
            "content-type: application/json\r\ncontent-length: 100000\r\n\r\n"
        )
        await self._trickle(head.encode(), b'{"content": "' + b"x" * 90_000)

    async def _trickle(self, at_once: bytes, slowly: bytes) -> None:
        """Until the server says something, or closes."""
        reader, writer = await asyncio.open_connection(*self._address)
        try:
            writer.write(at_once)
            for place in range(len(slowly)):
                writer.write(slowly[place : place + 1])
                with suppress(TimeoutError):
                    async with asyncio.timeout(_PAUSE_SECONDS):
                        await reader.read(65_536)
                        return
        finally:
            writer.close()

    async def _reader(self) -> None:
        with socket.socket() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            connection.setblocking(False)
            loop = asyncio.get_running_loop()
            await loop.sock_connect(connection, self._address)
            await loop.sock_sendall(connection, f"GET {_LARGE} HTTP/1.1\r\nhost: slow\r\n\r\n".encode())
            while await loop.sock_recv(connection, 16):
                await asyncio.sleep(_PAUSE_SECONDS)
