"""A span for each SQL statement, named by its verb and tables."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, Tracer

from shared.telemetry import tracing

_WRITES = re.compile(r"\b(insert|update|delete|merge)\b\s+(?:into\b|from\b|only\b|\w+\.)", re.IGNORECASE)
_TARGET = re.compile(r"\b(?:cache|memory|sessions|context|timeline|public)\.[a-z_]+\b(?!\.)")
_CALL = re.compile(r"\b([a-z_]+)\(")
_MOST_TARGETS = 4


class QuerySummary(NamedTuple):
    operation: str
    text: str


@lru_cache(512)
def summarize(sql: str) -> QuerySummary:
    """The statement's verb and its tables or functions. Statements hold no parameters, only constants of the code."""
    bare = sql.lstrip()
    operation = re.split(r"\W", bare, maxsplit=1)[0].upper()
    if operation == "WITH":
        operation = found[1].upper() if (found := _WRITES.search(bare)) else "SELECT"
    # The driver's own statements call functions without a schema.
    targets = list(dict.fromkeys(_TARGET.findall(bare)))[:_MOST_TARGETS] or _CALL.findall(bare)[:1]
    return QuerySummary(operation, " ".join([operation, *targets]))


def query_logger() -> Callable[[Any], None] | None:
    """asyncpg calls this after each statement, in the caller's context. None without a collector."""
    if (tracer := tracing.tracer()) is None:
        return None

    def record(query: Any) -> None:
        finish = time.time_ns()
        begin = finish - int(query.elapsed * 1e9)
        if _was_open(trace.get_current_span(), begin):
            _record(tracer, query, begin, finish)

    return record


def _record(tracer: Tracer, query: Any, begin: int, finish: int) -> None:
    summary = summarize(query.query)
    attributes = {
        "db.system.name": "postgresql",
        "db.operation.name": summary.operation,
        "db.query.summary": summary.text,
        "db.namespace": query.conn_params.database or "",
    }
    span = tracer.start_span(summary.text, kind=SpanKind.CLIENT, attributes=attributes, start_time=begin)
    if query.exception is not None:
        if state := getattr(query.exception, "sqlstate", None):
            span.set_attribute("db.response.status_code", state)
        tracing.note_failure(span, type(query.exception).__name__)
    span.end(finish)


def _was_open(span: Span, then: int) -> bool:
    """Whether the span was still recording at `then` (ns); work of a finished request belongs to no span."""
    # A span that is not recorded has no `end_time`.
    finish = getattr(span, "end_time", 0)
    return finish is None or then < finish
