"""Turns a tool call into a request to this service's own routes, so REST and MCP share rules, limits and errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote, urlencode

import msgspec
from litestar.types import ASGIApp

from services.context.mcp.fields import KEY
from services.context.mcp.schemas import Json, Route
from shared import deadline as deadlines
from shared.errors import Invalid, PassedOn
from shared.validation.values import MISSING, MOST_ERRORS, UNKNOWN_FIELD, field_error
from shared.vocabulary import renamed
from shared.web.idempotency_key import HEADER

COUNTED = "counted"
"""Where the state of an MCP request's scope says that it counts against the limits of its key already."""
_PASSED_ON = (b"authorization", deadlines.HEADER.encode())


async def call(app: ASGIApp, outer: Any, route: Route, arguments: Mapping[str, Any]) -> Any:
    """The route's answer. `outer` is the scope of the MCP request, whose key calls. Raises PassedOn and Invalid."""
    path, query, body, headers = request_of(route, arguments)
    inner = {
        "type": "http",
        "asgi": outer["asgi"],
        "http_version": "1.1",
        "method": route.method,
        "scheme": outer["scheme"],
        "path": unquote(path),
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query,
        "headers": [
            *((name, value) for name, value in outer["headers"] if name in _PASSED_ON),
            (b"accept", b"application/json"),
            *headers,
        ],
        "client": outer["client"],
        "server": outer["server"],
        "state": {
            **{name: outer["state"][name] for name in ("request_id", "arrived", "timeout")},
            "received": len(body),
        },
    }
    exchange = _Exchange(body)
    outer["state"][COUNTED] = True
    await app(inner, exchange.receive, exchange.send)  # type: ignore[arg-type]
    for ended in inner["state"].get("ended", ()):
        ended()
    outer["state"]["answer_headers"] = inner["state"].get("answer_headers", ())
    try:
        return exchange.answer()
    except PassedOn as problem:
        _name_as_the_tool(problem, route)
        raise


def request_of(
    route: Route, arguments: Mapping[str, Any]
) -> tuple[str, bytes, bytes, list[tuple[bytes, bytes]]]:
    """The path, query string, body and headers. Raises Invalid if a value cannot be part of a request."""
    left = renamed(arguments, route.names)
    headers: list[tuple[bytes, bytes]] = []
    if route.keyed and (key := left.pop(KEY, None)) is not None:
        headers.append((HEADER.encode(), _text(KEY, key).encode()))
    path = route.path
    for name in route.in_path:
        # Handles may contain slashes. A name with a slash finds nothing, as over REST.
        value = quote(_text(name, left.pop(name, None)), safe="/" if name == "handle" else "")
        path = path.replace("{" + name + "}", value)
    query = {name: _texts(name, left.pop(name)) for name in route.in_query if left.get(name) is not None}
    if not route.has_body:
        known = {*route.in_path, *route.in_query}
        if unknown := [name for name in left if name not in known]:
            raise Invalid.of(
                field_error(name, UNKNOWN_FIELD, given=name, known=known - arguments.keys())
                for name in unknown[:MOST_ERRORS]
            )
        return path, urlencode(query, doseq=True).encode(), b"", headers
    body: Json = {}
    for name, value in left.items():
        if value is None:
            continue
        if name in route.nested:
            outside, inside = route.nested[name]
            body.setdefault(outside, {})[inside] = value
        else:
            body[name] = value
    encoded = _encoded(body)
    headers += [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(encoded))]
    return path, urlencode(query, doseq=True).encode(), encoded, headers


def _texts(name: str, value: Any) -> list[str]:
    """The values of a query parameter, which may be given several times."""
    return [_text(name, each) for each in value] if isinstance(value, list) else [_text(name, value)]


def _name_as_the_tool(problem: PassedOn, route: Route) -> None:
    """A tool's fields are flat: an object's own fields stand beside the others."""
    for outside in {outside for outside, _ in route.nested.values()}:
        problem.detail = problem.detail.replace(f"{outside}.", "")
        for error in problem.errors or ():
            error["field"] = error["field"].removeprefix(f"{outside}.")


def _text(name: str, value: Any) -> str:
    """A value as a part of a path, a query or a header."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        if not isinstance(value, dict):
            raise Invalid.field(name, MISSING if value is None else "must be a string or a whole number")
        value = _encoded(value).decode()
    try:
        str(value).encode()
    except UnicodeEncodeError as error:
        raise Invalid.field(name, "must be valid Unicode") from error
    return str(value)


def _encoded(value: Any) -> bytes:
    try:
        return msgspec.json.encode(value)
    except (UnicodeEncodeError, OverflowError, RecursionError, ValueError) as error:
        raise Invalid.field("arguments", "cannot be written as JSON") from error


class _Exchange:
    """One request in, one answer out, in memory."""

    def __init__(self, body: bytes) -> None:
        self._body: bytes | None = body
        self._status = 500
        self._retry_after: float | None = None
        self._pieces: list[bytes] = []

    async def receive(self) -> Any:
        if self._body is None:
            return {"type": "http.disconnect"}
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            headers = dict(message["headers"])
            if b"retry-after" in headers:
                self._retry_after = float(headers[b"retry-after"])
        elif message["type"] == "http.response.body":
            self._pieces.append(message.get("body", b""))

    def answer(self) -> Any:
        body = b"".join(self._pieces)
        answer = msgspec.json.decode(body) if body else {}
        if self._status >= 400:
            raise PassedOn(self._status, answer, self._retry_after)
        return answer
