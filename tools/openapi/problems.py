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
    Unsupported,
)
from shared.validation.values import UNKNOWN_FIELD, field_error
from shared.web.problems import PROBLEM

_EXAMPLES: list[AppError] = [
    Invalid.of(
        [
            field_error("query", "must be a string of 1 to 8000 characters, not an empty one"),
            field_error(
                "missoin_namespace", UNKNOWN_FIELD, given="missoin_namespace", known=["mission_namespace"]
            ),
        ]
    ),
    Unauthorized("the token is not valid"),
    Forbidden("this key acts as agent 'scout' only"),
    NotFound("no entry 4711"),
    TooLate("the body did not arrive in time"),
    Conflict("dispatch 12 is completed"),
    TooLarge("a request body may hold 2097152 bytes"),
    Unsupported("the body must be JSON, sent with Content-Type: application/json"),
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
        "type": {
            "description": "The kind of problem: the path of a page that explains it.",
            "type": "string",
        },
        "title": {"description": "The kind, in a few words.", "type": "string"},
        "status": {"description": "The HTTP status of the answer.", "type": "integer"},
        "detail": {"description": "What is wrong, in a sentence.", "type": "string"},
        "errors": {
            "description": "Everything that is wrong with the request, at most 50 errors.",
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "field": {
                        "description": "A field of the body, as a dotted path from its root with the indexes of "
                        "lists; else a parameter or a header.",
                        "type": "string",
                    },
                    "message": {"description": "What the field must be.", "type": "string"},
                    "allowed": {"description": "The values that it may have.", "type": "array", "items": {}},
                    "did_you_mean": {
                        "description": "The known name nearest to what was given.",
                        "type": "string",
                    },
                },
                "required": ["field", "message"],
            },
        },
        "did_you_mean": {
            "description": "Of a 404: the path nearest to the one that is unknown.",
            "type": "string",
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
        "description": error.meaning,
        "headers": headers,
        "content": {PROBLEM: {"schema": schema, "example": error.problem()}},
    }
