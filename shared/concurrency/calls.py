"""Calls of an API that others run: how they fail, and a breaker around them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import ClassVar, Literal

from shared.concurrency import clock
from shared.concurrency.breaker import Breaker, BreakerOpen
from shared.errors import Unavailable

Reason = Literal["dead", "slow", "rate_limited", "failing", "refused", "malformed", "breaker_open", "ceiling"]
_PASSING = frozenset({"dead", "slow", "rate_limited", "failing"})
_TOO_EARLY_OR_SLOW = (408, 425)


class CallFailed(Unavailable):
    """What was called cannot answer now. `reason` is a metric label; `cause` quotes the provider, for logs only.

    `retry_after` is in seconds, or None when waiting alone does not help.
    """

    called: ClassVar[str]

    def __init__(
        self,
        reason: Reason,
        cause: str = "",
        *,
        retry_after: float | None = None,
        http_status: int | None = None,
    ) -> None:
        super().__init__(self.called, f"the {self.called} is unavailable: {reason}")
        self.reason = reason
        self.cause = cause
        self.retry_after = retry_after
        self.http_status = http_status

    @property
    def passing(self) -> bool:
        """Whether the same call may succeed shortly."""
        return self.reason in _PASSING

    def __str__(self) -> str:
        return f"{self.reason}: {self.cause}" if self.cause else self.reason


@contextmanager
def guarded(breaker: Breaker, failure: type[CallFailed]) -> Iterator[None]:
    """Wraps one call. Raises the failure "breaker_open" when the breaker lets no call through."""
    try:
        breaker.check()
    except BreakerOpen as error:
        raise failure("breaker_open", retry_after=error.seconds) from error
    try:
        yield
    except CallFailed as error:
        # A refusal concerns only this call: the server is healthy.
        if error.reason == "refused":
            breaker.succeeded()
        else:
            breaker.failed()
        raise
    breaker.succeeded()


def reason_of(status: int) -> Reason:
    """Why a call failed, by its HTTP status from 400 on."""
    if status == 429:
        return "rate_limited"
    return "failing" if status >= 500 or status in _TOO_EARLY_OR_SLOW else "refused"


def retry_after_seconds(header: str | None, now: datetime | None = None) -> float | None:
    """Parses Retry-After (RFC 9110): a number of seconds or a date."""
    if not header:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(header) - (now or clock.now())).total_seconds())
    except (TypeError, ValueError):
        return None
