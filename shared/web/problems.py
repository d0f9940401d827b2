"""Expected failures as RFC 9457 answers."""

from __future__ import annotations

import math
from collections.abc import Mapping

import msgspec
from litestar import Response
from litestar.types import Send

from shared.errors import AppError

PROBLEM = "application/problem+json"


def problem_response(error: AppError) -> Response[bytes]:
    headers = {}
    if error.retry_after is not None:
        headers["retry-after"] = str(max(1, math.ceil(error.retry_after)))
    if error.status == 401:
        headers["www-authenticate"] = "Bearer"
    return Response(
        msgspec.json.encode(error.problem()), status_code=error.status, media_type=PROBLEM, headers=headers
    )


async def send_problem(error: AppError, send: Send, more: Mapping[str, str] | None = None) -> None:
    """For plain ASGI handlers, outside of Litestar's own exception handling. `more`: headers in place of its own."""
    response = problem_response(error)
    fields = {"content-type": PROBLEM, **response.headers, **(more or {})}
    headers = [(name.encode(), value.encode()) for name, value in fields.items()]
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": response.content, "more_body": False})
