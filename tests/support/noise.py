"""How late the machine itself is: a bare echo in another process, asked all the while.

Where others compete for the processors, a time measured by a client holds their share, too.
"""

import asyncio
import sys
import time
from contextlib import suppress
from typing import Self

_EVERY_SECONDS = 0.02
_ECHO = """
import asyncio
async def echo(reader, writer):
    while data := await reader.read(1):
        writer.write(data)
async def main():
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""


class Noise:
    def __init__(self) -> None:
        self._echoes: list[tuple[float, float]] = []

    def during(self, start: float, seconds: float) -> float:
        """The longest echo of that time, in seconds."""
        end = start + seconds
        return max((took for at, took in self._echoes if at <= end and at + took >= start), default=0.0)

    async def __aenter__(self) -> Self:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", _ECHO, stdout=asyncio.subprocess.PIPE
        )
        assert self._process.stdout is not None
        port = int(await self._process.stdout.readline())
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", port)
        self._task = asyncio.create_task(self._listen())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        self._writer.close()
        self._process.kill()
        await self._process.wait()

    async def _listen(self) -> None:
        while True:
            asked = time.monotonic()
            self._writer.write(b"?")
            await self._reader.readexactly(1)
            self._echoes.append((asked, time.monotonic() - asked))
            await asyncio.sleep(_EVERY_SECONDS)
