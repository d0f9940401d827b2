"""Expected failures, each with its HTTP status, and the one place where database errors become them."""

from __future__ import annotations

from typing import Any, ClassVar

import asyncpg


class AppError(Exception):
    """An expected failure. Rendered as RFC 9457 `application/problem+json`."""

    status: ClassVar[int] = 500
    title: ClassVar[str] = "Internal error"

    def __init__(
        self,
        detail: str,
        *,
        errors: list[dict[str, str]] | None = None,
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
            "type": "about:blank",
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
    title = "Validation failed"

    @classmethod
    def field(cls, field: str, message: str) -> Invalid:
        return cls(f"{field}: {message}", errors=[{"field": field, "message": message}])


class Unauthorized(AppError):
    status = 401
    title = "Unauthorized"


class Forbidden(AppError):
    status = 403
    title = "Forbidden"


class NotFound(AppError):
    status = 404
    title = "Not found"


class TooLate(AppError):
    status = 408
    title = "Request timeout"


class Conflict(AppError):
    status = 409
    title = "Conflict"


class TooLarge(AppError):
    status = 413
    title = "Request body too large"


class Unprocessable(AppError):
    status = 422
    title = "Cannot be processed"


class TooMany(AppError):
    status = 429
    title = "Too many requests"


class Unavailable(AppError):
    """A dependency did not answer in time. `dependency` names it; a write may or may not have happened."""

    status = 503
    title = "Service unavailable"

    def __init__(self, dependency: str, detail: str, retry_after: float = 1.0) -> None:
        super().__init__(detail, retry_after=retry_after, dependency=dependency)
        self.dependency = dependency


# Data the server refuses for its content: bad text, out of range, too complex (SQLSTATE classes 22 and 54).
_BAD_DATA = ("22", "54")
_DEADLOCK_OR_SERIALIZATION = ("40001", "40P01")
_STATEMENT_CANCELLED = "57014"
# Connection failure, shutdown, resources, I/O, operator intervention; internal errors are bugs and stay 500.
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
        return Unavailable("postgres", "the transaction met a conflict; retry it", retry_after=0.1)
    if sqlstate.startswith(_SERVER_AWAY) or sqlstate == _READ_ONLY:
        return Unavailable("postgres", "the database is not accepting this now")
    if sqlstate.startswith(_BAD_DATA):
        return Invalid(f"value refused by the database: {error.args[0] if error.args else sqlstate}")
    return None
