"""A provider that says what a script tells it, and the gateway's answers, as HTTP servers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import msgspec

from services.context.forwarding.wire import Answer as WireAnswer
from services.context.forwarding.wire import Wire
from services.context.gateway.answering import answer
from services.context.gateway.cleanup import Action
from services.context.gateway.phantom import PhantomCall, with_tools
from services.context.gateway.restoring.hidden import Hidden
from services.context.gateway.restoring.putting_back import count_of, put_back
from tests.support.gateway.said import Api

PATHS = {"/v1/messages": "messages", "/v1/chat/completions": "chat", "/v1/responses": "responses"}
EVENTS, JSON = "text/event-stream", "application/json"


class Reply(NamedTuple):
    """`breaks`: the connection ends before the answer does."""

    status: int
    kind: str
    pieces: Sequence[bytes] | AsyncIterator[bytes]
    breaks: bool = False


Handle = Callable[[str, bytes], Awaitable[Reply]]


@asynccontextmanager
async def serving(handle: Handle) -> AsyncIterator[str]:
    """The server's address."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await _serve(handle, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


async def _serve(handle: Handle, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *fields = head.split("\r\n")
    named = dict(field.lower().split(": ", 1) for field in fields if field)
    body = await reader.readexactly(int(named.get("content-length", "0")))
    reply = await handle(first.split(" ")[1].partition("?")[0], body)
    writer.write(
        f"HTTP/1.1 {reply.status} X\r\ncontent-type: {reply.kind}\r\nconnection: close\r\n"
        "transfer-encoding: chunked\r\n\r\n".encode()
    )
    pieces = reply.pieces
    try:
        async for piece in pieces if isinstance(pieces, AsyncIterator) else _each(pieces):
            if piece:
                writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
                await writer.drain()
    except OSError:
        return
    if not reply.breaks:
        writer.write(b"0\r\n\r\n")
        await writer.drain()


async def _each(pieces: Sequence[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


class Provider:
    """Gives its replies in their order, and keeps the requests."""

    def __init__(self, *replies: Reply) -> None:
        self.requests: list[bytes] = []
        self._left = list(replies)

    async def handle(self, path: str, body: bytes) -> Reply:
        self.requests.append(body)
        return self._left.pop(0)

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(body) for body in self.requests]


def replied(api: Api, parts: Sequence[Any], number: int = 0, *, streams: bool, **named: Any) -> Reply:
    if streams:
        return Reply(200, EVENTS, api.stream(parts, number, **named))
    return Reply(200, JSON, [json.dumps(api.whole(parts, number, **named), ensure_ascii=False).encode()])


class Remembering:
    """A memory that answers every call, and keeps it."""

    def __init__(self) -> None:
        self.hidden: list[Hidden] = []
        self.calls: list[PhantomCall] = []
        self.actions: list[Action] = []
        self.fails = False

    async def answer(self, call: PhantomCall) -> str:
        self.calls.append(call)
        if self.fails:
            raise ConnectionError("the memory is down")
        return f"of {call.given}"

    async def keep(self, hidden: Hidden) -> None:
        """As a database would, as JSON."""
        self.hidden.append(msgspec.json.decode(msgspec.json.encode(hidden), type=Hidden))

    async def act(self, actions: Sequence[Action]) -> None:
        self.actions += actions
        if self.fails:
            raise ConnectionError("the memory is down")


class _Upstream:
    def __init__(self, wire: Wire, path: str, body: bytes) -> None:
        self._context = wire.request("POST", path, [("content-type", JSON)], body)
        self._answer: WireAnswer | None = None
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []

    async def begun(self) -> _Upstream:
        self._answer = await self._context.__aenter__()
        self.status, self.headers = self._answer.status, self._answer.headers
        return self

    async def pieces(self) -> AsyncIterator[bytes]:
        assert self._answer is not None
        while piece := await self._answer.piece():
            yield piece

    async def close(self) -> None:
        await self._context.__aexit__(None, None, None)


@asynccontextmanager
async def gateway(provider: str, memory: Remembering) -> AsyncIterator[str]:
    """The gateway's address, for one provider."""
    wire = Wire(provider)

    async def handle(path: str, body: bytes) -> Reply:
        endpoint: Any = PATHS[path]
        restored = put_back(endpoint, body, memory.hidden)

        def send(sent: bytes) -> Awaitable[_Upstream]:
            return _Upstream(wire, path, sent).begun()

        request = with_tools(endpoint, restored) or restored
        given = await answer(endpoint, request, send, memory, memory.keep, at=count_of(endpoint, body))
        kind = dict(given.headers)[b"content-type"].decode()
        return Reply(given.status, kind, given.pieces)

    async with serving(handle) as address:
        yield address
    wire.close()
