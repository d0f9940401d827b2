"""Connections that give up on clients which neither ask nor read."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS = 10.0
READ_SECONDS = 30.0


class ImpatientConnection(HttpToolsProtocol):
    """A request's head has HEAD_SECONDS to arrive, and some of an answer is read within READ_SECONDS."""

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
        super().on_headers_complete()

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
