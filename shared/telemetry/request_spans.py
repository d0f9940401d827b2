"""A span for each request that a service answers."""

from __future__ import annotations

from typing import Any

from litestar.types import ASGIApp, Receive, Send
from opentelemetry.trace import Span, SpanKind

from shared.telemetry import tracing
from shared.telemetry.tracing import CARRIER, Attributes, end, known_method, note_failure

TRACE_ID = b"x-trace-id"
APART = "apart"
"""Where the state of a scope says that its answer gets no header of ours."""

_UNTRACED = ("/livez", "/readyz", "/metrics")
_EVENT_STREAM = b"text/event-stream"


def traced(app: ASGIApp) -> ASGIApp:
    """The app with a span for each request; the answer names the trace id. Shutdown sends the last spans."""
    if tracing.tracer() is None:
        return app

    async def run(scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await app(scope, receive, _stopping(send))
        elif scope["type"] != "http" or scope["path"] in _UNTRACED:
            await app(scope, receive, send)
        else:
            await _answer(app, scope, receive, send)

    return run


def _stopping(send: Send) -> Send:
    async def forward(message: Any) -> None:
        if message["type"] == "lifespan.shutdown.complete":
            await tracing.stop()
        await send(message)

    return forward


async def _answer(app: ASGIApp, scope: Any, receive: Receive, send: Send) -> None:
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    method = known_method(scope["method"])
    attributes: Attributes = {"http.request.method": method, "url.scheme": str(scope["scheme"])}
    with tracing.span(method, attributes, SpanKind.SERVER, CARRIER.extract(headers)) as span:

        async def forward(message: Any) -> None:
            if message["type"] == "http.response.start":
                _note_answer(span, scope, method, message)
            await send(message)

        await app(scope, receive, forward)


def _note_answer(span: Span, scope: Any, method: str, message: Any) -> None:
    route, status = scope.get("path_template") or scope["state"].get("route"), message["status"]
    if route:
        span.update_name(f"{method} {route}")
        span.set_attribute("http.route", route)
    span.set_attribute("http.response.status_code", status)
    span.set_attribute("scrubjay.request.id", scope["state"].get("request_id", ""))
    if status >= 500:
        note_failure(span, str(status))
    if not scope["state"].get(APART):
        trace_id = f"{span.get_span_context().trace_id:032x}".encode()
        message["headers"] = [*message["headers"], (TRACE_ID, trace_id)]
    # A stream lives for hours: its later work belongs to no request span.
    if any(name == b"content-type" and value.startswith(_EVENT_STREAM) for name, value in message["headers"]):
        end(span)
