"""The parameters of a route in path, query and headers: what its handler declares, and what is wrong with a request's.

Litestar stops at a parameter that is missing and ignores one that no handler knows. It decides what is valid; this
says what is not.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints
from weakref import WeakKeyDictionary

import msgspec
import msgspec.inspect as mi
from litestar import Request
from litestar.handlers import HTTPRouteHandler
from litestar.params import ParameterKwarg

from shared.errors import FieldError, Invalid
from shared.validation.values import MISSING, MOST_ERRORS, choices, field_error, fits
from shared.validation.wording import bare, expected
from shared.vocabulary import shorts

UNKNOWN_PARAMETER = "unknown query parameter"
_BOUNDS = ("gt", "ge", "lt", "le", "min_length", "max_length", "pattern")
_RESERVED = {"request", "data", "state", "body", "headers", "cookies", "query", "scope", "socket"}
_LONGEST_NAME = 100
_WHOLE = re.compile(r"^-?\d{1,30}$", re.ASCII)


@dataclass
class Parameter:
    name: str
    where: str
    """`path`, `query` or `header`."""
    type: Any
    required: bool
    default: Any = None
    description: str | None = None


def parameters_of(handler: HTTPRouteHandler, in_path: Collection[str]) -> Iterator[Parameter]:
    """`in_path` names those that stand in the route's path."""
    hints = get_type_hints(handler.fn, include_extras=True)
    provided = handler.resolve_dependencies()
    for name, signature in inspect.signature(handler.fn).parameters.items():
        if name in _RESERVED or name in provided:
            continue
        declared = _declared(hints[name])
        where = "path" if name in in_path else declared.param_type.value if declared is not None else "query"
        given = signature.default is not inspect.Parameter.empty
        yield Parameter(
            name=(declared and declared.name) or name,
            where=where,
            type=_as_msgspec(hints[name]),
            required=where == "path" or not given,
            default=signature.default if given else None,
            description=declared.description if declared is not None else None,
        )


def refuse_unknown(request: Request[Any, Any, Any]) -> None:
    """Raises Invalid, with all that is wrong with the parameters, where the query names one that the route has not."""
    known = {parameter.name for parameter in _of(request) if parameter.where == "query"}
    if any(name not in known for name in request.query_params):
        raise Invalid.of(parameter_errors(request))


def parameter_errors(request: Request[Any, Any, Any]) -> list[FieldError]:
    declared = _of(request)
    found = [error for one in declared for error in _errors(one, _values(request, one))]
    known = [one.name for one in declared if one.where == "query"]
    unknown = [name for name in dict.fromkeys(request.query_params) if name not in known]
    left = [name for name in (*known, *shorts(known)) if name not in request.query_params]
    return found + [
        field_error(name[:_LONGEST_NAME], UNKNOWN_PARAMETER, given=name, known=left)
        for name in unknown[:MOST_ERRORS]
    ]


_kept: WeakKeyDictionary[HTTPRouteHandler, list[Parameter]] = WeakKeyDictionary()


def _of(request: Request[Any, Any, Any]) -> list[Parameter]:
    handler = request.route_handler
    if handler not in _kept:
        _kept[handler] = list(parameters_of(handler, request.path_params.keys()))
    return _kept[handler]


def _values(request: Request[Any, Any, Any], parameter: Parameter) -> list[Any]:
    if parameter.where == "query":
        values: list[Any] = request.query_params.getall(parameter.name, [])
        return values
    given: Mapping[str, Any] = request.path_params if parameter.where == "path" else request.headers
    return [given[parameter.name]] if parameter.name in given else []


def _errors(parameter: Parameter, given: list[Any]) -> Iterator[FieldError]:
    if not given and parameter.required:
        yield field_error(parameter.name, MISSING)
    kind = bare(_type_info(parameter.type))
    if isinstance(kind, mi.ListType):
        kind = bare(kind.item_type)
    for value in given[:MOST_ERRORS]:
        if not fits(kind, _read(kind, value)):
            yield field_error(parameter.name, f"must be {expected(kind)}", choices(kind), value)


_type_info = lru_cache(maxsize=256)(mi.type_info)


def _read(kind: mi.Type, given: Any) -> Any:
    """The text of a parameter as a JSON value, where it is one of that type."""
    if isinstance(kind, mi.IntType) and isinstance(given, str) and _WHOLE.match(given):
        return int(given)
    if isinstance(kind, mi.FloatType | mi.BoolType) and isinstance(given, str):
        try:
            return msgspec.convert(given, float if isinstance(kind, mi.FloatType) else bool, strict=False)
        except msgspec.ValidationError:
            return given
    return given


def _declared(annotation: Any) -> ParameterKwarg | None:
    if get_origin(annotation) in (Union, UnionType):
        return next((found for one in get_args(annotation) if (found := _declared(one))), None)
    return next((m for m in getattr(annotation, "__metadata__", ()) if isinstance(m, ParameterKwarg)), None)


def _as_msgspec(annotation: Any) -> Any:
    """The same type with Litestar's bounds as msgspec's; what is not given has no null to be told."""
    if get_origin(annotation) in (Union, UnionType):
        members = [_as_msgspec(one) for one in get_args(annotation) if one is not NoneType]
        return Union[tuple(members)]  # noqa: UP007
    if get_origin(annotation) is Annotated:
        base = _as_msgspec(annotation.__origin__)
        declared = _declared(annotation)
        bounds = {name: value for name in _BOUNDS if (value := getattr(declared, name, None)) is not None}
        return Annotated[base, msgspec.Meta(**bounds)] if bounds else base
    return annotation
