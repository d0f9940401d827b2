"""Which failed calls of Scrubjay to give up, and which to repeat."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import ParamSpec, TypeVar

from scrubjay.errors import (
    ApiError,
    ConflictError,
    InvalidError,
    NotReachedError,
    ScrubjayError,
    TooLargeError,
    UnprocessableError,
)

_PAUSE = 1.0
_log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")


async def persistently(step: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
    """Repeats the step while Scrubjay is away."""
    while True:
        try:
            return await step(*args, **kwargs)
        except ScrubjayError as error:
            if not is_away(error):
                raise
            _log.warning("Scrubjay is away: %s", error)
            await asyncio.sleep(_PAUSE)


def is_away(error: ScrubjayError) -> bool:
    """It may take the same request later. A key that it does not know is for a person to see to."""
    if isinstance(error, ApiError):
        return error.problem.status in (408, 429) or error.problem.status >= 500
    return isinstance(error, NotReachedError)


def is_refused(error: ScrubjayError) -> bool:
    """Scrubjay will never take this request.

    A 422 that names fields refuses a secret. Without them it says that another agent of this name took the step, which
    the trail then shows.
    """
    if isinstance(error, UnprocessableError):
        return bool(error.errors)
    return isinstance(error, InvalidError | TooLargeError | ConflictError)
