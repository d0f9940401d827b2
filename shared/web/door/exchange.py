"""One request and its answer: request id, bounded body, time spent working and waiting, metrics."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
import uuid
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, TypeAlias

import structlog
from litestar.types import ASGIApp, Message, Receive, Send

from shared import deadline as deadlines
from shared.body import MAX_BODY
from shared.concurrency import courtesy
from shared.errors import TooLate, TooMany
from shared.secrets.scanning import found_in
from shared.telemetry import metrics
from shared.web.door.fairness import Work
from shared.web.door.overload import Gate
from shared.web.drain import Drain
from shared.web.problems import send_problem, too_large

Headers: TypeAlias = dict[bytes, bytes]

BODY_SECONDS = deadlines.WRITE_SECONDS
# How long a request may rest in all, and for which part of its time.
_REST_SECONDS, _REST_SHARE = 1.0, 0.2
CLOSE = (b"connection", b"close")
EVENT_STREAM = b"text/event-stream"

log = structlog.get_logger()

# For every answer that does not say otherwise: nobody guesses its type, and nobody keeps it.
SAFE = ((b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store"))
_REQUEST_ID = re.compile(r"^[\w.:-]{1,128}$")

# Cached, because `labels` converts its arguments and takes a lock.
_seconds = lru_cache(maxsize=1024)(metrics.REQUEST_SECONDS.labels)
_count = lru_cache(maxsize=4096)(metrics.REQUESTS.labels)


class Exchange:
    """`work` is None for a probe, which no limit counts. Work pauses while the service waits for the client, and then
    waits for its turn."""

    __slots__ = (
        "_body_is_read",
        "_drain",
        "_gate",
        "_receive",
        "_request_id",
        "_rest_left",
        "_rests_until",
        "_scope",
        "_send",
        "_state",
        "_status",
        "_streaming",
        "_work",
    )

    def __init__(
        self,
        scope: Any,
        headers: Headers,
        receive: Receive,
        send: Send,
        *,
        gate: Gate,
        work: Work | None,
        drain: Drain,
    ) -> None:
        self._gate, self._work, self._drain = gate, work, drain
        self._scope, self._receive, self._send = scope, receive, send
        self._request_id = request_id_from(headers)
        self._state: dict[str, Any] = scope.setdefault("state", {})
        self._state["request_id"] = self._request_id
        self._state["arrived"] = time.monotonic()
        self._state["timeout"] = headers.get(deadlines.HEADER.encode(), b"").decode("latin-1")
        self._state["received"] = 0
        self._status = 500
        self._streaming = False
        # Without a header, a request may be a read.
        seconds = self._deadline().left() if self._state["timeout"] else deadlines.READ_SECONDS
        self._rest_left = min(_REST_SECONDS, _REST_SHARE * seconds)
        self._rests_until = 0.0
        no_length = headers.get(b"content-length", b"0") == b"0"
        self._body_is_read = no_length and b"transfer-encoding" not in headers

    async def run(self, app: ASGIApp) -> None:
        structlog.contextvars.bind_contextvars(request_id=self._request_id)
        courtesy.REQUEST.set(self)
        try:
            await self._take_turn()
        except TooMany as error:
            metrics.SHED.inc()
            await send_problem(error, self.send)
        else:
            await app(self._scope, self.receive, self.send)
        finally:
            self._end()

    async def make_way(self) -> None:
        """Its steps that run at once rest together."""
        work, begun = self._work, time.monotonic()
        if work is None:
            return
        if begun < self._rests_until:
            await asyncio.sleep(self._rests_until - begun)
        elif (seconds := self._gate.rest(work, self._rest_left, begun)) > 0:
            self._rest_left -= seconds
            self._rests_until = begun + seconds
            try:
                await asyncio.sleep(seconds)
            finally:
                self._rests_until, now = 0.0, time.monotonic()
                self._gate.rested(work, now - begun, now)
                metrics.REST_SECONDS.inc(now - begun)

    def steps_back(self) -> bool:
        return self._work is not None and self._gate.steps_back(self._work, time.monotonic())

    def skip(self) -> None:
        if self._work is not None:
            self._gate.skip(self._work, time.monotonic())

    async def receive(self) -> Any:
        """The next piece of the body. Raises TooLarge, TooLate when the client is too slow, or TooMany."""
        if self._body_is_read:
            return await self._receive()
        message = await self._receive_in_time()
        if message["type"] == "http.disconnect":
            raise TooLate("the client disconnected before the body was complete")
        self._body_is_read = not message.get("more_body", False)
        self._state["received"] += len(message.get("body", b""))
        if self._state["received"] > MAX_BODY:
            raise too_large()
        return message

    async def _receive_in_time(self) -> Any:
        self._pause()
        try:
            async with asyncio.timeout(self._state["arrived"] + BODY_SECONDS - time.monotonic()):
                message = await self._receive()
        except TimeoutError as error:
            raise TooLate(f"the body did not arrive within {BODY_SECONDS:g} seconds") from error
        await self._take_turn()
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            await self.make_way()
            self._start(message)
        if self._streaming:
            await self._send(message)
            return
        self._pause()
        try:
            await self._send(message)
        finally:
            self._resume()

    def _start(self, message: Any) -> None:
        self._status = message["status"]
        self._streaming = _is_event_stream(message["headers"])
        given = {name for name, _ in message["headers"]}
        safe = (field for field in SAFE if field[0] not in given)
        message["headers"] = [*message["headers"], *safe, *self._more_headers()]
        if self._streaming:
            self._leave()

    def _more_headers(self) -> list[tuple[bytes, bytes]]:
        more = [(b"x-request-id", self._request_id.encode()), *self._state.get("answer_headers", ())]
        # Close the connection: clients then leave a draining replica, and the rest of a late body may still arrive.
        if self._drain.started.is_set() or self._status == TooLate.status:
            more.append(CLOSE)
        return more

    async def _take_turn(self) -> None:
        """Raises TooMany when the turn does not come in time."""
        work, gate = self._work, self._gate
        if work is None:
            return
        if gate.may_run(work, now := time.monotonic()):
            gate.run(work, now)
            return
        turn = asyncio.Event()
        gate.wait(work, turn.set, now)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(gate.patience(self._deadline().left())):
                await turn.wait()
        gate.take_turns(now := time.monotonic())
        if work.running:
            return
        if gate.may_run(work, now):
            gate.stop_waiting(work, now)
            gate.run(work, now)
        else:
            self._leave()
            raise TooMany("the service is full", retry_after=1.0)

    def _deadline(self) -> deadlines.Deadline:
        return deadlines.from_header(self._state["timeout"], deadlines.WRITE_SECONDS, self._state["arrived"])

    def _pause(self) -> None:
        if self._work is not None:
            self._gate.pause(self._work, time.monotonic())
            self._let_others_run()

    def _resume(self) -> None:
        if self._work is not None:
            self._gate.run(self._work, time.monotonic())

    def _leave(self) -> None:
        if self._work is not None:
            self._gate.leave(self._work, time.monotonic())
            self._let_others_run()
            self._work = None

    def _let_others_run(self) -> None:
        if self._gate.waiting:
            # Later, so that a request whose body is already here does not lose its turn.
            loop = asyncio.get_running_loop()
            loop.call_soon(lambda: self._gate.take_turns(time.monotonic()))

    def _end(self) -> None:
        state, method = self._state, self._scope["method"]
        route = str(self._scope.get("path_template") or state.get("route") or "unmatched")
        if not self._streaming:
            self._note_seconds(route, method)
        self._leave()
        _count(route, method, str(self._status)).inc()
        for ended in state.get("ended", ()):
            ended()
        if self._status >= 500:
            log.warning("request failed", route=route, method=method, status=self._status)

    def _note_seconds(self, route: str, method: str) -> None:
        now = time.monotonic()
        _seconds(route, method).observe(now - self._state["arrived"])
        if self._work is not None and self._status < 400:
            self._gate.pause(self._work, now)
            self._gate.learn(self._work, (route, method), now)


def request_id_from(headers: Headers) -> str:
    """The caller's own request id if it is usable, or else a new one: logs and the audit keep it, and no secret."""
    given = headers.get(b"x-request-id", b"").decode("latin-1")
    return given if _REQUEST_ID.match(given) and not found_in(given) else uuid.uuid4().hex


def _is_event_stream(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    return any(name == b"content-type" and value.startswith(EVENT_STREAM) for name, value in headers)
