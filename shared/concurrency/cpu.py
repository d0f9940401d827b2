"""A limit of CPU time for work that cannot be stopped from within: it kills the process."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

_is_enforced = False


def enforce_limits() -> None:
    """From now on, a `cpu_limit` kills this process. For a process that another replaces."""
    global _is_enforced
    _is_enforced = True


@contextmanager
def cpu_limit(seconds: float) -> Iterator[None]:
    """Kills the process when the block takes more CPU time, if it enforces limits. In the main thread, not nested."""
    if not _is_enforced:
        yield
        return
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
