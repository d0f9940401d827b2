"""The gateway: an app of its own beside the API, since the API's limits and headers are not for what passes.

It fails open. Where the database does not answer, a caller goes on as the one that the key was when it last came, or as
nobody: the provider checks its own key in any case, and nothing of ours is asked for nobody.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Any, NamedTuple

import structlog
from litestar.types import Receive, Send
from prometheus_client import Counter, Gauge

from services.context.forwarding.wire import Answer, CutOff, Unreachable, Wire
from services.context.gateway.answering import answer
from services.context.gateway.passing.call import PREFIX, Route, route_of, session_of
from services.context.gateway.passing.fields import KEY, Fields, to_host, to_provider, unpacked, value_of
from services.context.gateway.passing.holding import Held, Holding
from services.context.gateway.passing.paging import Arm, Paging, Prepared
from services.context.gateway.passing.refusals import refusal
from services.context.gateway.passing.settings import GatewaySettings
from services.context.gateway.passing.upstream import Upstream
from services.context.gateway.passing.usage import Reader
from services.context.gateway.phantom import Endpoint as Answered
from services.context.gateway.sessions.queries import Whose
from services.context.gateway.sessions.states import States
from services.context.keys import Keys
from shared.auth import Principal
from shared.costs import Ledger
from shared.database.postgres import Database
from shared.deadline import Deadline
from shared.errors import AppError, Forbidden, TooLarge, TooLate, TooMany, Unauthorized, Unavailable
from shared.spending import Payer, charged_to
from shared.spending.prices import Prices
from shared.telemetry import metrics
from shared.telemetry.request_spans import APART
from shared.web.door.streams import Streams
from shared.web.serving.http_protocol import HANG_UP

log = structlog.get_logger()

OPEN = Gauge("scrubjay_gateway_requests_open", "Requests to model providers that are under way")
FAILED_OPEN = Counter("scrubjay_gateway_failed_open_total", "Requests that passed without knowing the caller")

# Kinds of costs.
KINDS: dict[Arm, str] = {"off": "gateway", "paged": "gateway_paged", "control": "gateway_control"}
# Of what a host waits for before its request goes on: for its key, and for that and its session's state.
_KNOWN_SECONDS, _READY_SECONDS = 0.03, 0.04
_LEAST_SECONDS = 0.01
_BODY_SECONDS = 60.0
# Shorter than any provider keeps a connection: a request on one that it has just closed would be lost.
_KEPT_SECONDS = 4.0
_NOBODY = Principal("", "", frozenset())


class Gone(Exception):
    """The host has closed its connection."""


class Gateway:
    """`ledger` is given once the service is open."""

    def __init__(self, keys: Keys, settings: GatewaySettings, database: Database, prices: Prices) -> None:
        self._keys = keys
        self._settings = settings
        self.states = States(database)
        self._paging = Paging(self.states, settings.paging, prices)
        self._wires = {
            api: Wire(url, kept_seconds=_KEPT_SECONDS, foreign=True)
            for api, url in settings.providers.items()
        }
        self._open = Streams(settings.open, OPEN, "gateway_requests")
        self._holding = Holding(settings.held)
        self.ledger: Ledger | None = None

    def close(self) -> None:
        for wire in self._wires.values():
            wire.close()

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        state, exchange = scope["state"], _Exchange(scope, receive, send)
        state[APART] = True
        try:
            await self._pass(exchange)
        except AppError as error:
            await exchange.refuse(error)
        except Gone:
            pass
        except (OSError, asyncio.CancelledError):
            exchange.hang_up()
            raise
        finally:
            metrics.REQUESTS.labels(exchange.name, scope["method"], str(exchange.status)).inc()
            for ended in state.get("ended", ()):
                ended()

    async def _pass(self, exchange: _Exchange) -> None:
        route = route_of(exchange.scope)
        exchange.route = route
        began = time.monotonic()
        caller = await self._caller(exchange.scope)
        left = max(_LEAST_SECONDS, _READY_SECONDS - (time.monotonic() - began))
        leave = self._open.open(caller)
        held = self._holding.begin(caller.tenant)
        try:
            held.body = await exchange.body(held, self._settings.body_bytes)
            session = session_of(exchange.scope["headers"], held.body) if route.endpoint else None
            call = _Call(exchange, route, caller, session, self._arm(exchange, caller, session))
            await exchange.beside(self._answered(call, held, left))
        finally:
            held.end()
            leave()

    async def _caller(self, scope: Any) -> Principal:
        """Raises Unauthorized, Forbidden or TooMany. Nothing else that goes wrong here is the host's trouble."""
        token = value_of(scope["headers"], KEY)
        if token is None:
            raise Unauthorized("the header X-Scrubjay-Key must hold a key of this installation")
        authorization = f"Bearer {token}"
        try:
            async with asyncio.timeout(_KNOWN_SECONDS):
                deadline = Deadline(_KNOWN_SECONDS)
                caller = await self._keys.admit(scope, deadline, writes=False, authorization=authorization)
        except TooMany:
            raise
        except Unauthorized as error:
            # The provider's key stands in another header.
            raise Unauthorized(f"X-Scrubjay-Key: {error.detail}") from error
        except Exception as error:
            FAILED_OPEN.inc()
            if not isinstance(error, Unavailable | TooLate | TimeoutError):
                log.exception("gateway.caller_unknown")
            caller = self._keys.last_known(authorization) or _NOBODY
        if caller is not _NOBODY and "write" not in caller.access:
            raise Forbidden("the gateway needs a key that may write")
        return caller

    def _arm(self, exchange: _Exchange, caller: Principal, session: str | None) -> Arm:
        """Raises Invalid."""
        if session is None or caller is _NOBODY:
            return "off"
        return self._paging.arm_of(exchange.scope["headers"], Whose.of(caller, session))

    async def _answered(self, call: _Call, held: Held, seconds: float) -> None:
        endpoint, prepared = call.route.endpoint, await self._prepared(call, held, seconds)
        try:
            if prepared is None or endpoint is None or endpoint == "count_tokens":
                await self._passed(call, held)
            else:
                await self._paged(call, prepared, endpoint)
        except Unreachable as error:
            raise Unavailable(call.route.api, f"{call.route.api} cannot be reached") from error
        except ValueError as error:
            raise Unauthorized("a header is no HTTP header") from error

    async def _prepared(self, call: _Call, held: Held, seconds: float) -> Prepared | None:
        """None for a request whose answer passes. `held` has what is sent then."""
        endpoint, session = call.route.endpoint, call.session
        if call.arm != "paged" or endpoint is None or session is None:
            return None
        whose = Whose.of(call.caller, session)
        prepared = await self._paging.prepared(endpoint, held.body, whose, seconds)
        if prepared is None or endpoint != "count_tokens":
            return prepared
        held.body = prepared.body
        return None

    async def _passed(self, call: _Call, held: Held) -> None:
        exchange, route = call.exchange, call.route
        fields, method = to_provider(exchange.scope["headers"]), exchange.scope["method"]
        async with self._wires[route.api].request(method, route.target, fields, held.body) as answer:
            held.end()
            reader = Reader(answer.headers) if route.endpoint else None
            await exchange.pass_on(answer, reader.feed if reader else _nothing)
        if reader is not None and answer.status < 300:
            self._note(reader, call)

    async def _paged(self, call: _Call, prepared: Prepared, endpoint: Answered) -> None:
        fields = unpacked(to_provider(call.exchange.scope["headers"]))
        wire, sent = self._wires[call.route.api], list[Upstream]()

        async def send(body: bytes) -> Upstream:
            upstream = await Upstream.sent(
                wire, call.route.target, fields, body, lambda reader: self._note(reader, call)
            )
            sent.append(upstream)
            return upstream

        try:
            given = await answer(
                endpoint, prepared.body, send, prepared.memory, prepared.keep, at=prepared.at
            )
            await call.exchange.pass_pieces(given.status, given.headers, given.pieces)
        finally:
            for upstream in sent:
                await upstream.close()

    def _note(self, reader: Reader, call: _Call) -> None:
        billed, caller = reader.billed(), call.caller
        if billed is None or self.ledger is None or caller is _NOBODY:
            return
        payer = Payer(
            caller.tenant, key=caller.key, agent=caller.agent, mission=caller.mission, session=call.session
        )
        with charged_to(payer):
            self.ledger.note(KINDS[call.arm], billed.model or "unknown", billed.tokens, "ok")


