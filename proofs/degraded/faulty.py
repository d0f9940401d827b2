"""A proxy before a dependency, which makes it dead, slow or erroring without touching it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Literal, Self
from urllib.parse import urlsplit, urlunsplit

Way = Literal["well", "dead", "slow", "erroring"]
WAYS: tuple[Way, ...] = ("dead", "slow", "erroring")

_PIECE = 65_536
_FIELDS = b"SFATAL\0VFATAL\0C53300\0Mtoo many clients\0\0"
ERRORS = {
    "http": b"HTTP/1.1 500 Internal Server Error\r\ncontent-length: 4\r\nconnection: close\r\n\r\nboom",
    "redis": b"-ERR not today\r\n",
    # A full server's answer to whoever connects.
    "postgresql": b"E" + (len(_FIELDS) + 4).to_bytes(4, "big") + _FIELDS,
}
"""What a dependency says that has an error for everything, by the scheme of its address."""


class Faulty:
    """`slow` takes what it is told and says nothing; `dead` ends each connection at once."""

    def __init__(self, url: str) -> None:
        self._parts = urlsplit(url)
        self.way: Way = "well"
        self._open = set[asyncio.Task[None]]()

    @property
    def url(self) -> str:
        """The dependency's own, but for the port."""
        before, at, _ = self._parts.netloc.rpartition("@")
        port = self._server.sockets[0].getsockname()[1]
        return urlunsplit(self._parts._replace(netloc=f"{before}{at}127.0.0.1:{port}"))

    async def becomes(self, way: Way) -> None:
        """Connections that are open see it, too: a slow one keeps them and says no more, others end them."""
        self.way = way
        if way != "slow":
            await self._end()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await self._end()

    async def _end(self) -> None:
        tasks = [*self._open]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(OSError):
                if self.way == "well":
                    await self._between(reader, writer)
                elif self.way == "slow":
                    await asyncio.Event().wait()
                elif self.way == "erroring":
                    await self._refuse(reader, writer)
        finally:
            writer.transport.abort()

    async def _refuse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        error = ERRORS[self._parts.scheme]
        while await reader.read(_PIECE):
            writer.write(error)
            await writer.drain()
            if self._parts.scheme != "redis":
                writer.close()
                await writer.wait_closed()
                return

    async def _between(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        up_reader, up_writer = await asyncio.open_connection(self._parts.hostname, self._parts.port)
        ways = [
            asyncio.create_task(self._pass_on(one, other))
            for one, other in ((reader, up_writer), (up_reader, writer))
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            up_writer.transport.abort()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(_PIECE):
            if self.way == "slow":
                await asyncio.Event().wait()
            writer.write(piece)
            await writer.drain()
