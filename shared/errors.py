"""Expected failures with their HTTP status, and the only place that turns database errors into them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NotRequired, TypedDict

import asyncpg

# Where the context service explains each kind of problem.
PROBLEMS = "/problems/"
# Errors that `detail` repeats; `errors` holds all of them.
_MOST_IN_DETAIL = 8
_PASSED_ON = ("stored", "dependency")


class FieldError(TypedDict):
    """What is wrong with one field; `field` is its dotted path, with the indexes of lists."""

    field: str
    message: str
    allowed: NotRequired[list[Any]]
    did_you_mean: NotRequired[str]


class AppError(Exception):
    """An expected failure. Rendered as RFC 9457 `application/problem+json`.

    `kind` names it in the problem's `type`; `meaning` and `remedy` are what its page says.
    """

    status: int = 500
    kind: str = "internal"
    title: str = "Internal error"
    meaning: str = "The service failed, and nothing is wrong with the request."
    remedy: str = (
        "Send the request again. When it fails again, report its `x-request-id`, which finds it in the logs."
    )

    def __init__(
        self,
        detail: str,
        *,
        errors: list[FieldError] | None = None,
        retry_after: float | None = None,
        **extra: Any,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.errors = errors
        self.retry_after = retry_after
        self.extra = extra

    def problem(self) -> dict[str, Any]:
        body: dict[str, Any] = {
            "type": f"{PROBLEMS}{self.kind}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            **self.extra,
        }
        if self.errors:
            body["errors"] = self.errors
        return body


class Invalid(AppError):
    status = 400
    kind = "invalid"
    title = "Validation failed"
    meaning = (
        "Something in the request is not valid. `errors` names every field, parameter or header that is wrong: "
        "what it must be, the `allowed` values where there are few, and `did_you_mean` where a known name is near."
    )
    remedy = "Correct what `errors` names and send the request again."

    @classmethod
    def field(cls, field: str, message: str) -> Invalid:
        return cls.of([FieldError(field=field, message=message)])

    @classmethod
    def of(cls, errors: Iterable[FieldError]) -> Invalid:
        listed = list(errors)
        texts = [_sentence(error) for error in listed[:_MOST_IN_DETAIL]]
        if left := len(listed) - len(texts):
            texts.append(f"and {left} more")
        return cls("; ".join(texts), errors=listed)


class Unauthorized(AppError):
    status = 401
    kind = "unauthorized"
    title = "Unauthorized"
    meaning = "The bearer token is missing, unknown, expired or revoked."
    remedy = "Send `Authorization: Bearer <key>` with a key that is in force."


class Forbidden(AppError):
    status = 403
    kind = "forbidden"
    title = "Forbidden"
    meaning = "The key may not do this, or not for this agent, mission or user."
    remedy = "Use a key that has the access or the grant that `detail` names."


class NotFound(AppError):
    status = 404
    kind = "not-found"
    title = "Not found"
    meaning = "There is no such thing in the tenant, or no such path."
    remedy = "Look up what exists. `/docs` lists the paths; `did_you_mean` names the nearest one."


class MethodNotAllowed(AppError):
    status = 405
    kind = "method-not-allowed"
    title = "Method not allowed"
    meaning = "The path exists, but not with this method."
    remedy = "Use a method that the `Allow` header names."


class TooLate(AppError):
    status = 408
    kind = "timeout"
    title = "Request timeout"
    meaning = "The body did not arrive in time; nothing was done."
    remedy = "Send the request again."


class Conflict(AppError):
    status = 409
    kind = "conflict"
    title = "Conflict"
    meaning = "The request conflicts with what is stored."
    remedy = "Read what is stored before sending another request."


class TooLarge(AppError):
    status = 413
    kind = "too-large"
    title = "Request body too large"
    meaning = "The body is larger than 2 MiB."
    remedy = "Send less at once."


class Unsupported(AppError):
    status = 415
    kind = "unsupported-media-type"
    title = "Unsupported media type"
    meaning = "The `Content-Type` says that the body is not JSON."
    remedy = "Send JSON with `Content-Type: application/json`."


class Unprocessable(AppError):
    status = 422
    kind = "unprocessable"
    title = "Cannot be processed"
    meaning = (
        "The request can never be done as asked: it is too large for its budget, or its Idempotency-Key came with "
        "another request."
    )
    remedy = "Shorten what is written, raise the budget, or use a new Idempotency-Key."


class TooMany(AppError):
    status = 429
    kind = "too-many-requests"
    title = "Too many requests"
    meaning = "The service is full, or the key has reached the limit that `limit` names."
    remedy = "Send the request again after `Retry-After` seconds."


class HeadTooLarge(AppError):
    status = 431
    kind = "head-too-large"
    title = "Request head too large"
    meaning = "The request line and the headers are larger than 64 KiB. The connection is closed."
    remedy = "Send smaller headers and a shorter address."


class Unavailable(AppError):
    """The `dependency` did not answer in time. A write may or may not have happened."""

    status = 503
    kind = "unavailable"
    title = "Service unavailable"
    meaning = "A dependency (`dependency`) did not answer in time; a write may or may not have happened."
    remedy = "Send the request again after `Retry-After` seconds, a write with its Idempotency-Key."

    def __init__(self, dependency: str, detail: str, retry_after: float = 1.0) -> None:
        super().__init__(detail, retry_after=retry_after, dependency=dependency)
        self.dependency = dependency


class NotReady(AppError):
    status = 503
    kind = "not-ready"
    title = "Not ready"
    meaning = "The process is starting or stopping. Only `/readyz` answers this."
    remedy = "Send requests to another replica, or wait."


KINDS: dict[str, type[AppError]] = {
    error.kind: error
    for error in (
        Invalid,
        Unauthorized,
        Forbidden,
        NotFound,
        MethodNotAllowed,
        TooLate,
        Conflict,
        TooLarge,
        Unsupported,
        Unprocessable,
        TooMany,
        HeadTooLarge,
        AppError,
        Unavailable,
        NotReady,
    )
}


class PassedOn(AppError):
    """What another service, or another route, refused: the problem as it stood there."""

    def __init__(self, status: int, problem: Mapping[str, Any], retry_after: float | None = None) -> None:
        extra = {name: value for name, value in problem.items() if name in _PASSED_ON}
        super().__init__(
            str(problem.get("detail", "")), errors=problem.get("errors"), retry_after=retry_after, **extra
        )
        self.status = status
        self.kind = str(problem.get("type", "")).removeprefix(PROBLEMS) or AppError.kind
        self.title = str(problem.get("title", ""))


def _sentence(error: FieldError) -> str:
    meant = error.get("did_you_mean")
    return f"{error['field']}: {error['message']}" + (f" (did you mean {meant}?)" if meant else "")


# SQLSTATE classes of data that the server refuses: bad text, out of range, too complex.
_BAD_DATA = ("22", "54")
_DEADLOCK_OR_SERIALIZATION = ("40001", "40P01")
_STATEMENT_CANCELLED = "57014"
# Connection failure, lack of resources, operator intervention, I/O. Internal errors are bugs and stay 500.
_SERVER_AWAY = ("08", "53", "57", "58")
_READ_ONLY = "25006"


def from_postgres(error: BaseException) -> AppError | None:
    """The expected failure behind a driver or server error, or None when it is a bug."""
    if isinstance(error, (asyncpg.InterfaceError, asyncpg.InternalClientError, OSError, TimeoutError)):
        if isinstance(error, asyncpg.InterfaceError) and isinstance(error, ValueError):
            return Invalid(f"value refused by the database: {error}")
        return Unavailable("postgres", "the database cannot be reached")
    if not isinstance(error, asyncpg.PostgresError):
        return None
    sqlstate = error.sqlstate or ""
    if sqlstate == _STATEMENT_CANCELLED:
        return Unavailable("postgres", "the database did not answer in time")
    if sqlstate in _DEADLOCK_OR_SERIALIZATION:
        return Unavailable("postgres", "the transaction conflicted with another; retry it", retry_after=0.1)
    if sqlstate.startswith(_SERVER_AWAY) or sqlstate == _READ_ONLY:
        return Unavailable("postgres", "the database does not accept this now")
    if sqlstate.startswith(_BAD_DATA):
        return Invalid(f"value refused by the database: {error.args[0] if error.args else sqlstate}")
    return None
