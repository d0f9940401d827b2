"""Spans as the semantic conventions name them, sent in batches from a thread of their own.

The queue is bounded: what a slow or dead collector does not take is dropped, and no request waits for it.
"""

from __future__ import annotations

import asyncio
import logging
import re
import threading
import time
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeVar

import aiohttp
from litestar.types import ASGIApp, Receive, Send
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import Link, Span, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.re import parse_env_headers

from shared.telemetry import metrics
from shared.telemetry.tracing import TRACE_ID, TracingSettings

R = TypeVar("R")

# About 2 kB a span.
_QUEUE = 4_096
_EVERY_MS = 1_000
_EXPORT_SECONDS = 3.0
# A drain has 10 seconds in all.
_CLOSE_SECONDS = 1.0

_UNTRACED = ("/livez", "/readyz", "/metrics")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_EVENT_STREAM = b"text/event-stream"

_WRITES = re.compile(r"\b(insert|update|delete|merge)\b\s+(?:into\b|from\b|only\b|\w+\.)", re.IGNORECASE)
_TARGET = re.compile(r"\b(?:cache|memory|context|timeline|public)\.[a-z_]+\b(?!\.)")
_CALL = re.compile(r"\b([a-z_]+)\(")
_MOST_TARGETS = 4


class Statement(NamedTuple):
    operation: str
    summary: str


@lru_cache(512)
def statement_of(sql: str) -> Statement:
    """What a statement does and to which tables or functions; constants of the code, whatever its parameters."""
    bare = sql.lstrip()
    operation = re.split(r"\W", bare, maxsplit=1)[0].upper()
    if operation == "WITH":
        operation = found[1].upper() if (found := _WRITES.search(bare)) else "SELECT"
    # The driver looks up types, and has functions without a schema.
    targets = list(dict.fromkeys(_TARGET.findall(bare)))[:_MOST_TARGETS] or _CALL.findall(bare)[:1]
    return Statement(operation, " ".join([operation, *targets]))


class Recorder:
    def __init__(self, service: str, settings: TracingSettings) -> None:
        # Its complaints about a collector are not JSON, and as many as its tries.
        logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
        self._provider = TracerProvider(
            resource=Resource.create(
                {"service.name": f"scrubjay-{service}", "service.namespace": "scrubjay"}
            ),
            sampler=ParentBased(TraceIdRatioBased(settings.share)),
            shutdown_on_exit=False,
        )
        exporter = OTLPSpanExporter(
            endpoint=f"{settings.endpoint}/v1/traces",
            headers=parse_env_headers(settings.headers, liberal=True),
            timeout=_EXPORT_SECONDS,
        )
        self._provider.add_span_processor(
            BatchSpanProcessor(_Counted(exporter), max_queue_size=_QUEUE, schedule_delay_millis=_EVERY_MS)
        )
        # Not the process's global provider: no library adds spans of its own, with who knows what in them.
        self._tracer = self._provider.get_tracer("scrubjay")
        self._carrier = TraceContextTextMapPropagator()

    async def close(self) -> None:
        """Sends what waits, if the collector takes it within a second."""
        thread = threading.Thread(target=self._provider.shutdown, daemon=True)
        thread.start()
        end = time.monotonic() + _CLOSE_SECONDS
        while thread.is_alive() and time.monotonic() < end:
            await asyncio.sleep(0.02)

    # Requests.

    def traced(self, app: ASGIApp) -> ASGIApp:
        async def run(scope: Any, receive: Receive, send: Send) -> None:
            if scope["type"] == "lifespan":
                await app(scope, receive, self._closing(send))
            elif scope["type"] != "http" or scope["path"] in _UNTRACED:
                await app(scope, receive, send)
            else:
                await self._answer(app, scope, receive, send)

        return run

    def _closing(self, send: Send) -> Send:
        async def told(message: Any) -> None:
            if message["type"] == "lifespan.shutdown.complete":
                await self.close()
            await send(message)

        return told

    async def _answer(self, app: ASGIApp, scope: Any, receive: Receive, send: Send) -> None:
        given = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        method = scope["method"] if scope["method"] in _METHODS else "_OTHER"
        attributes = {"http.request.method": method, "url.scheme": str(scope["scheme"])}
        parent = self._carrier.extract(given)
        with self._span(method, SpanKind.SERVER, attributes, parent) as span:

            async def told(message: Any) -> None:
                if message["type"] == "http.response.start":
                    _note_answer(span, scope, method, message)
                await send(message)

            await app(scope, receive, told)

    # Calls of our services.

    def calls(self) -> aiohttp.TraceConfig:
        config = aiohttp.TraceConfig()
        config.on_request_start.append(self._call_begins)
        config.on_request_end.append(_call_answered)
        config.on_request_exception.append(_call_failed)
        return config

    async def _call_begins(
        self, _: aiohttp.ClientSession, call: SimpleNamespace, params: aiohttp.TraceRequestStartParams
    ) -> None:
        method = params.method if params.method in _METHODS else "_OTHER"
        attributes: dict[str, str | int] = {
            "http.request.method": method,
            "server.address": params.url.host or "",
            "server.port": params.url.port or 0,
        }
        name = method
        # Other paths hold what callers name.
        if params.url.path.startswith("/internal/"):
            attributes["url.template"] = params.url.path
            name = f"{method} {params.url.path}"
        call.span = self._tracer.start_span(name, kind=SpanKind.CLIENT, attributes=attributes)
        inside = trace.set_span_in_context(call.span)
        self._carrier.inject(params.headers, inside)

    # Statements.

    def statement(self, logged: Any) -> None:
        """A query logger of asyncpg. It is called in the context of whoever ran the statement."""
        end = time.time_ns()
        start = end - int(logged.elapsed * 1e9)
        if not _was_open(trace.get_current_span(), start):
            return
        what = statement_of(logged.query)
        attributes = {
            "db.system.name": "postgresql",
            "db.operation.name": what.operation,
            "db.query.summary": what.summary,
            "db.namespace": logged.conn_params.database or "",
        }
        span = self._tracer.start_span(
            what.summary, kind=SpanKind.CLIENT, attributes=attributes, start_time=start
        )
        if logged.exception is not None:
            if state := getattr(logged.exception, "sqlstate", None):
                span.set_attribute("db.response.status_code", state)
            _note_failure(span, type(logged.exception).__name__)
        span.end(end)

    # What services do.

    def memory(self, operation: str, store: str) -> AbstractContextManager[Span]:
        attributes = {
            "gen_ai.operation.name": operation,
            "gen_ai.provider.name": "scrubjay",
            "gen_ai.memory.store.id": store,
        }
        return self._span(f"{operation} {store}", SpanKind.INTERNAL, attributes)

    def embeddings(self, model: str, texts: int) -> AbstractContextManager[Span]:
        provider, _, name = model.rpartition(":")
        attributes: dict[str, str | int] = {
            "gen_ai.operation.name": "embeddings",
            "gen_ai.provider.name": provider or "local",
            "gen_ai.request.model": name,
            "scrubjay.embeddings.texts": texts,
        }
        return self._span(f"embeddings {name}", SpanKind.CLIENT, attributes)

    def publishing(self, origins: Sequence[Any], messages: int) -> AbstractContextManager[Span | None]:
        attributes: dict[str, str | int] = {
            "db.system.name": "redis",
            "db.operation.name": "PUBLISH",
            "db.operation.batch.size": messages,
        }
        return self.going_on("PUBLISH", origins, attributes, SpanKind.CLIENT)

    @contextmanager
    def going_on(
        self,
        name: str,
        origins: Sequence[Any],
        attributes: Mapping[str, str | int],
        kind: SpanKind = SpanKind.INTERNAL,
    ) -> Iterator[Span | None]:
        known = [one for one in origins if one is not None and one.is_valid]
        if not known:
            yield None
            return
        parent = trace.set_span_in_context(trace.NonRecordingSpan(known[0]), Context())
        with self._span(name, kind, attributes, parent, [Link(one) for one in known[1:]]) as span:
            yield span

    def here(self) -> Any:
        return trace.get_current_span().get_span_context()

    def ids(self) -> dict[str, str]:
        here = trace.get_current_span().get_span_context()
        return (
            {"trace_id": f"{here.trace_id:032x}", "span_id": f"{here.span_id:016x}"} if here.is_valid else {}
        )

    async def during(self, span: AbstractContextManager[Any], work: Awaitable[R]) -> R:
        with span:
            return await work

    @contextmanager
    def _span(
        self,
        name: str,
        kind: SpanKind,
        attributes: Mapping[str, str | int],
        parent: Context | None = None,
        links: Sequence[Link] = (),
    ) -> Iterator[Span]:
        """Errors by their type alone: what they say may quote a row."""
        with self._tracer.start_as_current_span(
            name,
            context=parent,
            kind=kind,
            attributes=attributes,
            links=links,
            record_exception=False,
            set_status_on_exception=False,
            end_on_exit=False,
        ) as span:
            try:
                yield span
            except BaseException as error:
                _note_failure(span, type(error).__name__)
                raise
            finally:
                _end(span)


