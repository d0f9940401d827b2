"""A span for each call of another service."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import aiohttp
from opentelemetry import trace
from opentelemetry.trace import SpanKind

from shared.telemetry import tracing
from shared.telemetry.tracing import CARRIER, Attributes, end, known_method, note_failure


def trace_configs() -> list[aiohttp.TraceConfig]:
    """For a session that calls our services: each call gets a span, and the callee's spans become its children."""
    if (tracer := tracing.tracer()) is None:
        return []

    async def begin(_: Any, call: SimpleNamespace, params: aiohttp.TraceRequestStartParams) -> None:
        name, attributes = _described(params)
        call.span = tracer.start_span(name, kind=SpanKind.CLIENT, attributes=attributes)
        CARRIER.inject(params.headers, trace.set_span_in_context(call.span))

    config = aiohttp.TraceConfig()
    config.on_request_start.append(begin)
    config.on_request_end.append(_call_answered)
    config.on_request_exception.append(_call_failed)
    return [config]


def _described(call: aiohttp.TraceRequestStartParams) -> tuple[str, Attributes]:
    method, url = known_method(call.method), call.url
    attributes: Attributes = {
        "http.request.method": method,
        "server.address": url.host or "",
        "server.port": url.port or 0,
    }
    # Any other path may hold names that a caller chose.
    if url.path.startswith("/internal/"):
        return f"{method} {url.path}", {**attributes, "url.template": url.path}
    return method, attributes


async def _call_answered(_: Any, call: SimpleNamespace, params: aiohttp.TraceRequestEndParams) -> None:
    status = params.response.status
    call.span.set_attribute("http.response.status_code", status)
    if status >= 400:
        note_failure(call.span, str(status))
    end(call.span)


async def _call_failed(_: Any, call: SimpleNamespace, params: aiohttp.TraceRequestExceptionParams) -> None:
    note_failure(call.span, type(params.exception).__name__)
    end(call.span)
