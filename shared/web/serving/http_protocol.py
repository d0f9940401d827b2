"""uvicorn's HTTP protocol with client timeouts and a cheap way to refuse requests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

TurnAway = Callable[[str, Iterable[tuple[bytes, bytes]]], tuple[bytes, bytes] | None]

HEAD_SECONDS = 10.0
READ_SECONDS = 30.0

# Replaces the request cycle of a refused request. The rest of its body is not read.
_TURNED_AWAY: Any = SimpleNamespace(response_complete=True, message_event=SimpleNamespace(set=lambda: None))


class HttpProtocol(HttpToolsProtocol):
    """Closes a connection whose client does not send a request's head within HEAD_SECONDS, or reads nothing of an
    answer for READ_SECONDS.

    `turn_away` may refuse a request by its path and headers: it returns the head and body of the refusal, or None.
    Starting a request cycle would cost ten times as much, which matters when most requests are refused.
    """

    turn_away: TurnAway | None = None
    _head_timer: asyncio.TimerHandle | None = None
    _read_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_arrived()
        self._client_read()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._head_arrived()
        self._await_head()

    def on_headers_complete(self) -> None:
        self._head_arrived()
        if not self._turned_away():
            super().on_headers_complete()

    def on_message_complete(self) -> None:
        super().on_message_complete()
        if self.cycle is _TURNED_AWAY:
            self._unset_keepalive_if_required()
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )

    def pause_writing(self) -> None:
        super().pause_writing()
        self._await_reader(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        self._client_read()
        super().resume_writing()

    def _turned_away(self) -> bool:
        pipelined = self.cycle is not None and not self.cycle.response_complete
        if self.turn_away is None or pipelined or self.parser.should_upgrade():
            return False
        path = unquote(self.url.partition(b"?")[0].decode("latin-1"))
        refusal = self.turn_away(path, self.headers)
        if refusal is None:
            return False
        self.cycle = _TURNED_AWAY
        self._refuse(*refusal)
        return True

    def _refuse(self, head: bytes, body: bytes) -> None:
        if self.parser.get_method() == b"HEAD":
            body = b""
        if self.parser.should_keep_alive() and b"connection: close" not in head:
            self.transport.write(head + b"\r\n" + body)
            self.on_response_complete()
        else:
            self.transport.write(head + b"connection: close\r\n\r\n" + body)
            self.transport.close()

    def _await_head(self) -> None:
        self._head_timer = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def _head_arrived(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _await_reader(self, unread: int) -> None:
        self._read_timer = self.loop.call_later(READ_SECONDS, self._check_reader, unread)

    def _client_read(self) -> None:
        if self._read_timer is not None:
            self._read_timer.cancel()
            self._read_timer = None

    def _check_reader(self, unread: int) -> None:
        left = self.transport.get_write_buffer_size()
        if left < unread:
            self._await_reader(left)
        else:
            self.transport.abort()
