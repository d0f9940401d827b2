"""Failures as RFC 9457 problem documents."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import msgspec
import structlog
from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException
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
# Paths that are worth suggesting.
_PUBLIC = "/api/"

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
    return problem_response(AppError("an internal error; the request id names it in the logs"))


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
    paths = [route.path_format for route in request.app.routes if route.path_format.startswith(_PUBLIC)]
    meant = nearest(request.scope["path"], paths)
    error = NotFound("there is no such path; /docs describes those that there are")
    if meant is not None:
        error.extra["did_you_mean"] = meant
    return error


def _invalid(request: Request[Any, Any, Any], error: ValidationException) -> Invalid:
    """Litestar finds one error in a parameter, or a body missing."""
    if errors := parameter_errors(request):
        return Invalid.of(errors)
    extra = error.extra if isinstance(error.extra, list) else []
    names = [str(item.get("key", "body")) for item in extra if isinstance(item, dict)]
    if names == ["data"]:
        return Invalid.field("body", MISSING)
    return Invalid.of(FieldError(field=name, message="is not valid") for name in names or ["body"])
