"""A provider that takes as little of the processors as can be: they are shared with what is measured."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

WAIT_SECONDS = 0.05
"""From a request to the first byte of its answer."""
IDLE = b"x-idle: yes"
_WHOLE = (
    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 102\r\n\r\n"
    b'{"model":"m","content":[{"type":"text","text":"Done."}],"usage":{"input_tokens":9,"output_tokens":99}}'
)
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
_EVENT = (
    b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"text":"word "}}\n\n'
)
_EVENTS, _PAUSE_SECONDS = 20, 0.01


class _Connection(asyncio.Protocol):
    """One request at a time. Whoever sends the field `x-idle` gets one event, and then nothing."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._given = bytearray()

    def data_received(self, data: bytes) -> None:
        self._given += data
        end = self._given.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self._given[:end]).lower()
        length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
        if len(self._given) < end + 4 + length:
            return
        streams = b'"stream":true' in self._given[end:]
        self._given.clear()
        send = self._begin if streams else self._whole
        asyncio.get_running_loop().call_later(WAIT_SECONDS, send, *((IDLE in head,) if streams else ()))

    def _whole(self) -> None:
        self._transport.write(_WHOLE)

    def _begin(self, idle: bool) -> None:
        self._transport.write(_HEAD + _chunk(_EVENT))
        if not idle:
            self._next(_EVENTS)

    def _next(self, left: int) -> None:
        if not left:
            self._transport.write(_chunk(b""))
            return
        self._transport.write(_chunk(_EVENT))
        asyncio.get_running_loop().call_later(_PAUSE_SECONDS, self._next, left - 1)


def _chunk(piece: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(piece), piece)


@asynccontextmanager
async def providing(port: int) -> AsyncIterator[None]:
    server = await asyncio.get_running_loop().create_server(_Connection, "127.0.0.1", port, backlog=2_048)
    try:
        yield
    finally:
        server.close()
