"""Reads the operations of a service's app from its handlers' signatures, docstrings and `opt`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec
from litestar import Litestar
from litestar.handlers import HTTPRouteHandler
from litestar.params import BodyKwarg, ParameterKwarg
from litestar.routes import HTTPRoute

from shared.deadline import READ_SECONDS, WRITE_SECONDS

MEDIA = {"json": "application/json", "lines": "application/x-ndjson", "events": "text/event-stream"}
_BOUNDS = ("gt", "ge", "lt", "le", "min_length", "max_length", "pattern")
# Up to a full stop, colon or semicolon outside backticks.
_FIRST_CLAUSE = re.compile(r"(?:`[^`]*`|[^`.:;]|[.:;](?=\S))*")
_RESERVED = {"request", "data", "state", "body", "headers", "cookies", "query", "scope", "socket"}


@dataclass
class Parameter:
    name: str
    where: str
    type: Any
    required: bool
    default: Any = None
    description: str | None = None


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
        found = set(self.extra_problems)
        if self.access != "public":
            found |= {401, 429, 503}
        if self.access in ("write", "admin"):
            found.add(403)
        if self.parameters or self.reads:
            found.add(400)
        if self.reads:
            found |= {408, 413}
        if self.keyed:
            found |= {400, 422}
        return sorted(found)


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
        seconds=opt.get("seconds") or (READ_SECONDS if opt.get("access") == "read" else WRITE_SECONDS),
        keyed=opt.get("keyed", False),
        parameters=list(_parameters(handler, hints, route)),
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


def _parameters(handler: HTTPRouteHandler, hints: dict[str, Any], route: HTTPRoute) -> Iterator[Parameter]:
    provided = handler.resolve_dependencies()
    in_path = set(route.path_parameters)
    for name, signature in inspect.signature(handler.fn).parameters.items():
        if name in _RESERVED or name in provided:
            continue
        told = _kwarg(hints[name])
        where, shown = "query", name
        if name in in_path:
            where = "path"
        elif told is not None and told.header:
            where, shown = "header", told.header
        default = None if signature.default is inspect.Parameter.empty else signature.default
        yield Parameter(
            name=shown,
            where=where,
            type=_as_msgspec(hints[name]),
            required=where == "path" or (signature.default is inspect.Parameter.empty),
            default=default,
            description=told.description if told is not None else None,
        )


def _kwarg(annotation: Any) -> ParameterKwarg | None:
    if get_origin(annotation) in (Union, UnionType):
        return next((found for one in get_args(annotation) if (found := _kwarg(one))), None)
    return next((m for m in getattr(annotation, "__metadata__", ()) if isinstance(m, ParameterKwarg)), None)


def _as_msgspec(annotation: Any) -> Any:
    """The same type with Litestar's bounds as msgspec's. Without None: a parameter left out is not null."""
    if get_origin(annotation) in (Union, UnionType):
        members = [_as_msgspec(one) for one in get_args(annotation) if one is not NoneType]
        return Union[tuple(members)]  # noqa: UP007
    if get_origin(annotation) is Annotated:
        base = _as_msgspec(annotation.__origin__)
        told = _kwarg(annotation)
        bounds = {name: value for name in _BOUNDS if (value := getattr(told, name, None)) is not None}
        return Annotated[base, msgspec.Meta(**bounds)] if bounds else base
    return annotation
