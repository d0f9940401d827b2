"""What follows from an attempt: delivered, another try later, or none any more. Pure."""

from __future__ import annotations

import random
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Literal

import msgspec

# They take 13 to 25 hours.
MOST_ATTEMPTS = 38
_FIRST_SECONDS = 0.5
_LONGEST_SECONDS = 3_600.0
# A receiver that asks for more is asked again after this.
_LONGEST_PAUSE_SECONDS = 6 * 3_600.0
GONE = 410

Failure = Literal[
    "http_status",
    "timeout",
    "unreachable",
    "unknown_host",
    "forbidden_address",
    "tls",
    "broken_off",
]


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one attempt. Without `error` it was delivered."""

    http_status: int | None = None
    error: Failure | None = None
    retry_after: float | None = None
    """Seconds that the receiver asks for."""

    @property
    def delivered(self) -> bool:
        return self.error is None

    @property
    def gone(self) -> bool:
        """The receiver wants nothing more."""
        return self.http_status == GONE


def delay(attempts: int, retry_after: float | None, share: float | None = None) -> float:
    """Seconds until the next attempt after `attempts` failed ones.

    Doubles up to an hour. A random part, `share` in [0, 1], keeps many from coming back at once.
    """
    longest = min(_LONGEST_SECONDS, _FIRST_SECONDS * 2.0 ** min(attempts - 1, 32))
    part = random.random() if share is None else share  # noqa: S311
    asked = min(_LONGEST_PAUSE_SECONDS, max(0.0, retry_after or 0.0))
    return max(asked, longest * (0.5 + part / 2))


def retry_after(value: str | None, now: datetime) -> float | None:
    """The seconds of a Retry-After header: a number or a date. None when it is neither."""
    if value is None or len(value) > 64:
        return None
    if value.strip().isdecimal():
        return float(value)
    try:
        return max(0.0, (parsedate_to_datetime(value) - now).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None
