"""Passes requests for the owners' public routes to them, with the caller's identity."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from litestar import asgi
from litestar.handlers import ASGIRouteHandler
from litestar.types import Receive, Scope, Send

from services.context import stores
from services.context.forwarding.owners import Owner, Owners
from services.context.forwarding.wire import Answer
from services.context.keys import Keys
from services.context.log.signals import Signals
from services.context.scrubbing.service import Scrubber
from shared.auth import Principal
from shared.concurrency.courtesy import make_way
from shared.deadline import Deadline
from shared.errors import AppError, TooLate, Unavailable
from shared.web.dependencies import service_of
from shared.web.problems import send_problem
from shared.web.request import deadline_of, name_route, request_id_of

# No store: no search covers dispatches or checkpoints, and facts stand in a block beside its items.
PREFIXES = {**stores.PATHS, "/api/dispatch": "cache", "/api/kg": "agent_memory", "/api/checkpoints": "cache"}
# POST routes that only read get a read's deadline.
_READS = ("/query", "/list", "/peer-query", "/search")
# Paths whose writes have another deadline: a file may have to be converted.
_SECONDS = {b"/api/vault/files": 30.0}
_DROP_REQUEST = {b"host", b"authorization", b"content-length", b"connection", b"transfer-encoding", b"expect"}
_DROP_ANSWER = {
    b"connection",
    b"transfer-encoding",
    b"date",
    b"server",
    b"x-request-id",
    b"x-trace-id",
    b"keep-alive",
}

_PROBLEM = b"application/problem+json"

# Seconds kept back from the owner's deadline: its own refusal says more than our timeout.
_KEPT_SECONDS = 0.05
_KEPT_SHARE = 0.1
# Extra seconds for an answer that has begun by the deadline.
_END_SECONDS = 0.1


def forwarding(prefix: str, name: str) -> ASGIRouteHandler:
    # A mount rewrites `path`; `raw_path` stays as the client sent it.
    @asgi(prefix, is_mount=True, copy_scope=True)
    async def forward(scope: Scope, receive: Receive, send: Send) -> None:
        name_route(scope, prefix)
        try:
            await _forward(name, scope, receive, send)
        except AppError as error:
            await send_problem(error, send)

    return forward


def is_read(method: str, path: str) -> bool:
    return method in ("GET", "HEAD") or path.endswith(_READS)


async def _forward(name: str, scope: Any, receive: Receive, send: Send) -> None:
    owner = service_of(scope, Owners)[name]
    reads = is_read(scope["method"], scope["raw_path"].decode("latin-1"))
    seconds = None if reads else _SECONDS.get(scope["raw_path"])
    deadline = deadline_of(scope, reads=reads, seconds=seconds)
    principal = await service_of(scope, Keys).admit(scope, deadline, writes=not reads)
    body = await _read(receive, deadline)
    body = await service_of(scope, Scrubber).scrub(scope, body, principal, deadline)
    passing = _Passing(send)
    await make_way()
    try:
        async with (
            asyncio.timeout(deadline.left()) as limit,
            _asked(owner, scope, principal, deadline, body) as answer,
        ):
            if _is_foreign(answer):
                raise Unavailable(owner.name, f"{owner.name} answers with an error")
            piece = await answer.piece()
            limit.reschedule(asyncio.get_running_loop().time() + deadline.left() + _END_SECONDS)
            await passing.pass_on(answer, piece)
    except TimeoutError as error:
        if passing.begun:
            raise
        raise Unavailable(owner.name, f"{owner.name} did not answer in time") from error
    except OSError as error:
        if passing.begun:
            raise
        raise Unavailable(owner.name, f"{owner.name} cannot be reached") from error
    if not reads and answer.status < 300:
        service_of(scope, Signals).wrote(principal, body)


async def _read(receive: Receive, deadline: Deadline) -> bytes:
    """The whole body: nothing of it goes further before it is searched for secrets. Raises TooLate."""
    pieces: list[bytes] = []
    try:
        async with asyncio.timeout(deadline.left()):
            while True:
                message: Any = await receive()
                pieces.append(message.get("body", b""))
                if not message.get("more_body"):
                    return b"".join(pieces)
    except TimeoutError as error:
        raise TooLate("the body did not arrive in time") from error


def _asked(
    owner: Owner, scope: Any, principal: Principal, deadline: Deadline, body: bytes
) -> AbstractAsyncContextManager[Answer]:
    """The request to the owner, with the caller's identity and the time left."""
    target = scope["raw_path"].decode("latin-1")
    if scope["query_string"]:
        target += "?" + scope["query_string"].decode("latin-1")
    kept = min(_KEPT_SECONDS, deadline.left() * _KEPT_SHARE)
    inward = owner.headers(principal, deadline.shorter(kept), request_id_of(scope))
    headers = [*_passed_on(scope["headers"], inward), *inward.items()]
    return owner.wire.request(scope["method"], target, headers, body)


def _passed_on(headers: Iterable[tuple[bytes, bytes]], inward: Mapping[str, str]) -> list[tuple[str, str]]:
    """The caller's headers, without those of this hop and those that only we may set."""
    kept = [(name, value) for name, value in headers if not _is_dropped(name)]
    named = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in kept]
    return [(name, value) for name, value in named if name not in inward]


def _is_foreign(answer: Answer) -> bool:
    """Whether it is an error that no service of ours puts so, as of a proxy or of a server that does not start."""
    return answer.status >= 500 and not dict(answer.headers).get(b"content-type", b"").startswith(_PROBLEM)


def _is_dropped(name: bytes) -> bool:
    return name in _DROP_REQUEST or name.startswith(b"x-scrubjay-")


class _Passing:
    """The owner's answer on its way to the caller. Once `begun`, it can no longer become an error."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.begun = False

    async def pass_on(self, answer: Answer, piece: bytes) -> None:
        """`piece` is the first part of the body."""
        headers = [field for field in answer.headers if field[0] not in _DROP_ANSWER]
        self.begun = True
        await self._send({"type": "http.response.start", "status": answer.status, "headers": headers})
        while not answer.ended:
            await self._send({"type": "http.response.body", "body": piece, "more_body": True})
            piece = await answer.piece()
        # What came before the end, and was not taken yet.
        rest = await answer.piece()
        await self._send({"type": "http.response.body", "body": piece + rest, "more_body": False})


ROUTES = [forwarding(prefix, name) for prefix, name in PREFIXES.items()]