def _nothing(_: bytes) -> None:
    pass


class _Call(NamedTuple):
    """What a host asks of its provider, and who it is."""

    exchange: _Exchange
    route: Route
    caller: Principal
    session: str | None
    arm: Arm


class _Exchange:
    """One request of a host, and its answer."""

    def __init__(self, scope: Any, receive: Receive, send: Send) -> None:
        self.scope = scope
        self._receive, self._send = receive, send
        self.route: Route | None = None
        self.status = 0

    @property
    def name(self) -> str:
        return f"{PREFIX}{self.route.api}" if self.route else PREFIX

    async def body(self, held: Held, most: int) -> bytes:
        """The whole body. Raises TooLarge, TooLate, TooMany or Gone."""
        pieces: list[bytes] = []
        try:
            async with asyncio.timeout(_BODY_SECONDS):
                while True:
                    message: Any = await self._receive()
                    if message["type"] == "http.disconnect":
                        raise Gone
                    piece = message.get("body", b"")
                    held.add(len(piece))
                    if held.size > most:
                        raise TooLarge(f"a request through the gateway may hold {most} bytes")
                    pieces.append(piece)
                    if not message.get("more_body"):
                        return pieces[0] if len(pieces) == 1 else b"".join(pieces)
        except TimeoutError as error:
            raise TooLate(f"the body did not arrive within {_BODY_SECONDS:g} seconds") from error

    async def beside(self, work: Any) -> None:
        """Does the work until the host has gone. Raises Gone."""
        task = asyncio.ensure_future(work)
        leaving = asyncio.ensure_future(self._left())
        try:
            await asyncio.wait({task, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise Gone
            task.result()
        finally:
            for each in (task, leaving):
                each.cancel()
            await asyncio.gather(task, leaving, return_exceptions=True)

    async def _left(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def pass_on(self, answer: Answer, seen: Callable[[bytes], None]) -> None:
        """An answer that breaks off breaks off here, too. Raises CutOff."""
        await self._start(answer.status, to_host(answer.headers))
        try:
            while not answer.ended:
                piece = await answer.piece()
                seen(piece)
                await self._send({"type": "http.response.body", "body": piece, "more_body": True})
            rest = await answer.piece()
        except CutOff:
            self.hang_up()
            raise Gone from None
        seen(rest)
        await self._send({"type": "http.response.body", "body": rest, "more_body": False})

    async def pass_pieces(self, status: int, headers: Fields, pieces: AsyncIterator[bytes]) -> None:
        """As `pass_on`."""
        await self._start(status, to_host(headers))
        try:
            async for piece in pieces:
                await self._send({"type": "http.response.body", "body": piece, "more_body": True})
        except CutOff:
            self.hang_up()
            raise Gone from None
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def refuse(self, error: AppError) -> None:
        if self.status:
            self.hang_up()
            return
        said = refusal(self.route.api if self.route else "openai", error)
        await self._start(said.status, said.fields)
        await self._send({"type": "http.response.body", "body": said.body, "more_body": False})

    async def _start(self, status: int, fields: Fields) -> None:
        self.status = status
        if self.scope["state"].get("draining"):
            fields = [*fields, (b"connection", b"close")]
        await self._send({"type": "http.response.start", "status": status, "headers": fields})

    def hang_up(self) -> None:
        """What was sent is not the whole answer, and must not look like it."""
        if close := self.scope["state"].get(HANG_UP):
            close()
