"""HTTP/1.1 to one service over connections that are kept. A general client takes several times the processor's time.

One request at a time uses a connection. An answer comes in pieces; while nobody takes them, its connection is not read.
Nothing here waits for a limited time only: callers set a deadline.
"""

from __future__ import annotations

import asyncio
import random
import re
import select
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from socket import SOCK_STREAM
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import httptools

from shared.concurrency.courtesy import worked_elsewhere
from shared.settings import KEPT_SECONDS
from shared.telemetry import call_spans

Fields: TypeAlias = list[tuple[str, str]]

# Bytes of an answer that wait to be taken before its connection is paused.
_MOST_WAITING = 262_144
# Bytes in a row that belong to no body: a head with what it announces, or the lines around chunks.
_MOST_HEAD = 32_768
# Bytes of a body that is wanted whole.
_MOST_WHOLE = 64 * 1_048_576
# Seconds for an address while there is another to try.
_CONNECT_SECONDS = 0.5
# Neither a blank nor a line break may stand in a request's first line.
_BROKEN_TARGET = re.compile(r"[\x00-\x20\x7f]")
_IDEMPOTENT = ("GET", "HEAD", "PUT", "DELETE", "OPTIONS")
_CONTINUE, _OK, _AFTER_LAST = 100, 200, 600


class CutOff(ConnectionError):
    """The connection could not be opened, or ended before its answer did, or what came is not HTTP."""


class Unreachable(CutOff):
    """The connection could not be opened. Nothing was sent."""


class Answer:
    """`headers` as they came. `ended`: no more of the body is to come, beside what was not taken yet."""

    def __init__(self, connection: _Connection, method: str) -> None:
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.ended = False
        self.without_body = method == "HEAD"
        self._connection = connection
        self._pieces: list[bytes] = []
        self._waiting = 0
        self._error: CutOff | None = None
        self._news: asyncio.Future[None] | None = None

    async def begun(self) -> None:
        """Raises CutOff."""
        while not self.status:
            await self._more()

    async def piece(self) -> bytes:
        """What has come of the body; nothing at its end. Raises CutOff."""
        while not self._pieces and not self.ended:
            await self._more()
        taken = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces, self._waiting = [], 0
        self._connection.read_on()
        return taken

    async def read(self) -> bytes:
        """The whole body. Raises CutOff, also for one that is too long to be held."""
        pieces = [await self.piece()]
        length = len(pieces[0])
        while not self.ended or self._pieces:
            pieces.append(await self.piece())
            length += len(pieces[-1])
            if length > _MOST_WHOLE:
                raise CutOff("the answer is too long")
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def add(self, piece: bytes) -> bool:
        """Whether more may come now."""
        self._pieces.append(piece)
        self._waiting += len(piece)
        self.wake()
        return self._waiting < _MOST_WAITING

    def end(self, error: CutOff | None = None) -> None:
        self.ended, self._error = error is None, error
        self.wake()

    def wake(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)

    async def _more(self) -> None:
        if self._error is not None:
            raise self._error
        self._news = asyncio.get_running_loop().create_future()
        await self._news
        self._news = None


class _Connection(asyncio.Protocol):
    def __init__(self) -> None:
        self.is_open = True
        self.reusable = False
        self._paused = False
        self._until_closed = False
        self._beside_body = 0
        self._answer: Answer | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._parser = httptools.HttpResponseParser(self)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        self.is_open = False
        answer, self._answer = self._answer, None
        if answer is not None:
            whole = answer.status and self._until_closed and error is None
            answer.end(None if whole else CutOff("the connection ended"))

    def send(self, method: str, request: bytes) -> Answer:
        self.wait_no_longer()
        # An answer that nobody took may have paused it.
        self.read_on()
        self.reusable = False
        self._beside_body = 0
        self._answer = answer = Answer(self, method)
        self._transport.write(request)
        return answer

    def is_usable(self) -> bool:
        """A server's end of a connection is known a moment before the connection is lost."""
        return self.is_open and not self._transport.is_closing()

    def is_silent(self) -> bool:
        """Whether the system has nothing of it that was not read yet, such as its end."""
        poll = select.poll()
        poll.register(self._transport.get_extra_info("socket").fileno(), select.POLLIN)
        return not poll.poll(0)

    def close(self) -> None:
        self.is_open = self._until_closed = False
        self._transport.abort()

    def close_later(self, seconds: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, self.close)

    def wait_no_longer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def read_on(self) -> None:
        if self._paused and self.is_open:
            self._paused = False
            self._transport.resume_reading()

    def data_received(self, data: bytes) -> None:
        if self._answer is None:
            # Even half a head would become a part of the next answer.
            self.close()
            return
        self._beside_body += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self.close()
        else:
            if self._beside_body > _MOST_HEAD:
                self.close()

    def on_message_begin(self) -> None:
        self._asked()

    def on_header(self, name: bytes, value: bytes) -> None:
        answer = self._asked()
        # What follows a body would come too late for whoever passes the headers on.
        if not answer.status:
            answer.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        answer, status = self._asked(), self._parser.get_status_code()
        if not _CONTINUE <= status < _AFTER_LAST:
            raise ValueError("no status of HTTP")
        if status < _OK:
            answer.headers.clear()
            return
        names = {name for name, _ in answer.headers}
        self._until_closed = not names & {b"content-length", b"transfer-encoding"}
        answer.status = status
        self._beside_body = 0
        if answer.without_body:
            # The parser would wait for the body that the headers describe.
            self._answer = None
            answer.end()
        else:
            answer.wake()

    def on_body(self, body: bytes) -> None:
        self._beside_body = 0
        if not self._asked().add(body) and not self._paused:
            self._paused = True
            self._transport.pause_reading()

    def on_message_complete(self) -> None:
        answer = self._asked()
        if answer.status:
            self._answer = None
            self.reusable = self._parser.should_keep_alive()
            answer.end()

    def _asked(self) -> Answer:
        if self._answer is None:
            raise RuntimeError("an answer that nobody asked for")
        return self._answer


