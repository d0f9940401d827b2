"""Connections that give up on clients which neither ask nor read, and turn requests away while the service is full."""

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


# In place of an exchange, for a request that was answered before it became one: what is left of it is not read.
_ANSWERED: Any = SimpleNamespace(response_complete=True, message_event=SimpleNamespace(set=lambda: None))


class ImpatientConnection(HttpToolsProtocol):
    """A request's head has HEAD_SECONDS to arrive, and some of an answer is read within READ_SECONDS.

    `turn_away` answers a request by its path and headers alone, or not. An exchange costs ten times as much, which
    counts where most of what comes is refused.
    """

    turn_away: TurnAway | None = None
    _timer: asyncio.TimerHandle | None = None
    _reading: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_arrived()
        self._was_read()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._head_arrived()
        self._await_head()

    def on_headers_complete(self) -> None:
        self._head_arrived()
        if not self._turned_away():
            super().on_headers_complete()

    def _turned_away(self) -> bool:
        pipelined = self.cycle is not None and not self.cycle.response_complete
        if self.turn_away is None or pipelined or self.parser.should_upgrade():
            return False
        path = unquote(self.url.partition(b"?")[0].decode("latin-1"))
        answer = self.turn_away(path, self.headers)
        if answer is None:
            return False
        head, body = answer
        without_body = self.parser.get_method() == b"HEAD"
        self.cycle = _ANSWERED
        if self.parser.should_keep_alive() and b"connection: close" not in head:
            self.transport.write(head + b"\r\n" + (b"" if without_body else body))
            self.on_response_complete()
        else:
            self.transport.write(head + b"connection: close\r\n\r\n" + (b"" if without_body else body))
            self.transport.close()
        return True

    def on_message_complete(self) -> None:
        super().on_message_complete()
        if self.cycle is _ANSWERED:
            self._unset_keepalive_if_required()
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )

    def pause_writing(self) -> None:
        super().pause_writing()
        self._await_reader(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        self._was_read()
        super().resume_writing()

    def _await_head(self) -> None:
        self._timer = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def _head_arrived(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _await_reader(self, unread: int) -> None:
        self._reading = self.loop.call_later(READ_SECONDS, self._check_reader, unread)

    def _was_read(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def _check_reader(self, unread: int) -> None:
        left = self.transport.get_write_buffer_size()
        if left < unread:
            self._await_reader(left)
        else:
            self.transport.abort()
