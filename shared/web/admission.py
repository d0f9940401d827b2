"""The outermost layer of every service, as plain ASGI: request ids, bounded bodies, shedding, drain, metrics."""

from __future__ import annotations

import asyncio
import random
import re
import time
import uuid
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import msgspec
import structlog
from litestar import Litestar
from litestar.types import ASGIApp, Message, Receive, Send

from shared import deadline as deadlines
from shared.errors import TooLarge, TooLate, TooMany
from shared.telemetry import metrics
from shared.web.overload import Gate, Work
from shared.web.problems import PROBLEM

REQUEST_ID = "x-request-id"
MAX_BODY = 2 * 1024 * 1024
BODY_SECONDS = deadlines.WRITE_SECONDS

log = structlog.get_logger()

_REQUEST_ID = re.compile(r"^[\w.:-]{1,128}$")
_CLOSE = (b"connection", b"close")
_TURNED_AWAY = (
    b"HTTP/1.1 429 Too Many Requests\r\ncontent-type: application/problem+json\r\n"
    b"retry-after: %b\r\nx-request-id: %b\r\ncontent-length: %d\r\n"
)
_TOO_LARGE = TooLarge(f"a request body may hold {MAX_BODY} bytes")
_REFUSALS = {
    error.status: msgspec.json.encode(error.problem())
    for error in (_TOO_LARGE, TooMany("the service is full"))
}
_ALWAYS = ("/livez", "/readyz", "/metrics")
# For each request that may pile up.
_STREAMS = 4
_EVENT_STREAM = b"text/event-stream"


# Metrics of one route, found without converting and locking.
_seconds = lru_cache(maxsize=1024)(metrics.REQUEST_SECONDS.labels)
_count = lru_cache(maxsize=4096)(metrics.REQUESTS.labels)


class Drain:
    """Set when the process was asked to stop: streams end, and readiness answers 503."""

    def __init__(self) -> None:
        self.started = asyncio.Event()


class Edge:
    """`pile` requests may pile up before any is refused; see `shared.web.overload`.

    An event stream waits more than it works: once open it counts against a limit of its own.
    """

    def __init__(self, app: Litestar, drain: Drain, *, pile: int) -> None:
        self.litestar = app
        self.drain = drain
        self.app: ASGIApp = app
        self.gate = Gate(pile)
        self.streams = 0
        self._most_streams = _STREAMS * pile
        metrics.IN_FLIGHT.set_function(lambda: self.gate.working)
        metrics.ALLOWED.set_function(lambda: self.gate.allowed())
        metrics.STREAMS.set_function(lambda: self.streams)

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        length = headers.get(b"content-length", b"")
        if length.isdigit() and int(length) > MAX_BODY:
            await self._refuse(413, headers, send)
        elif scope["path"] in _ALWAYS:
            await _Exchange(self, scope, headers, receive, send, None).run()
        elif work := self._enter(headers):
            await _Exchange(self, scope, headers, receive, send, work).run()
        else:
            metrics.SHED.inc()
            await self._refuse(429, headers, send)

    def turn_away(self, path: str, headers: Iterable[tuple[bytes, bytes]]) -> tuple[bytes, bytes] | None:
        """The head and the body of a refusal, where the service is full: before there is a request to speak of."""
        now = time.monotonic()
        if path in _ALWAYS or not self.gate.full(now):
            return None
        self.gate.refuse(now)
        metrics.SHED.inc()
        body = _REFUSALS[429]
        head = _TURNED_AWAY % (_retry_after(), _request_id(dict(headers)).encode(), len(body))
        return (head + b"connection: close\r\n" if self.drain.started.is_set() else head), body

    def _enter(self, headers: dict[bytes, bytes]) -> Work | None:
        if self.streams >= self._most_streams and _EVENT_STREAM in headers.get(b"accept", b""):
            return None
        return self.gate.enter(time.monotonic())

    async def _refuse(self, status: int, headers: dict[bytes, bytes], send: Send) -> None:
        fields = [
            (b"content-type", PROBLEM.encode()),
            (b"x-request-id", _request_id(headers).encode()),
        ]
        if status == 429:
            fields.append((b"retry-after", _retry_after()))
        if self.drain.started.is_set():
            fields.append(_CLOSE)
        await send({"type": "http.response.start", "status": status, "headers": fields})
        await send({"type": "http.response.body", "body": _REFUSALS[status], "more_body": False})


