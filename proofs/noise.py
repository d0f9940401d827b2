"""How late the machine itself is: a bare echo on each processor, in processes of their own, asked all the while.

Where others compete for the processors, a time measured by a client holds their share, too. A virtual processor can
stand still alone, and whoever is on it; an echo on another one does not notice.
"""

import asyncio
import os
import sys
import time
from contextlib import suppress
from typing import Self

_EVERY_SECONDS = 0.02
_ECHO = """
import asyncio, os, sys
async def echo(reader, writer):
    while data := await reader.read(1):
        writer.write(data)
async def main():
    os.sched_setaffinity(0, {int(sys.argv[1])})
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""


class Noise:
    def __init__(self) -> None:
        self._echoes: list[tuple[float, float]] = []
        self._processes: list[asyncio.subprocess.Process] = []
        self._tasks: list[asyncio.Task[None]] = []

    def during(self, start: float, seconds: float) -> float:
        """The longest echo of that time, in seconds."""
        end = start + seconds
        return max((took for at, took in self._echoes if at <= end and at + took >= start), default=0.0)

    async def __aenter__(self) -> Self:
        for processor in sorted(os.sched_getaffinity(0)):
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-c", _ECHO, str(processor), stdout=asyncio.subprocess.PIPE
            )
            self._processes.append(process)
            assert process.stdout is not None
            port = int(await process.stdout.readline())
            self._tasks.append(asyncio.create_task(self._listen(port)))
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        for process in self._processes:
            process.kill()
            await process.wait()

    async def _listen(self, port: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            while True:
                asked = time.monotonic()
                writer.write(b"?")
                await reader.readexactly(1)
                self._echoes.append((asked, time.monotonic() - asked))
                await asyncio.sleep(_EVERY_SECONDS)
        finally:
            writer.close()
