"""Traces for an OpenTelemetry collector, where one is named; without one nothing is imported and nothing done.

`shared.telemetry.spans` makes the spans. No span holds content, parameters, or an identifier out of a path.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, MutableMapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias, TypeVar

from litestar.types import ASGIApp

from shared.settings import Env, SettingsError

if TYPE_CHECKING:
    import aiohttp

    from shared.telemetry.spans import Recorder

P = ParamSpec("P")
R = TypeVar("R")
Does: TypeAlias = Callable[P, Coroutine[Any, Any, R]]

TRACE_ID = "x-trace-id"

_OFF: AbstractContextManager[None] = nullcontext()
_recorder: Recorder | None = None


@dataclass(frozen=True, slots=True)
class TracingSettings:
    endpoint: str | None = None
    """The collector's OTLP/HTTP address, without /v1/traces."""
    headers: str = field(default="", repr=False)
    """name=value, with commas between them; sent with every export."""
    share: float = 1.0
    """Of the requests that come without a decision of their caller."""

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
    """Once a process, before its app serves."""
    global _recorder
    if settings.endpoint is not None:
        from shared.telemetry.spans import Recorder

        _recorder = Recorder(service, settings)


def traced(app: ASGIApp) -> ASGIApp:
    """The app with a span for each request, whose trace id its answer names."""
    return app if _recorder is None else _recorder.traced(app)


def clients() -> list[aiohttp.TraceConfig]:
    """For a session that calls services of ours: a span a call, which the callee's spans go on from."""
    return [] if _recorder is None else [_recorder.calls()]


def statements() -> Callable[[Any], None] | None:
    """What a database connection calls after each statement."""
    return None if _recorder is None else _recorder.statement


def memory(operation: str, store: str) -> Callable[[Does[P, R]], Does[P, R]]:
    """An operation of the conventions for agents' memories, such as search_memory."""

    def decorate(function: Does[P, R]) -> Does[P, R]:
        @wraps(function)
        def run(*args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, R]:
            if _recorder is None:
                return function(*args, **kwargs)
            return _recorder.during(_recorder.memory(operation, store), function(*args, **kwargs))

        return run

    return decorate


def embeddings(model: str, texts: int) -> AbstractContextManager[Any]:
    return _OFF if _recorder is None else _recorder.embeddings(model, texts)


def here() -> Any:
    """Where a span made later, and elsewhere, goes on from; see `going_on`."""
    return None if _recorder is None else _recorder.here()


def going_on(name: str, origins: Sequence[Any], **attributes: str | int) -> AbstractContextManager[Any]:
    """Work in the background that several requests left: a child of the first, with links to the others."""
    return _OFF if _recorder is None else _recorder.going_on(name, origins, attributes)


def publishing(origins: Sequence[Any], messages: int) -> AbstractContextManager[Any]:
    return _OFF if _recorder is None else _recorder.publishing(origins, messages)


def add_ids(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """For structlog."""
    if _recorder is not None:
        event.update(_recorder.ids())
    return event
