"""A server of raw bytes, for answers that no HTTP server would give."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from services.context.forwarding.wire import Wire

OK = b"HTTP/1.1 200 OK\r\n"
FIVE = OK + b"Content-Length: 5\r\n\r\nhello"
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def served(serve: Serve) -> AsyncIterator[tuple[Wire, list[asyncio.StreamWriter]]]:
    """A wire to a server, and the connections that were opened."""
    opened: list[asyncio.StreamWriter] = []

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        opened.append(writer)
        try:
            await serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    wire = Wire(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    try:
        yield wire, opened
    finally:
        wire.close()
        server.close()


def answering(*answers: bytes, then_close: bool = False) -> Serve:
    """Each connection gets these answers, one to a request, and the last again and again."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        left = list(answers)
        while left:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(left[0])
            await writer.drain()
            if len(left) > 1 or then_close:
                left.pop(0)

    return serve
