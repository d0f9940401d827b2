"""uvicorn's HTTP protocol with client timeouts, a limit for heads and a cheap way to refuse requests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any, TypeAlias
from urllib.parse import unquote

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from shared.web.door.refusals import MAX_HEAD, Raw
from shared.web.serving.joining import Joining

Fields: TypeAlias = Iterable[tuple[bytes, bytes]]
TurnAway: TypeAlias = Callable[[str, Fields], Raw | None]
HeadTooLarge: TypeAlias = Callable[[Fields], Raw]
IsApart: TypeAlias = Callable[[str], bool]

# Where the state of a scope holds what closes the connection after what was sent: the end of an answer that broke off.
HANG_UP = "hang_up"

# The most requests that a client may send at once without waiting for answers.
MOST_AHEAD = 64
HEAD_SECONDS = 10.0
READ_SECONDS = 30.0
# What a client sends on after a refusal is read piece by piece, so that it costs little.
_PIECE_SECONDS = 0.25
# What a header costs besides its name and its value: a colon, a space and the end of the line.
_HEADER_EXTRA = 4

# Replaces the request cycle of a refused request. The rest of its body is not read.
_TURNED_AWAY: Any = SimpleNamespace(response_complete=True, message_event=SimpleNamespace(set=lambda: None))


class HttpProtocol(HttpToolsProtocol):
    """Closes a connection whose client does not send a request's head within HEAD_SECONDS, or reads nothing of an
    answer for READ_SECONDS.

    `turn_away` may refuse a request by its path and headers. Starting a request cycle would cost ten times as much,
    which matters when most requests are refused.

    A request whose head is larger than MAX_HEAD gets the answer of `head_too_large`, and its connection ends. The
    parser keeps an unfinished header, so the protocol counts the bytes that arrive between the beginning of a request
    and its body, and between the pieces of its body. It closes a connection that sends more than
    MOST_AHEAD requests at once, because the event loop parses them in one turn.

    An answer to a path that `is_apart` gets no header of ours.
    """

    turn_away: TurnAway | None = None
    head_too_large: HeadTooLarge | None = None
    is_apart: IsApart | None = None
    _unparsed = 0
    _begun = 0
    _deaf = False
    _head_timer: asyncio.TimerHandle | None = None
    _read_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(Joining(transport, self.loop))  # type: ignore[arg-type]
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_arrived()
        self._client_read()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._deaf:
            self._read_on_later()
            return
        self._begun = 0
        # The parser's callbacks set it to 0.
        self._unparsed += len(data)
        super().data_received(data)
        if self._unparsed > MAX_HEAD:
            self._refuse_head()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._unparsed = 0
        self._begun += 1
        if self._begun > MOST_AHEAD:
            self._deaf = True
            self.transport.abort()
        if not self._deaf:
            self._head_arrived()
            self._await_head()

    def on_headers_complete(self) -> None:
        if self._deaf:
            return
        if self._head_size() > MAX_HEAD:
            self._refuse_head()
            return
        self._head_arrived()
        if not self._turned_away():
            super().on_headers_complete()
            self._set_apart()

    def on_body(self, body: bytes) -> None:
        self._unparsed = 0
        if not self._deaf:
            super().on_body(body)

    def on_message_complete(self) -> None:
        if self._deaf:
            return
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

    def _set_apart(self) -> None:
        """Before the request's task begins."""
        if self.cycle is not None and self.is_apart is not None and self.is_apart(self.scope.get("path", "")):
            self.cycle.default_headers = []
            self.scope["state"][HANG_UP] = self.transport.close

    def _turned_away(self) -> bool:
        pipelined = self.cycle is not None and not self.cycle.response_complete
        if self.turn_away is None or pipelined or self.parser.should_upgrade():
            return False
        path = unquote(self.url.partition(b"?")[0].decode("latin-1"))
        refusal = self.turn_away(path, self.headers)
        if refusal is None:
            return False
        self.cycle = _TURNED_AWAY
        self._refuse(refusal)
        return True

    def _head_size(self) -> int:
        return len(self.url) + sum(len(name) + len(value) + _HEADER_EXTRA for name, value in self.headers)

    def _refuse_head(self) -> None:
        """Answers, and drops what else arrives until the client closes, which then has read the answer.

        While another request of the connection is in progress, its answer is the last one. Anything else than a head
        that has no end is no request, and gets no answer.
        """
        self._deaf = True
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.keep_alive = False
            return
        if self._head_timer is None:
            self.transport.abort()
        if self.transport.is_closing():
            return
        self.cycle = _TURNED_AWAY
        if self.head_too_large is not None:
            head, body = self.head_too_large(self.headers or ())
            self.transport.write(head + b"connection: close\r\n\r\n" + body)
        self.transport.write_eof()
        self._head_arrived()
        self._await_head()
        self._read_on_later()

    def _read_on_later(self) -> None:
        self.transport.pause_reading()
        self.loop.call_later(_PIECE_SECONDS, self._read_on)

    def _read_on(self) -> None:
        if not self.transport.is_closing():
            self.transport.resume_reading()

    def _refuse(self, refusal: Raw) -> None:
        head, body = refusal
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
