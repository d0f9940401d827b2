"""The time a request has left, passed from hop to hop in milliseconds."""

from __future__ import annotations

import time

HEADER = "x-timeout-ms"
READ_SECONDS = 2.0
WRITE_SECONDS = 5.0


class Deadline:
    """A point on the monotonic clock. Hops pass on the time left, so their clocks need not agree."""

    __slots__ = ("at",)

    def __init__(self, seconds: float, since: float | None = None) -> None:
        self.at = (time.monotonic() if since is None else since) + seconds

    def left(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self.at - time.monotonic())

    def left_ms(self) -> int:
        return int(self.left() * 1000)

    def shorter(self, by: float) -> Deadline:
        """A deadline `by` seconds earlier, so that the caller keeps some time after a hop."""
        earlier = Deadline(0)
        earlier.at = self.at - by
        return earlier


def from_header(value: str | None, default: float, since: float | None = None) -> Deadline:
    """A caller may ask for less than the default, never for more. An unreadable value is ignored.

    `since` is when the request arrived, on the monotonic clock.
    """
    if value and value.isascii() and value.isdigit() and len(value) < 10:
        return Deadline(min(default, int(value) / 1000), since)
    return Deadline(default, since)
