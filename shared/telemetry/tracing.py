"""Spans for an OpenTelemetry collector. Without a collector, no spans are made.

No span holds content, parameters, or an identifier from a path.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, MutableMapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias, TypeVar

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Link, Span, SpanContext, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from shared.settings import Env, SettingsError

if TYPE_CHECKING:
    from shared.telemetry.export import Exporter

P = ParamSpec("P")
R = TypeVar("R")
AsyncFunction: TypeAlias = Callable[P, Coroutine[Any, Any, R]]
Attributes: TypeAlias = Mapping[str, str | int]

CARRIER = TraceContextTextMapPropagator()
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_OFF: AbstractContextManager[Span] = nullcontext(trace.INVALID_SPAN)
_exporter: Exporter | None = None


@dataclass(frozen=True, slots=True)
class TracingSettings:
    endpoint: str | None = None
    """The collector's OTLP/HTTP address, without /v1/traces."""
    headers: str = field(default="", repr=False)
    """Comma-separated name=value pairs, sent with every export."""
    share: float = 1.0
    """The share of requests to record, unless the caller has already decided."""

    @classmethod
    def from_env(cls, values: Mapping[str, str] | None = None) -> TracingSettings:
        """Raises SettingsError naming what is wrong."""
        env = Env(values)
        endpoint = env.optional("OTEL_EXPORTER_OTLP_ENDPOINT")
        if endpoint is not None and not endpoint.startswith(("http://", "https://")):
            raise SettingsError([f"OTEL_EXPORTER_OTLP_ENDPOINT is not an http address: {endpoint!r}"])
        settings = cls(
            endpoint=endpoint and endpoint.rstrip("/"),
            headers=env.text("OTEL_EXPORTER_OTLP_HEADERS", "") or "",
            share=env.number("OTEL_TRACES_SAMPLER_ARG", 1.0, 0.0, 1.0),
        )
        env.done()
        return settings


def start(service: str, settings: TracingSettings) -> None:
    """Call once per process, before its app serves."""
    global _exporter
    if settings.endpoint is not None:
        # Only a process that has a collector pays for the SDK.
        from shared.telemetry.export import Exporter

        _exporter = Exporter(service, settings.endpoint, settings.headers, settings.share)


async def stop() -> None:
    if _exporter is not None:
        await _exporter.close()


def tracer() -> trace.Tracer | None:
    return None if _exporter is None else _exporter.tracer


def span(
    name: str,
    attributes: Attributes,
    kind: SpanKind = SpanKind.INTERNAL,
    parent: Context | None = None,
    links: Sequence[Link] = (),
) -> AbstractContextManager[Span]:
    """Makes a span current: spans started inside become its children."""
    return _OFF if _exporter is None else _recorded(_exporter.tracer, name, attributes, kind, parent, links)


@contextmanager
def _recorded(
    tracer: trace.Tracer,
    name: str,
    attributes: Attributes,
    kind: SpanKind,
    parent: Context | None,
    links: Sequence[Link],
) -> Iterator[Span]:
    with tracer.start_as_current_span(
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
            note_failure(span, type(error).__name__)
            raise
        finally:
            end(span)


def note_failure(span: Span, error_type: str) -> None:
    """Records only the error's type: its message may quote a row."""
    span.set_attribute("error.type", error_type)
    span.set_status(Status(StatusCode.ERROR))


def end(span: Span) -> None:
    """Does nothing to a span that has ended."""
    if span.is_recording():
        span.end()


def known_method(method: str) -> str:
    """The method's name in the OpenTelemetry conventions, which keep the set small."""
    return method if method in _METHODS else "_OTHER"


def memory(operation: str, store: str) -> Callable[[AsyncFunction[P, R]], AsyncFunction[P, R]]:
    """Wraps a function in a span of the OpenTelemetry agent-memory conventions; `operation` as in search_memory."""
    attributes = {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": "scrubjay",
        "gen_ai.memory.store.id": store,
    }

    def decorate(function: AsyncFunction[P, R]) -> AsyncFunction[P, R]:
        @wraps(function)
        def run(*args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, R]:
            if _exporter is None:
                return function(*args, **kwargs)
            return _within(span(f"{operation} {store}", attributes), function(*args, **kwargs))

        return run

    return decorate


async def _within(span: AbstractContextManager[Span], work: Awaitable[R]) -> R:
    with span:
        return await work


def embeddings(model: str, texts: int) -> AbstractContextManager[Span]:
    provider, _, name = model.rpartition(":")
    attributes: Attributes = {
        "gen_ai.operation.name": "embeddings",
        "gen_ai.provider.name": provider or "local",
        "gen_ai.request.model": name,
        "scrubjay.embeddings.texts": texts,
    }
    return span(f"embeddings {name}", attributes, SpanKind.CLIENT)


def publishing(origins: Sequence[SpanContext | None], messages: int) -> AbstractContextManager[Span]:
    attributes: Attributes = {
        "db.system.name": "redis",
        "db.operation.name": "PUBLISH",
        "db.operation.batch.size": messages,
    }
    return going_on("PUBLISH", origins, attributes, SpanKind.CLIENT)


def here() -> SpanContext | None:
    """The current span's context, from which work outside the request continues the trace; see `going_on`."""
    return None if _exporter is None else trace.get_current_span().get_span_context()


def going_on(
    name: str,
    origins: Sequence[SpanContext | None],
    attributes: Attributes | None = None,
    kind: SpanKind = SpanKind.INTERNAL,
) -> AbstractContextManager[Span]:
    """A span for background work of several requests: a child of the first sampled one, linked to the others."""
    known = [origin for origin in origins if origin is not None and origin.is_valid]
    known.sort(key=lambda origin: not origin.trace_flags.sampled)
    if not known:
        return _OFF
    parent = trace.set_span_in_context(trace.NonRecordingSpan(known[0]), Context())
    return span(name, attributes or {}, kind, parent, [Link(origin) for origin in known[1:]])


def add_ids(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """A structlog processor that adds the current trace and span ids to a line."""
    if (origin := here()) is not None and origin.is_valid:
        event.update(trace_id=f"{origin.trace_id:032x}", span_id=f"{origin.span_id:016x}")
    return event
