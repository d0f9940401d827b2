"""Reads the operations of a service's app from its handlers' signatures, docstrings and `opt`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import NoneType
from typing import Annotated, Any, get_args, get_type_hints

from litestar import Litestar
from litestar.handlers import HTTPRouteHandler
from litestar.params import BodyKwarg
from litestar.routes import HTTPRoute

from shared.deadline import READ_SECONDS, WRITE_SECONDS
from shared.web.parameters import Parameter, parameters_of

MEDIA = {"json": "application/json", "lines": "application/x-ndjson", "events": "text/event-stream"}
# Up to a full stop, colon or semicolon outside backticks.
_FIRST_CLAUSE = re.compile(r"(?:`[^`]*`|[^`.:;]|[.:;](?=\S))*")


@dataclass
class Operation:
    id: str
    method: str
    path: str
    tag: str
    access: str
    summary: str
    description: str
    status: int
    seconds: float
    """The deadline, unless the caller asks for less."""
    keyed: bool = False
    parameters: list[Parameter] = field(default_factory=list)
    reads: dict[str, Any] = field(default_factory=dict)
    """The body's type by media type."""
    answers: dict[str, Any] = field(default_factory=dict)
    extra_problems: tuple[int, ...] = ()

    def problems(self) -> list[int]:
        """The statuses of the problems that it may answer."""
        statuses = set(self.extra_problems)
        if self.access != "public":
            # Every route refuses a query parameter that it does not know.
            statuses |= {400, 401, 429, 503}
        if self.access in ("write", "admin"):
            statuses.add(403)
        if self.parameters or self.reads:
            statuses.add(400)
        if self.reads:
            statuses |= {408, 413, 415} if "application/json" in self.reads else {408, 413}
        if any(parameter.where == "path" for parameter in self.parameters):
            # A name with a slash makes another path.
            statuses.add(404)
        if self.keyed:
            statuses |= {400, 422}
        return sorted(statuses)


def operations_of(app: Litestar) -> Iterator[Operation]:
    for route, handler in _public(app):
        for method in handler.http_methods - {"HEAD", "OPTIONS"}:
            yield _operation(handler, method, route)


def handlers_of(app: Litestar) -> list[HTTPRouteHandler]:
    return [handler for _, handler in _public(app)]


def _public(app: Litestar) -> Iterator[tuple[HTTPRoute, HTTPRouteHandler]]:
    """The routes under /api that are included in the schema."""
    for route in app.routes:
        if isinstance(route, HTTPRoute) and route.path_format.startswith("/api/"):
            for handler in route.route_handlers:
                if handler.resolve_include_in_schema():
                    yield route, handler


def _operation(handler: HTTPRouteHandler, method: str, route: HTTPRoute) -> Operation:
    hints = get_type_hints(handler.fn, include_extras=True)
    opt = handler.opt
    summary, description = _told(handler)
    return Operation(
        id=_id_of(handler, route.path_format),
        method=method.lower(),
        path=route.path_format,
        tag=min(handler.resolve_tags()),
        access=opt.get("access", "admin"),
        summary=summary,
        description=description,
        status=handler.status_code,
        seconds=opt.get("longest")
        or opt.get("seconds")
        or (READ_SECONDS if opt.get("access") == "read" else WRITE_SECONDS),
        keyed=opt.get("keyed", False),
        parameters=list(parameters_of(handler, route.path_parameters)),
        reads=_by_media(opt.get("reads") or ({"json": _body(hints["data"])} if "data" in hints else {})),
        answers=_by_media(opt.get("answers") or _answer(hints["return"])),
        extra_problems=tuple(opt.get("problems", ())),
    )


def _id_of(handler: HTTPRouteHandler, path: str) -> str:
    if isinstance(handler.operation_id, str):
        return handler.operation_id
    area = path.split("/")[2].replace("psychic-", "").replace("-", "_")
    name: str = handler.fn.__name__
    return area if name == area else f"{area}_{name}"


def _told(handler: HTTPRouteHandler) -> tuple[str, str]:
    text = inspect.getdoc(handler.fn) or ""
    begin = _FIRST_CLAUSE.match(text.replace("\n", " "))
    return begin[0] if begin else "", text


def _answer(annotation: Any) -> dict[str, Any]:
    return {} if annotation in (None, NoneType) else {"json": annotation}


def _body(annotation: Any) -> Any:
    """The body's type without Litestar's marker."""
    kind, *metadata = get_args(annotation)
    kept = [one for one in metadata if not isinstance(one, BodyKwarg)]
    return Annotated[kind, *kept] if kept else kind


def _by_media(by_name: dict[str, Any]) -> dict[str, Any]:
    return {MEDIA[name]: kind for name, kind in by_name.items()}
