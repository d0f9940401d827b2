"""Sends the head of an answer together with its body."""

from __future__ import annotations

import asyncio
from typing import Any


class Joining:
    """A transport that keeps what it is given until the next write, or until the event loop's next turn.

    uvicorn writes the head of an answer and its body at once, one after the other. Each write of uvloop's transport is
    a system call, a packet, and a wake-up of whoever reads.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._kept = b""

    def write(self, data: bytes) -> None:
        if self._kept:
            kept, self._kept = self._kept, b""
            self._transport.writelines([kept, data])
        elif data:
            self._kept = data
            self._loop.call_soon(self._send_kept)

    def get_write_buffer_size(self) -> int:
        return self._transport.get_write_buffer_size() + len(self._kept)

    def write_eof(self) -> None:
        self._send_kept()
        self._transport.write_eof()

    def close(self) -> None:
        self._send_kept()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def _send_kept(self) -> None:
        kept, self._kept = self._kept, b""
        if kept and not self._transport.is_closing():
            self._transport.write(kept)
