"""Failures as RFC 9457 problem documents."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec
import structlog
from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException
from litestar.routes import ASGIRoute, BaseRoute
from litestar.types import ExceptionHandlersMap, Send

from shared.body import MAX_BODY
from shared.errors import (
    KINDS,
    PROBLEMS,
    AppError,
    FieldError,
    Invalid,
    MethodNotAllowed,
    NotFound,
    PassedOn,
    TooLarge,
)
from shared.validation.nearest import nearest
from shared.validation.values import MISSING
from shared.web.parameters import parameter_errors

PROBLEM = "application/problem+json"
# What the paths begin with that are worth suggesting.
_PUBLIC = "api"

log = structlog.get_logger()


def problem_response(error: AppError, headers: Mapping[str, str] | None = None) -> Response[bytes]:
    fields = dict(headers or {})
    if error.retry_after is not None:
        fields["retry-after"] = str(max(1, math.ceil(error.retry_after)))
    if error.status == 401:
        fields["www-authenticate"] = "Bearer"
    return Response(
        msgspec.json.encode(error.problem()), status_code=error.status, media_type=PROBLEM, headers=fields
    )


async def send_problem(error: AppError, send: Send, headers: Mapping[str, str] | None = None) -> None:
    """For plain ASGI handlers, whose exceptions Litestar does not handle. `headers` replace the problem's own."""
    response = problem_response(error)
    fields = {"content-type": PROBLEM, **response.headers, **(headers or {})}
    encoded = [(name.encode(), value.encode()) for name, value in fields.items()]
    await send({"type": "http.response.start", "status": error.status, "headers": encoded})
    await send({"type": "http.response.body", "body": response.content, "more_body": False})


def too_large() -> TooLarge:
    return TooLarge(f"a request body may hold {MAX_BODY} bytes")


def _on_app_error(_: Request[Any, Any, Any], error: AppError) -> Response[bytes]:
    return problem_response(error)


def _on_http_error(request: Request[Any, Any, Any], error: HTTPException) -> Response[bytes]:
    return problem_response(_from_litestar(request, error), error.headers)


def _on_bug(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    log.error("unhandled error", path=request.scope.get("path_template"), exc_info=error)
    return problem_response(AppError("an internal error; find it in the logs by its request id"))


EXCEPTION_HANDLERS: ExceptionHandlersMap = {
    AppError: _on_app_error,
    HTTPException: _on_http_error,
    Exception: _on_bug,
}


def _from_litestar(request: Request[Any, Any, Any], error: HTTPException) -> AppError:
    if isinstance(error, ValidationException):
        return _invalid(request, error)
    if error.status_code == NotFound.status:
        return _no_route(request)
    if error.status_code == MethodNotAllowed.status:
        allowed = (error.headers or {}).get("allow", "")
        return MethodNotAllowed(f"{request.method} is not allowed here; allowed: {allowed}")
    if error.status_code == TooLarge.status:
        return too_large()
    kind = next((kind for kind in KINDS.values() if kind.status == error.status_code), AppError)
    problem = {"type": PROBLEMS + kind.kind, "title": kind.title, "detail": error.detail}
    return PassedOn(error.status_code, problem)


def _no_route(request: Request[Any, Any, Any]) -> NotFound:
    error = NotFound("there is no such path; /docs describes those that there are")
    given = _segments(request.scope["path"])
    near = [path for route in request.app.routes if (path := _near(given, route)) is not None]
    if near:
        error.extra["did_you_mean"] = "/" + "/".join(min(near, key=partial(_differences, given)))
    return error


def _near(given: list[str], route: BaseRoute) -> list[str] | None:
    """The public route's path, where each of its segments is like the given one."""
    path = _segments(route.path_format)
    if isinstance(route, ASGIRoute):
        # It is mounted: what follows is its own.
        path += given[len(path) :]
    if path[:1] != [_PUBLIC] or len(path) != len(given):
        return None
    alike = all(_is_like(segment, known) for segment, known in zip(given, path, strict=True))
    return path if alike else None


def _is_like(segment: str, known: str) -> bool:
    return segment == known or known.startswith("{") or nearest(segment, [known]) is not None


def _differences(given: list[str], path: list[str]) -> int:
    return sum(segment != known for segment, known in zip(given, path, strict=True))


def _segments(path: str) -> list[str]:
    return [segment for segment in path.split("/") if segment]


def _invalid(request: Request[Any, Any, Any], error: ValidationException) -> Invalid:
    """Litestar finds one error in a parameter, or a body missing."""
    if errors := parameter_errors(request):
        return Invalid.of(errors)
    extra = error.extra if isinstance(error.extra, list) else []
    names = [str(item.get("key", "body")) for item in extra if isinstance(item, dict)]
    if names == ["data"]:
        return Invalid.field("body", MISSING)
    return Invalid.of(FieldError(field=name, message="is not valid") for name in names or ["body"])
