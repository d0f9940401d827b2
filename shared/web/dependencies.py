"""Dependencies that a handler requests by type: a service of its app, the caller's principal, the deadline.

A handler declares `memories: NamedDependency[Memories]`, where `memories` is a field of the app's services.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias, TypeVar, get_type_hints

from litestar import Request
from litestar.di import NamedDependency, Provide

from shared.auth import Principal
from shared.deadline import Deadline
from shared.web.drain import Drain
from shared.web.request import deadline_of_route

T = TypeVar("T")

PrincipalDep: TypeAlias = NamedDependency[Principal]
DeadlineDep: TypeAlias = NamedDependency[Deadline]
DrainDep: TypeAlias = NamedDependency[Drain]

_Get = Callable[[Request[Any, Any, Any]], Any]


class Running:
    """A running app's services by type."""

    def __init__(self, drain: Drain) -> None:
        self._by_type: dict[type, Any] = {Drain: drain}

    def add(self, services: object) -> None:
        """`services` is a record with one field for each service."""
        for name, kind in get_type_hints(type(services)).items():
            self._by_type[kind] = getattr(services, name)

    def get(self, kind: type[T]) -> T:
        service: T = self._by_type[kind]
        return service


def service_of(scope: Any, kind: type[T]) -> T:
    """For plain ASGI handlers, to which Litestar passes only the scope."""
    running: Running = scope["litestar_app"].state.running
    return running.get(kind)


def providers(services: type, running: Running) -> dict[str, Provide]:
    """A provider for each field of the record `services`, and for `principal`, `deadline` and `drain`.

    Each depends on the previous one, because Litestar resolves independent ones in a task group, which costs more. A
    handler resolves all that precede its own, so `services` lists those of the busiest routes first.
    """
    chain, before = {}, None
    for name, kind, get in _dependencies(services, running):
        chain[name] = Provide(_provider(kind, get, before), sync_to_thread=False)
        before = name
    return chain


def _dependencies(services: type, running: Running) -> Iterator[tuple[str, type, _Get]]:
    yield "deadline", Deadline, deadline_of_route
    yield "principal", Principal, lambda request: request.scope["state"].get("principal")
    for name, kind in {**get_type_hints(services), "drain": Drain}.items():
        yield name, kind, _service(running, kind)


def _service(running: Running, kind: type) -> _Get:
    return lambda _: running.get(kind)


def _provider(kind: type, get: _Get, before: str | None) -> Callable[..., Any]:
    def provide(request: Request[Any, Any, Any], **_: Any) -> Any:
        return get(request)

    # Litestar reads a provider's dependencies from its signature.
    hints: dict[str, Any] = {"request": Request[Any, Any, Any]}
    if before is not None:
        hints[before] = NamedDependency[Any]  # type: ignore[misc]
    parameters = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=hint)
        for name, hint in hints.items()
    ]
    provide.__signature__ = inspect.Signature(parameters, return_annotation=kind)  # type: ignore[attr-defined]
    provide.__annotations__ = {**hints, "return": kind}
    return provide
