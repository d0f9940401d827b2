"""Which failed calls of Scrubjay to give up, and which to repeat."""

from __future__ import annotations

from scrubjay.errors import (
    ConflictError,
    InvalidError,
    ScrubjayError,
    TooLargeError,
    UnprocessableError,
)


def is_refused(error: ScrubjayError) -> bool:
    """Scrubjay will never take this request.

    A 422 that names fields refuses a secret. Without them it says that another agent of this name took the step, which
    the trail then shows.
    """
    if isinstance(error, UnprocessableError):
        return bool(error.errors)
    return isinstance(error, InvalidError | TooLargeError | ConflictError)
