"""The problems that every operation may answer, with an example of each."""

from __future__ import annotations

from typing import Any

from shared.errors import (
    AppError,
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    TooLarge,
    TooLate,
    TooMany,
    Unauthorized,
    Unavailable,
    Unprocessable,
)
from shared.web.problems import PROBLEM

_TOLD = {
    400: "The request is not valid: `errors` names the fields.",
    401: "The token is missing, unknown, expired or revoked.",
    403: "The key may not do this, or not for this agent, mission or user.",
    404: "The tenant has no such object.",
    408: "The body did not arrive in time; nothing was done.",
    409: "The request conflicts with the current state.",
    413: "The body is larger than 2 MiB.",
    422: "The request can never succeed: it is too large for its budget, or its Idempotency-Key was used for another.",
    429: "The service is full, or the key's limit (`limit`) is reached; retry after `Retry-After` seconds.",
    503: "A dependency (`dependency`) did not answer in time; a write may or may not have happened. Retry after "
    "`Retry-After` seconds, a write with its Idempotency-Key.",
}
_EXAMPLES: list[AppError] = [
    Invalid.field("query", "Expected `str` of length >= 1"),
    Unauthorized("the token is not valid"),
    Forbidden("this key acts as agent 'scout' only"),
    NotFound("no entry 4711"),
    TooLate("the body did not arrive in time"),
    Conflict("dispatch 12 is completed"),
    TooLarge("a request body may hold 2097152 bytes"),
    Unprocessable("this Idempotency-Key was used with another request"),
    TooMany("the service is full", retry_after=1.0),
    Unavailable("postgres", "the database did not answer in time"),
]
HEADERS = {
    "RequestId": {
        "description": "Identifies the request in the logs.",
        "required": True,
        "schema": {"type": "string"},
    },
    "RetryAfter": {
        "description": "Seconds.",
        "required": True,
        "schema": {"type": "string", "pattern": "^[0-9]+$"},
    },
    "RateLimit": {
        "description": "What is left of the nearest limit of the key, in every answer to a key with limits. Beside it "
        "stand `RateLimit-Limit`, `RateLimit-Reset` (seconds) and `RateLimit-Policy` (all limits).",
        "required": False,
        "schema": {"type": "string", "pattern": "^[0-9]+$"},
    },
}
SCHEMA = {
    "title": "Problem",
    "description": "RFC 9457. Some problems have more fields, such as the id of the conflicting object.",
    "type": "object",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "errors": {
            "description": "Which fields are wrong and why. A field is a dotted path from the body's root.",
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"field": {"type": "string"}, "message": {"type": "string"}},
                "required": ["field", "message"],
            },
        },
        "dependency": {"description": "The dependency that did not answer.", "type": "string"},
        "limit": {"description": "The key's limit that was reached.", "type": "string"},
    },
    "required": ["type", "title", "status", "detail"],
}


def responses() -> dict[str, Any]:
    return {f"Problem{error.status}": _response(error) for error in _EXAMPLES}


def _response(error: AppError) -> dict[str, Any]:
    headers: dict[str, Any] = {"x-request-id": {"$ref": "#/components/headers/RequestId"}}
    if error.status in (429, 503):
        headers["retry-after"] = {"$ref": "#/components/headers/RetryAfter"}
    if error.status == 429:
        headers["ratelimit-remaining"] = {"$ref": "#/components/headers/RateLimit"}
    if error.status == 401:
        headers["www-authenticate"] = {"schema": {"const": "Bearer"}}
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        "description": _TOLD[error.status],
        "headers": headers,
        "content": {PROBLEM: {"schema": schema, "example": error.problem()}},
    }
