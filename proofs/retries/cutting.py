"""A proxy that cuts the replies to writes only: a page or a probe that comes between keeps its reply."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from tests.support.cutting import Cutter

_PIECE = 65_536
_WRITES = (b"POST ", b"PUT ", b"DELETE ")


class WriteCutter(Cutter):
    """`passed` is how many writes came by. `replies` is how many of their replies are still to be cut."""

    def __init__(self, target: str) -> None:
        super().__init__(target)
        self.passed = 0
        # The loop itself keeps no task alive.
        self._open = set[asyncio.Task[None]]()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._between(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def __aexit__(self, *given: object) -> None:
        await super().__aexit__(*given)
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _between(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        up_reader, up_writer = await asyncio.open_connection(self._target.hostname, self._target.port)
        talk = _Talk()
        asking = asyncio.create_task(self._ask(talk, reader, up_writer))
        with suppress(OSError):
            await self._reply(talk, up_reader, writer)
        asking.cancel()
        for one in (writer, up_writer):
            one.transport.abort()

    async def _ask(self, talk: _Talk, reader: asyncio.StreamReader, up: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while piece := await reader.read(_PIECE):
                # A request begins after an answer: what comes before the next answer belongs to it.
                if talk.answered:
                    talk.answered, talk.writes = False, piece.startswith(_WRITES)
                    self.passed += talk.writes
                up.write(piece)
                await up.drain()
        up.transport.abort()

    async def _reply(self, talk: _Talk, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(_PIECE):
            talk.answered = True
            if talk.writes and self.replies > 0:
                self.replies -= 1
                self.cuts += 1
                return
            writer.write(piece)
            await writer.drain()


class _Talk:
    """What one connection is about."""

    def __init__(self) -> None:
        self.answered, self.writes = True, False
