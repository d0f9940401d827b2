"""`/mcp`: verifies the key, reads the toolset and passes the request to the SDK, which the first call loads."""

from __future__ import annotations

import asyncio
import gc
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qs

import msgspec
from litestar import Request, asgi, get
from litestar.types import ASGIApp, Receive, Scope, Send

from services.context.document import as_json
from services.context.keys import Keys
from services.context.mcp.calls import COUNTED
from services.context.mcp.catalog import TOOLSETS
from shared.body import MAX_BODY
from shared.deadline import Deadline
from shared.errors import AppError, Invalid, MethodNotAllowed, TooLate, Unauthorized
from shared.validation.values import MOST_ERRORS, field_error
from shared.web.dependencies import service_of
from shared.web.parameters import UNKNOWN_PARAMETER
from shared.web.problems import send_problem, too_large
from shared.web.request import deadline_of, name_route

PATH = "/mcp"
METADATA = "/.well-known/oauth-protected-resource"
_CALLS_ROUTE = ("tools/call", "resources/read", "prompts/get")
_HOST = re.compile(r"^[\w.:\[\]-]{1,260}$", re.ASCII)


class _Message(msgspec.Struct):
    method: str | None = None


_MESSAGE = msgspec.json.Decoder(_Message)


class Mcp:
    """The SDK's session manager, from the first call until the service stops."""

    def __init__(self, toolsets: Sequence[str], hosts: Sequence[str], public_url: str | None) -> None:
        self.toolsets = tuple(toolsets)
        self.public_url = public_url
        self._hosts = tuple(hosts)
        self._lock = asyncio.Lock()
        self._handle: ASGIApp | None = None
        self._running: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()

    async def app(self) -> ASGIApp:
        async with self._lock:
            if self._handle is None:
                # The imports take half a second, so they must not run on the event loop.
                manager = await asyncio.to_thread(self._load)
                started = asyncio.Event()
                self._running = asyncio.create_task(self._run(manager, started))
                await started.wait()
                self._handle = manager.handle_request
                gc.freeze()
            return self._handle

    async def stop(self) -> None:
        self._stopping.set()
        if self._running is not None:
            await asyncio.gather(self._running, return_exceptions=True)

    def _load(self) -> Any:
        # The SDK takes memory and most of a second, so load it only when a client speaks MCP.
        from services.context.mcp.server import manager

        document = msgspec.json.decode(as_json())
        return manager(document, document["info"]["version"], self._hosts)

    async def _run(self, manager: Any, started: asyncio.Event) -> None:
        # The same task must enter and leave the manager's task group.
        async with manager.run():
            started.set()
            await self._stopping.wait()


@asgi([PATH], copy_scope=True)
async def mcp(scope: Scope, receive: Receive, send: Send) -> None:
    await _serve(scope, receive, send)


async def _serve(scope: Any, receive: Receive, send: Send) -> None:
    server = service_of(scope, Mcp)
    name_route(scope, PATH)
    try:
        replayed = await _admit(scope, receive)
        if scope["method"] != "POST":
            # The server never sends unasked, so there is no stream to open and no session to end.
            raise MethodNotAllowed("POST is the only method here")
        scope["state"]["toolsets"] = toolsets_of(scope["query_string"].decode("latin-1")) or server.toolsets
        handle = await server.app()
    except Unauthorized as error:
        challenge = f'Bearer resource_metadata="{_address(scope, server.public_url)}{METADATA}{PATH}"'
        await send_problem(error, send, {"www-authenticate": challenge})
    except MethodNotAllowed as error:
        await send_problem(error, send, {"allow": "POST"})
    except AppError as error:
        await send_problem(error, send)
    else:
        await handle(scope, replayed, _counting(scope, send))


async def _admit(scope: Any, receive: Receive) -> Receive:
    """The body, to be read again. Limits apply here, except to messages that call a route: it applies them, or else
    their answer does."""
    deadline = deadline_of(scope, reads=False)
    headers = dict(scope["headers"])
    keys = service_of(scope, Keys)
    await keys.verify(headers.get(b"authorization", b"").decode("latin-1") or None, deadline)
    length = headers.get(b"content-length", b"0")
    if length.isdigit() and int(length) > MAX_BODY:
        raise too_large()
    body = await _read(receive, deadline)
    if _method(body) not in _CALLS_ROUTE:
        await keys.admit(scope, deadline, writes=False)
        scope["state"][COUNTED] = True
    return _again(body, receive)


def _counting(scope: Any, send: Send) -> Send:
    """Applies the limits before the answer to a message that came to no route: an unknown name, or wrong arguments."""
    refused = False

    async def counting(message: Any) -> None:
        nonlocal refused
        if message["type"] == "http.response.start" and COUNTED not in scope["state"]:
            try:
                await service_of(scope, Keys).admit(scope, deadline_of(scope, reads=False), writes=False)
            except AppError as error:
                refused = True
                await send_problem(error, send)
        if not refused:
            await send(message)

    return counting


def _method(body: bytes) -> str | None:
    try:
        return _MESSAGE.decode(body).method
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


async def _read(receive: Receive, deadline: Deadline) -> bytes:
    body = bytearray()
    try:
        async with asyncio.timeout(deadline.left()):
            while True:
                message: Any = await receive()
                body += message.get("body", b"")
                if len(body) > MAX_BODY:
                    raise too_large()
                if not message.get("more_body"):
                    return bytes(body)
    except TimeoutError as error:
        raise TooLate("the request's body did not come in time") from error


def _again(body: bytes, receive: Receive) -> Receive:
    pieces: list[Any] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Any:
        return pieces.pop() if pieces else await receive()

    return replayed


def toolsets_of(query: str) -> tuple[str, ...]:
    """The toolsets that the address names. Raises Invalid for one that there is not, and for another parameter."""
    given = parse_qs(query, keep_blank_values=True)
    if unknown := [name for name in given if name != "toolset"]:
        raise Invalid.of(
            field_error(name, UNKNOWN_PARAMETER, given=name, known=["toolset"])
            for name in unknown[:MOST_ERRORS]
        )
    named = [name for value in given.get("toolset", []) for name in re.split(r"[,|]", value) if name]
    if strange := [name for name in named if name not in TOOLSETS]:
        message = f"must be one of {', '.join(TOOLSETS)}"
        raise Invalid.of([field_error("toolset", message, TOOLSETS, strange[0])])
    return tuple(named)


def _address(scope: Any, public_url: str | None) -> str:
    """The address at which the caller reached this service."""
    if public_url is not None:
        return public_url
    headers = dict(scope["headers"])
    host = headers.get(b"host", b"").decode("latin-1")
    scheme = headers.get(b"x-forwarded-proto", scope["scheme"].encode()).decode("latin-1")
    return f"{scheme if scheme == 'https' else 'http'}://{host if _HOST.match(host) else 'localhost'}"


@get([METADATA, METADATA + PATH], opt={"access": "public"}, sync_to_thread=False, include_in_schema=False)
def metadata(request: Request[Any, Any, Any]) -> dict[str, Any]:
    """The metadata of RFC 9728. There is no authorization server: an admin of this service makes keys."""
    return {
        "resource": _address(request.scope, service_of(request.scope, Mcp).public_url) + PATH,
        "resource_name": "Scrubjay",
        "bearer_methods_supported": ["header"],
        "scopes_supported": ["read", "write", "admin"],
    }


ROUTES = [mcp, metadata]
