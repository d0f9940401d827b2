"""A listener that accepts every waiting connection at once.

uvloop accepts one connection per turn of its loop. A busy process would leave the others in the kernel's backlog,
where no limit counts them and nothing refuses them.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

import structlog

log = structlog.get_logger()

_BACKLOG = 2_048
_AT_ONCE = 256
_PAUSE_SECONDS = 0.5


class Listener:
    """The part of an asyncio server that uvicorn uses. Raises OSError if it cannot listen."""

    def __init__(self, host: str, port: int, protocol: Callable[[], asyncio.Protocol]) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.create_server((host, port), family=family, backlog=_BACKLOG)
        self._socket.setblocking(False)
        self._protocol = protocol
        self._loop = asyncio.get_running_loop()
        self._opening: set[asyncio.Task[object]] = set()
        self._listen()

    def close(self) -> None:
        if self._socket.fileno() >= 0:
            self._loop.remove_reader(self._socket)
            self._socket.close()

    async def wait_closed(self) -> None:
        await asyncio.gather(*self._opening, return_exceptions=True)

    def _listen(self) -> None:
        if self._socket.fileno() >= 0:
            self._loop.add_reader(self._socket, self._accept)

    def _accept(self) -> None:
        for _ in range(_AT_ONCE):
            try:
                connection, _ = self._socket.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                # Out of file descriptors: wait until other connections close.
                log.error("connections are not accepted", error=str(error))
                self._loop.remove_reader(self._socket)
                self._loop.call_later(_PAUSE_SECONDS, self._listen)
                return
            connection.setblocking(False)
            task = self._loop.create_task(self._loop.connect_accepted_socket(self._protocol, connection))
            self._opening.add(task)
            task.add_done_callback(self._opened)

    def _opened(self, task: asyncio.Task[object]) -> None:
        self._opening.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.debug("a connection was not opened", error=type(error).__name__)