class _Counted(SpanExporter):
    """Counts what the collector did not take."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = self._exporter.export(spans)
        if result is not SpanExportResult.SUCCESS:
            metrics.SPANS_LOST.inc(len(spans))
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._exporter.force_flush(timeout_millis)


def _note_answer(span: Span, scope: Any, method: str, message: Any) -> None:
    route, status = scope.get("path_template") or scope["state"].get("route"), message["status"]
    if route:
        span.update_name(f"{method} {route}")
        span.set_attribute("http.route", route)
    span.set_attribute("http.response.status_code", status)
    span.set_attribute("scrubjay.request.id", scope["state"].get("request_id", ""))
    if status >= 500:
        _note_failure(span, str(status))
    trace_id = f"{span.get_span_context().trace_id:032x}".encode()
    message["headers"] = [*message["headers"], (TRACE_ID.encode(), trace_id)]
    # A stream lives for hours: what it does from now on belongs to no request.
    if any(name == b"content-type" and value.startswith(_EVENT_STREAM) for name, value in message["headers"]):
        _end(span)


async def _call_answered(
    _: aiohttp.ClientSession, call: SimpleNamespace, params: aiohttp.TraceRequestEndParams
) -> None:
    status = params.response.status
    call.span.set_attribute("http.response.status_code", status)
    if status >= 400:
        _note_failure(call.span, str(status))
    _end(call.span)


async def _call_failed(
    _: aiohttp.ClientSession, call: SimpleNamespace, params: aiohttp.TraceRequestExceptionParams
) -> None:
    _note_failure(call.span, type(params.exception).__name__)
    _end(call.span)


def _note_failure(span: Span, kind: str) -> None:
    span.set_attribute("error.type", kind)
    span.set_status(Status(StatusCode.ERROR))


def _end(span: Span) -> None:
    if span.is_recording():
        span.end()


def _was_open(span: Span, then: int) -> bool:
    """Whether work that began `then` (ns) is the span's: not when its request was over, or is not recorded."""
    if not isinstance(span, ReadableSpan):
        return False
    return span.end_time is None or then < span.end_time
