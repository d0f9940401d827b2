"""A provider and a host that see every byte: the provider keeps what came, and sends what it is told to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import NamedTuple

_PIECE = 65_536


class Request(NamedTuple):
    line: str
    fields: list[tuple[str, str]]
    """With names in lower case, in their order."""
    body: bytes

    @property
    def named(self) -> dict[str, str]:
        return dict(self.fields)


@dataclass
class RawProvider:
    """`pieces` are sent one by one, head included, `pause` seconds apart. Then the connection ends, or stays open."""

    pieces: Sequence[bytes] = ()
    pause: float = 0.0
    stays: bool = False
    requests: list[Request] = field(default_factory=list)
    gone: int = 0
    """Hosts that left before their answer had ended."""
    url: str = ""

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (request := await read_request(reader)) is not None:
                self.requests.append(request)
                for piece in self.pieces:
                    writer.write(piece)
                    await writer.drain()
                    await asyncio.sleep(self.pause)
                if not self.stays:
                    return
                await self._idle(reader, writer)
        except ConnectionError:
            self.gone += 1
        finally:
            writer.close()

    async def _idle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not await reader.read(1):
            self.gone += 1
            raise ConnectionError


@asynccontextmanager
async def providing(provider: RawProvider) -> AsyncIterator[RawProvider]:
    server = await asyncio.start_server(provider.answer, "127.0.0.1", 0)
    provider.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield provider
    finally:
        server.close()


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    line, *rest = head.rstrip("\r\n").split("\r\n")
    fields = [(name.lower(), value) for name, _, value in (each.partition(": ") for each in rest)]
    length = int(dict(fields).get("content-length", "0"))
    return Request(line, fields, await reader.readexactly(length))


async def sent(url: str, request: bytes, seconds: float = 20.0) -> bytes:
    """All that comes back until the connection ends."""
    host, port = url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write(request)
        await writer.drain()
        async with asyncio.timeout(seconds):
            pieces: list[bytes] = []
            with suppress(ConnectionError):
                while piece := await reader.read(_PIECE):
                    pieces.append(piece)
            return b"".join(pieces)
    finally:
        writer.close()


def chunked(*pieces: bytes) -> list[bytes]:
    """The chunks of a body, with its end."""
    return [*(f"{len(piece):x}\r\n".encode() + piece + b"\r\n" for piece in pieces), b"0\r\n\r\n"]


def whole(status: int, body: bytes, *fields: str) -> bytes:
    """An answer, behind which the connection ends."""
    lines = (f"HTTP/1.1 {status} X", *fields, f"content-length: {len(body)}", "connection: close")
    return "".join(f"{each}\r\n" for each in lines).encode("latin-1") + b"\r\n" + body


def posted(path: str, key: str | None, body: bytes, *fields: str) -> bytes:
    """A host's request on a connection of its own."""
    own = () if key is None else (f"X-Scrubjay-Key: {key}",)
    lines = (
        f"POST {path} HTTP/1.1",
        "Host: gateway.test",
        *own,
        *fields,
        f"Content-Length: {len(body)}",
        "Connection: close",
    )
    return "".join(f"{each}\r\n" for each in lines).encode("latin-1") + b"\r\n" + body


def unchunked(answer: bytes) -> tuple[bytes, bytes, bool]:
    """Head, body and whether the body has come to its end."""
    head, _, rest = answer.partition(b"\r\n\r\n")
    if b"transfer-encoding: chunked" not in head.lower():
        length = int(
            next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")).split(
                b":"
            )[1]
        )
        return head, rest, len(rest) == length
    body = b""
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        count = int(size, 16)
        if not count:
            return head, body, True
        if len(rest) < count:
            return head, body + rest, False
        body, rest = body + rest[:count], rest[count + 2 :]
    return head, body, False
