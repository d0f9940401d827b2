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
from shared.errors import AppError, Invalid, TooLarge

PROBLEM = "application/problem+json"

log = structlog.get_logger()


def problem_response(error: AppError) -> Response[bytes]:
    headers = {}
    if error.retry_after is not None:
        headers["retry-after"] = str(max(1, math.ceil(error.retry_after)))
    if error.status == 401:
        headers["www-authenticate"] = "Bearer"
    return Response(
        msgspec.json.encode(error.problem()), status_code=error.status, media_type=PROBLEM, headers=headers
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


def _on_http_error(_: Request[Any, Any, Any], error: HTTPException) -> Response[bytes]:
    if isinstance(error, ValidationException):
        return problem_response(_from_validation(error))
    if error.status_code == TooLarge.status:
        return problem_response(too_large())
    body = {
        "type": "about:blank",
        "title": error.__class__.__name__.removesuffix("Exception"),
        "status": error.status_code,
        "detail": error.detail,
    }
    return Response(
        msgspec.json.encode(body), status_code=error.status_code, media_type=PROBLEM, headers=error.headers
    )


def _on_bug(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    log.error("unhandled error", path=request.scope.get("path_template"), exc_info=error)
    return problem_response(AppError("an internal error; the request id names it in the logs"))


EXCEPTION_HANDLERS: ExceptionHandlersMap = {
    AppError: _on_app_error,
    HTTPException: _on_http_error,
    Exception: _on_bug,
}


def _from_validation(error: ValidationException) -> Invalid:
    extra = error.extra if isinstance(error.extra, list) else []
    errors = [
        _field_error(str(item.get("key") or "body"), str(item.get("message", "invalid")))
        for item in extra
        if isinstance(item, dict)
    ]
    return Invalid(
        "; ".join(f"{e['field']}: {e['message']}" for e in errors) or error.detail, errors=errors or None
    )


def _field_error(field: str, message: str) -> dict[str, str]:
    if field == "data":
        return {"field": "body", "message": "is required"}
    return {"field": field, "message": message}
