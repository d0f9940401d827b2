"""A limit of CPU time for work that cannot be stopped from within: a fork of the process tries it first."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress

_has_trials = False


def have_trials() -> None:
    """From now on, `is_done_within` tries. For a process that has one thread: a fork of it can do anything."""
    global _has_trials
    _has_trials = True


def is_done_within(seconds: float, work: Callable[[], object]) -> bool:
    """Whether the work ends within so much CPU time, and without an error. True where nothing is tried."""
    if not _has_trials:
        return True
    pid = os.fork()
    if not pid:
        status = 1
        # Nothing of this process is written or closed twice.
        with suppress(BaseException):
            signal.setitimer(signal.ITIMER_PROF, seconds)
            work()
            status = 0
        os._exit(status)
    return os.waitpid(pid, 0)[1] == 0
