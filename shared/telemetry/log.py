"""JSON logs on stdout: request id and tenant, never content.

Every line is one JSON object, whoever writes it: our code, a library, a warning, or an exception that nobody caught.
"""

from __future__ import annotations

import logging
import sys
import threading
from types import TracebackType
from typing import Any

import structlog
from structlog.types import EventDict, Processor, WrappedLogger

from shared.telemetry import tracing

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")

_render = structlog.processors.JSONRenderer()
log = structlog.get_logger()


def configure(service: str, level: str = "INFO") -> None:
    processors = _processors(service)
    structlog.configure(
        processors=[*processors, _render],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level]),
        cache_logger_on_first_use=True,
    )
    handler = _Lines(sys.stdout)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*processors, structlog.stdlib.add_logger_name],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, _render],
        )
    )
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for chatty in ("uvicorn.access", "httpx", "asyncio"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    _hook()


def _processors(service: str) -> list[Processor]:
    def name_service(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
        event["service"] = service
        return event

    return [
        structlog.contextvars.merge_contextvars,
        # Threads that a library starts have no context variables.
        name_service,
        tracing.add_ids,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]


class _Lines(logging.StreamHandler[Any]):
    def handleError(self, record: logging.LogRecord) -> None:
        """By default a record that cannot be formatted becomes a traceback on stderr."""
        log.error(
            "a log record cannot be formatted", logger=record.name, path=record.pathname, line=record.lineno
        )


def _hook() -> None:
    logging.captureWarnings(True)
    sys.excepthook = _uncaught
    sys.unraisablehook = _unraisable
    threading.excepthook = _uncaught_in_thread


def _uncaught(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    log.critical("uncaught exception", exc_info=(kind, error, traceback))


def _unraisable(found: Any) -> None:
    message = found.err_msg or "exception ignored"
    log.error(
        message, object=repr(found.object), exc_info=(found.exc_type, found.exc_value, found.exc_traceback)
    )


def _uncaught_in_thread(found: threading.ExceptHookArgs) -> None:
    name = found.thread.name if found.thread else None
    log.error(
        "uncaught exception in a thread",
        thread=name,
        exc_info=(found.exc_type, found.exc_value, found.exc_traceback),
    )
