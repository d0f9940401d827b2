"""A proxy that cuts connections: before a reply reaches the caller, or in the middle of one."""

import asyncio
from typing import Self
from urllib.parse import urlsplit

_PIECE = 65_536


class Cutter:
    """Passes bytes on. `replies` is how many replies it still cuts before they begin.

    `every` cuts a connection after that many bytes of answers, for streams.
    """

    def __init__(self, target: str) -> None:
        self._target = urlsplit(target)
        self.replies = 0
        self.every: int | None = None
        self.cuts = 0
        self.begun = asyncio.Event()
        """Whether a reply has begun."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        up_reader, up_writer = await asyncio.open_connection(self._target.hostname, self._target.port)
        asking = asyncio.create_task(_pass_on(reader, up_writer))
        try:
            await self._answer(up_reader, writer)
        except OSError:
            pass
        finally:
            asking.cancel()
            writer.transport.abort()
            up_writer.transport.abort()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        passed = 0
        while piece := await reader.read(_PIECE):
            if self.replies > 0:
                self.replies -= 1
                self.cuts += 1
                return
            room = len(piece) if self.every is None else self.every - passed
            self.begun.set()
            writer.write(piece[:room])
            await writer.drain()
            passed += len(piece)
            if room < len(piece):
                self.cuts += 1
                return


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while piece := await reader.read(_PIECE):
        writer.write(piece)
        await writer.drain()
