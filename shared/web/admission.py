"""Admits or refuses requests. It is plain ASGI around the Litestar app, so that a refusal costs almost nothing."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable
from typing import Any

import msgspec
from litestar import Litestar
from litestar.types import ASGIApp, Receive, Send

from shared.body import MAX_BODY
from shared.errors import TooMany
from shared.telemetry import metrics
from shared.web import probes
from shared.web.drain import Drain
from shared.web.exchange import CLOSE, EVENT_STREAM, Exchange, Headers, request_id_from
from shared.web.overload import Gate, Work
from shared.web.problems import PROBLEM, too_large

_FULL_HEAD = (
    b"HTTP/1.1 429 Too Many Requests\r\ncontent-type: application/problem+json\r\n"
    b"retry-after: %b\r\nx-request-id: %b\r\ncontent-length: %d\r\n"
)
_TOO_LARGE, _FULL = (
    msgspec.json.encode(error.problem()) for error in (too_large(), TooMany("the service is full"))
)


class Admission:
    """Refuses requests that are too large, and all requests while the service is full (`shared.web.overload`)."""

    def __init__(self, app: Litestar, drain: Drain, *, in_flight: int) -> None:
        self.litestar = app
        self.drain = drain
        self.app: ASGIApp = app
        self.gate = Gate(in_flight)
        metrics.IN_FLIGHT.set_function(lambda: self.gate.working)
        metrics.ALLOWED.set_function(lambda: self.gate.allowed())
        metrics.STREAMS.set_function(lambda: self.gate.streams)

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        work = None
        if _declares_too_much(headers):
            await self._refuse(413, _TOO_LARGE, headers, send)
        elif scope["path"] in probes.PATHS or (work := self._enter(headers)):
            exchange = Exchange(scope, headers, receive, send, gate=self.gate, work=work, drain=self.drain)
            await exchange.run(self.app)
        else:
            metrics.SHED.inc()
            await self._refuse(429, _FULL, headers, send, (b"retry-after", _retry_after()))

    def turn_away(self, path: str, headers: Iterable[tuple[bytes, bytes]]) -> tuple[bytes, bytes] | None:
        """The head and body of a refusal while the service is full. The HTTP protocol asks before a request exists."""
        now = time.monotonic()
        if path in probes.PATHS or not self.gate.full(now):
            return None
        self.gate.refuse(now)
        metrics.SHED.inc()
        head = _FULL_HEAD % (_retry_after(), request_id_from(dict(headers)).encode(), len(_FULL))
        return (head + b"connection: close\r\n" if self.drain.started.is_set() else head), _FULL

    def _enter(self, headers: Headers) -> Work | None:
        return self.gate.enter(time.monotonic(), stream=EVENT_STREAM in headers.get(b"accept", b""))

    async def _refuse(
        self, status: int, body: bytes, headers: Headers, send: Send, *fields: tuple[bytes, bytes]
    ) -> None:
        answer = [
            (b"content-type", PROBLEM.encode()),
            (b"x-request-id", request_id_from(headers).encode()),
            *fields,
        ]
        if self.drain.started.is_set():
            answer.append(CLOSE)
        await send({"type": "http.response.start", "status": status, "headers": answer})
        await send({"type": "http.response.body", "body": body, "more_body": False})


def _declares_too_much(headers: Headers) -> bool:
    length = headers.get(b"content-length", b"")
    return length.isdigit() and int(length) > MAX_BODY


def _retry_after() -> bytes:
    # Random, so that clients refused together do not return together.
    return random.choice((b"1", b"2", b"3"))  # noqa: S311
