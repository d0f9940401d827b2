"""What can go wrong: the service's problems as exceptions, and calls that got no answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar


class ScrubjayError(Exception):
    """Base of everything that this package raises for a call."""


class NotReachedError(ScrubjayError):
    """No answer came. A write that takes no Idempotency-Key may or may not have happened."""


class UnknownHostError(NotReachedError):
    """The host of the service's address has no entry in the name system."""

    def __init__(self, error: Exception) -> None:
        super().__init__(f"the host of url or SCRUBJAY_URL is unknown: {error}")


@dataclass(frozen=True, slots=True)
class FieldError:
    """What is wrong with one field, parameter or header of the request."""

    field: str
    message: str
    allowed: tuple[Any, ...] = ()
    """The values that it may have, where there are few."""
    did_you_mean: str | None = None
    """The known name nearest to what was given."""


@dataclass(frozen=True, slots=True)
class Problem:
    """RFC 9457. `extra` holds what a problem says beyond the standard, such as `dependency`."""

    title: str
    status: int
    detail: str
    errors: tuple[FieldError, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    type: str = "about:blank"
    """The kind of problem: the path of a page of the service that explains it."""

    @classmethod
    def read(cls, status: int, document: object) -> Problem:
        """From an answer's body; what is no problem document (a proxy's page) makes one with its status only."""
        if not isinstance(document, dict):
            return cls("No problem document", status, "")
        known = {"type", "title", "status", "detail", "errors"}
        given = document.get("errors")
        return cls(
            title=str(document.get("title", "")),
            status=status,
            detail=str(document.get("detail", "")),
            errors=tuple(_field_errors(given if isinstance(given, list) else [])),
            extra={key: value for key, value in document.items() if key not in known},
            type=str(document.get("type", "about:blank")),
        )


def _field_errors(given: list[Any]) -> list[FieldError]:
    return [_field_error(one) for one in given if isinstance(one, dict)]


def _field_error(given: Mapping[str, Any]) -> FieldError:
    allowed = given.get("allowed")
    return FieldError(
        field=str(given.get("field", "")),
        message=str(given.get("message", "")),
        allowed=tuple(allowed) if isinstance(allowed, list) else (),
        did_you_mean=given.get("did_you_mean"),
    )


class ApiError(ScrubjayError):
    """The service refused. `request_id` finds the request in its logs."""

    status: ClassVar[int | None] = None

    def __init__(
        self, problem: Problem, request_id: str | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(f"{problem.status} {problem.title}: {problem.detail}")
        self.problem = problem
        self.request_id = request_id
        self.retry_after = retry_after

    @property
    def errors(self) -> tuple[FieldError, ...]:
        """What is wrong with the request, field by field."""
        return self.problem.errors


class InvalidError(ApiError):
    """`errors` names everything that is wrong with the request."""

    status = 400


class UnauthorizedError(ApiError):
    status = 401


class ForbiddenError(ApiError):
    status = 403


class NotFoundError(ApiError):
    status = 404


class ConflictError(ApiError):
    status = 409


class TooLargeError(ApiError):
    status = 413


class UnprocessableError(ApiError):
    status = 422


class TooManyError(ApiError):
    """Still too much at once, after all retries."""

    status = 429


class UnavailableError(ApiError):
    """Still away, after all retries. `problem.extra["dependency"]` names what."""

    status = 503


_BY_STATUS = {one.status: one for one in ApiError.__subclasses__()}


def error_of(problem: Problem, request_id: str | None, retry_after: float | None) -> ApiError:
    return _BY_STATUS.get(problem.status, ApiError)(problem, request_id, retry_after)
