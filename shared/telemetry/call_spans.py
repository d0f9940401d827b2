"""A span for each call of another service."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, Tracer

from shared.telemetry import tracing
from shared.telemetry.tracing import CARRIER, Attributes, end, known_method, note_failure


class Call:
    """Without a span, it does nothing."""

    def __init__(self, span: Span | None = None) -> None:
        self._span = span

    def replacing(self, headers: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        """The headers, with those that make the callee's spans children of this one."""
        if self._span is None:
            yield from headers
            return
        own: dict[str, str] = {}
        CARRIER.inject(own, trace.set_span_in_context(self._span))
        yield from (field for field in headers if field[0].lower() not in own)
        yield from own.items()

    def answered(self, status: int) -> None:
        if self._span is not None:
            self._span.set_attribute("http.response.status_code", status)
            if status >= 400:
                note_failure(self._span, str(status))


_UNTRACED: AbstractContextManager[Call] = nullcontext(Call())


def call(method: str, host: str, port: int, target: str) -> AbstractContextManager[Call]:
    """A call of one of our services, until its answer begins. `target` is path and query."""
    tracer = tracing.tracer()
    return _UNTRACED if tracer is None else _traced(tracer, method, host, port, target)


@contextmanager
def _traced(tracer: Tracer, method: str, host: str, port: int, target: str) -> Iterator[Call]:
    name, attributes = _described(known_method(method), host, port, target.partition("?")[0])
    span = tracer.start_span(name, kind=SpanKind.CLIENT, attributes=attributes)
    try:
        yield Call(span)
    except BaseException as error:
        note_failure(span, type(error).__name__)
        raise
    finally:
        end(span)


def _described(method: str, host: str, port: int, path: str) -> tuple[str, Attributes]:
    attributes: Attributes = {
        "http.request.method": method,
        "server.address": host,
        "server.port": port,
    }
    # Any other path may hold names that a caller chose.
    if path.startswith("/internal/"):
        return f"{method} {path}", {**attributes, "url.template": path}
    return method, attributes
