"""Dependencies that a handler requests by type: a service of its app, the caller's principal, the deadline.

A handler declares `memories: NamedDependency[Memories]`, where `memories` is a field of the app's services.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, TypeAlias, TypeVar, get_type_hints

from litestar import Request, Router
from litestar.di import NamedDependency, Provide
from litestar.handlers import HTTPRouteHandler
from litestar.routes import HTTPRoute
from litestar.types import ControllerRouterHandler

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


def provide(routes: Iterable[ControllerRouterHandler], services: type) -> None:
    """Gives each handler providers of what it requests: fields of the record `services`, or one of the three above.

    Each depends on the previous one, because Litestar resolves independent ones in a task group, which costs more. For
    the same reason none stands at the app: a handler would resolve all that precede its own.
    """
    known = dict(_dependencies(services))
    for handler in _handlers(routes):
        requested = [name for name in inspect.signature(handler.fn).parameters if name in known]
        handler.dependencies = {
            name: Provide(_provider(*known[name], before), sync_to_thread=False)
            for name, before in zip(requested, [None, *requested], strict=False)
        }


def _handlers(routes: Iterable[ControllerRouterHandler]) -> Iterator[HTTPRouteHandler]:
    for each in routes:
        if isinstance(each, HTTPRouteHandler):
            yield each
        elif isinstance(each, Router):
            yield from chain.from_iterable(
                route.route_handlers for route in each.routes if isinstance(route, HTTPRoute)
            )


def _dependencies(services: type) -> Iterator[tuple[str, tuple[type, _Get]]]:
    yield "deadline", (Deadline, deadline_of_route)
    yield "principal", (Principal, lambda request: request.scope["state"].get("principal"))
    for name, kind in {**get_type_hints(services), "drain": Drain}.items():
        yield name, (kind, _service(kind))


def _service(kind: type) -> _Get:
    return lambda request: service_of(request.scope, kind)


def _provider(kind: type, get: _Get, before: str | None) -> Callable[..., Any]:
    def provided(request: Request[Any, Any, Any], **_: Any) -> Any:
        return get(request)

    # Litestar reads a provider's dependencies from its signature.
    hints: dict[str, Any] = {"request": Request[Any, Any, Any]}
    if before is not None:
        hints[before] = NamedDependency[Any]  # type: ignore[misc]
    parameters = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=hint)
        for name, hint in hints.items()
    ]
    provided.__signature__ = inspect.Signature(parameters, return_annotation=kind)  # type: ignore[attr-defined]
    provided.__annotations__ = {**hints, "return": kind}
    return provided
