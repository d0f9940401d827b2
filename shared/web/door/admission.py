"""Admits or refuses requests. It is plain ASGI around the Litestar app, so that a refusal costs almost nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeAlias

from litestar import Litestar
from litestar.types import ASGIApp, Receive, Send

from shared.body import MAX_BODY
from shared.concurrency.cores import cores, rest_on
from shared.telemetry import metrics
from shared.web import probes
from shared.web.door.exchange import CLOSE, Exchange, Headers
from shared.web.door.fairness import FRONT, Pile
from shared.web.door.overload import Gate
from shared.web.door.refusals import BODY_TOO_LARGE, FULL, HEAD_TOO_LARGE, Raw, Refusal
from shared.web.drain import Drain

TenantOf: TypeAlias = Callable[[Headers], str]
"""The tenant that a request's headers seem to come from, found in memory, for sharing the service. The name is empty
for all callers that are not known."""


class Apart(NamedTuple):
    """An app for the paths below `prefix`, with limits of its own. What it answers is sent as it says."""

    prefix: str
    app: ASGIApp


class Admission:
    """Refuses requests that are too large, and others while the service is full (`shared.web.overload`)."""

    def __init__(
        self,
        app: Litestar,
        drain: Drain,
        *,
        in_flight: int,
        tenant_of: TenantOf,
        pile: Pile = FRONT,
        apart: Apart | None = None,
    ) -> None:
        self.litestar = app
        self.drain = drain
        self.app: ASGIApp = app
        self.gate = Gate(in_flight, pile, rest_on(cores()), cores())
        self._apart = apart
        self._tenant_of = tenant_of
        metrics.IN_FLIGHT.set_function(lambda: self.gate.working + self.gate.waiting)
        metrics.ALLOWED.set_function(lambda: self.gate.allowed())

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if self._apart is not None and self.is_apart(scope["path"]):
            scope["state"]["draining"] = self.drain.started.is_set()
            await self._apart.app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        work = None
        if _declares_too_much(headers):
            await self._refuse(BODY_TOO_LARGE, headers, send)
        elif scope["path"] in probes.PATHS or (
            work := self.gate.enter(self._tenant_of(headers), time.monotonic())
        ):
            exchange = Exchange(scope, headers, receive, send, gate=self.gate, work=work, drain=self.drain)
            await exchange.run(self.app)
        else:
            metrics.SHED.inc()
            await self._refuse(FULL, headers, send)

    def is_apart(self, path: str) -> bool:
        return self._apart is not None and path.startswith(self._apart.prefix)

    def turn_away(self, path: str, fields: Iterable[tuple[bytes, bytes]]) -> Raw | None:
        """A refusal of a request that is too large, or comes while the service is full.

        The HTTP protocol asks before a request exists.
        """
        if path in probes.PATHS or self.is_apart(path):
            return None
        headers = dict(fields)
        if _declares_too_much(headers):
            return BODY_TOO_LARGE.raw(headers, *self._closing())
        now = time.monotonic()
        tenant = self._tenant_of(headers)
        if not self.gate.full(tenant, now):
            return None
        self.gate.refuse(tenant, now)
        metrics.SHED.inc()
        return FULL.raw(headers, *self._closing())

    def head_too_large(self, fields: Iterable[tuple[bytes, bytes]]) -> Raw:
        return HEAD_TOO_LARGE.raw(dict(fields))

    def _closing(self) -> list[tuple[bytes, bytes]]:
        return [CLOSE] if self.drain.started.is_set() else []

    async def _refuse(self, refusal: Refusal, headers: Headers, send: Send) -> None:
        fields = [*refusal.fields(headers), *self._closing()]
        await send({"type": "http.response.start", "status": refusal.status, "headers": fields})
        await send({"type": "http.response.body", "body": refusal.body, "more_body": False})


def _declares_too_much(headers: Headers) -> bool:
    length = headers.get(b"content-length", b"")
    return length.isdigit() and int(length) > MAX_BODY