class _Exchange:
    """One request and its answer. While it waits for its client it is not being worked on."""

    __slots__ = (
        "_edge",
        "_receive",
        "_request_id",
        "_scope",
        "_send",
        "_state",
        "_status",
        "_streaming",
        "_whole",
        "_work",
    )

    def __init__(
        self,
        edge: Edge,
        scope: Any,
        headers: dict[bytes, bytes],
        receive: Receive,
        send: Send,
        work: Work | None,
    ) -> None:
        self._edge, self._scope, self._receive, self._send, self._work = edge, scope, receive, send, work
        self._request_id = _request_id(headers)
        self._state: dict[str, Any] = scope.setdefault("state", {})
        self._state["request_id"] = self._request_id
        self._state["arrived"] = time.monotonic()
        self._state["timeout"] = headers.get(deadlines.HEADER.encode(), b"").decode("latin-1")
        self._state["received"] = 0
        self._status = 500
        self._streaming = False
        # Without a body there is nothing to wait for.
        self._whole = headers.get(b"content-length", b"0") == b"0" and b"transfer-encoding" not in headers

    async def run(self) -> None:
        structlog.contextvars.bind_contextvars(request_id=self._request_id)
        try:
            await self._edge.app(self._scope, self.receive, self.send)
        finally:
            self._leave()

    async def receive(self) -> Any:
        """The next piece of the body. Raises TooLarge, and TooLate when the client takes its time."""
        if self._whole:
            return await self._receive()
        self._pause()
        try:
            async with asyncio.timeout(self._state["arrived"] + BODY_SECONDS - time.monotonic()):
                message: Any = await self._receive()
        except TimeoutError as error:
            raise TooLate(f"the body did not arrive within {BODY_SECONDS:g} seconds") from error
        finally:
            self._resume()
        if message["type"] == "http.disconnect":
            raise TooLate("the client went before all of the body had come")
        self._whole = not message.get("more_body", False)
        self._state["received"] += len(message.get("body", b""))
        if self._state["received"] > MAX_BODY:
            raise TooLarge(_TOO_LARGE.detail)
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            self._streaming = _streams(message["headers"])
            message["headers"] = [*message["headers"], *self._more_headers()]
            if self._streaming:
                self._pause()
                self._edge.streams += 1
        if self._streaming:
            await self._send(message)
            return
        self._pause()
        try:
            await self._send(message)
        finally:
            self._resume()

    def _more_headers(self) -> list[tuple[bytes, bytes]]:
        more = [(b"x-request-id", self._request_id.encode()), *self._state.get("answer_headers", ())]
        # Callers that keep connections open go to another replica; of a body too late the rest may yet come.
        if self._edge.drain.started.is_set() or self._status == TooLate.status:
            more.append(_CLOSE)
        return more

    def _pause(self) -> None:
        if self._work is not None:
            self._edge.gate.pause(self._work, time.monotonic())

    def _resume(self) -> None:
        if self._work is not None:
            self._edge.gate.resume(self._work, time.monotonic())

    def _leave(self) -> None:
        state, method, now = self._state, self._scope["method"], time.monotonic()
        route = str(self._scope.get("path_template") or state.get("route") or "unmatched")
        if self._streaming:
            self._edge.streams -= 1
        else:
            _seconds(route, method).observe(now - state["arrived"])
            self._pause()
            if self._work is not None and self._status < 400:
                self._edge.gate.learn(self._work, (route, method), now)
        _count(route, method, str(self._status)).inc()
        if ended := state.get("ended"):
            ended()
        if self._status >= 500:
            log.warning("request failed", route=route, method=method, status=self._status)


def _retry_after() -> bytes:
    # Not all of them at the same time again.
    return random.choice((b"1", b"2", b"3"))  # noqa: S311


def _request_id(headers: dict[bytes, bytes]) -> str:
    given = headers.get(b"x-request-id", b"").decode("latin-1")
    return given if _REQUEST_ID.match(given) else uuid.uuid4().hex


def _streams(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    return any(name == b"content-type" and value.startswith(_EVENT_STREAM) for name, value in headers)