class Wire:
    """`foreign`: what it asks is none of our services, so it is told nothing of our traces."""

    def __init__(self, url: str, *, kept_seconds: float = KEPT_SECONDS, foreign: bool = False) -> None:
        address = urlsplit(url)
        self.host = address.hostname or ""
        self.port = address.port or (443 if address.scheme == "https" else 80)
        self._prefix = address.path.rstrip("/")
        self._host_field = address.netloc.rpartition("@")[2]
        self._ssl = ssl.create_default_context() if address.scheme == "https" else None
        self._kept: list[_Connection] = []
        self._closed = False
        self._kept_seconds = kept_seconds
        self._foreign = foreign

    @asynccontextmanager
    async def request(
        self, method: str, target: str, headers: Fields, body: bytes = b""
    ) -> AsyncIterator[Answer]:
        """`target` is path and query, encoded. Raises CutOff, and ValueError for what would be another request.

        A request that may be repeated is sent again when a connection that was kept turns out to be closed.
        """
        with call_spans.call(method, self.host, self.port, target) as call:
            fields = headers if self._foreign else [*call.replacing(headers)]
            head = self._head(method, target, fields, body)
            connection, answer = await self._ask(method, head + body)
            # The answer may take minutes.
            del body
            worked_elsewhere()
            call.answered(answer.status)
        try:
            yield answer
        finally:
            self._keep(connection)

    def close(self) -> None:
        self._closed = True
        for connection in self._kept:
            connection.wait_no_longer()
            connection.close()

    def _head(self, method: str, target: str, headers: Fields, body: bytes) -> bytes:
        fields = "".join(f"{name}: {value}\r\n" for name, value in headers)
        if not fields.count("\r") == fields.count("\n") == len(headers):
            raise ValueError("a header has more than one line")
        if _BROKEN_TARGET.search(target):
            raise ValueError("a path is not encoded")
        length = f"content-length: {len(body)}\r\n" if body or method not in ("GET", "HEAD") else ""
        start = f"{method} {self._prefix}{target} HTTP/1.1\r\nhost: {self._host_field}\r\n"
        return f"{start}{fields}{length}\r\n".encode("latin-1")

    async def _ask(self, method: str, request: bytes) -> tuple[_Connection, Answer]:
        while True:
            kept = self._next_kept()
            connection = kept or await self._open()
            answer = connection.send(method, request)
            try:
                await answer.begun()
            except CutOff:
                connection.close()
                if kept is None or method not in _IDEMPOTENT:
                    raise
            except BaseException:
                connection.close()
                raise
            else:
                return connection, answer

    def _next_kept(self) -> _Connection | None:
        while self._kept:
            connection = self._kept.pop()
            if connection.is_usable() and connection.is_silent():
                return connection
            connection.wait_no_longer()
            connection.close()
        return None

    def _keep(self, connection: _Connection) -> None:
        if connection.reusable and connection.is_usable() and not self._closed:
            self._kept = [*filter(_Connection.is_usable, self._kept), connection]
            connection.close_later(self._kept_seconds)
        elif connection.is_open:
            connection.close()

    async def _open(self) -> _Connection:
        """To any of the addresses that the name stands for: there may be several replicas."""
        loop = asyncio.get_running_loop()
        named: dict[str, Any] = {"ssl": self._ssl, "server_hostname": self.host if self._ssl else None}
        try:
            found = await loop.getaddrinfo(self.host, self.port, type=SOCK_STREAM)
            addresses = [address[:2] for *_, address in found]
            random.shuffle(addresses)
            return await _first_open(addresses, named)
        except OSError as error:
            raise Unreachable(f"{self.host} cannot be reached") from error


async def _first_open(addresses: Sequence[tuple[Any, ...]], named: dict[str, Any]) -> _Connection:
    loop = asyncio.get_running_loop()
    refused: OSError = CutOff("the name has no address")
    for number, (host, port) in enumerate(addresses, 1):
        patience = _CONNECT_SECONDS if number < len(addresses) else None
        try:
            async with asyncio.timeout(patience):
                return (await loop.create_connection(_Connection, host, port, **named))[1]
        except OSError as error:
            refused = error
    raise refused
