"""A caller that takes as little of the processors as can be: they are shared with what is measured.

On keep-alive connections a general HTTP client takes three to four times as long for a request as this one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Self
from urllib.parse import urlsplit

import httptools
import msgspec


class _Connection(asyncio.Protocol):
    """One request at a time."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._answer: asyncio.Future[tuple[int, bytes]] | None = None

    def send(self, request: bytes) -> asyncio.Future[tuple[int, bytes]]:
        self._parser = httptools.HttpResponseParser(self)
        self._pieces: list[bytes] = []
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return self._answer

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_body(self, body: bytes) -> None:
        self._pieces.append(body)

    def on_message_complete(self) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result((self._parser.get_status_code(), b"".join(self._pieces)))

    def connection_lost(self, error: Exception | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error or ConnectionError("the connection ended"))

    def close(self) -> None:
        self._transport.close()


class Wire:
    """Sends JSON to one address, over as many connections as there are requests at once."""

    def __init__(self, host: str, port: int, headers: Mapping[str, str]) -> None:
        self._address = host, port
        lines = ("host: bench", "content-type: application/json", *(f"{k}: {v}" for k, v in headers.items()))
        self._head = "\r\n".join(lines)
        self._free: list[_Connection] = []

    @classmethod
    def to(cls, url: str, headers: Mapping[str, str]) -> Self:
        address = urlsplit(url)
        return cls(str(address.hostname), int(address.port or 80), headers)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for connection in self._free:
            connection.close()

    async def post(self, path: str, body: object) -> tuple[int, bytes]:
        """The status and the body of the answer."""
        return await self._send("POST", path, msgspec.json.encode(body))

    async def get(self, path: str) -> tuple[int, bytes]:
        return await self._send("GET", path, b"")

    async def _send(self, method: str, path: str, content: bytes) -> tuple[int, bytes]:
        head = f"{method} {path} HTTP/1.1\r\n{self._head}\r\ncontent-length: {len(content)}\r\n\r\n"
        connection = self._free.pop() if self._free else await self._open()
        answer = await connection.send(head.encode() + content)
        self._free.append(connection)
        return answer

    async def _open(self) -> _Connection:
        loop = asyncio.get_running_loop()
        return (await loop.create_connection(_Connection, *self._address))[1]
