"""A limit of CPU time for work that cannot be stopped from within: a fork of the process tries it first."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress

_has_trials = False


class Endless(Exception):
    """Work did not end in time, or failed, when it was tried."""


def have_trials() -> None:
    """From now on, `try_first` tries. For a process that has one thread: a fork of it can do anything."""
    global _has_trials
    _has_trials = True


def try_first(seconds: float, work: Callable[[], object]) -> None:
    """Does the work in a fork. Raises Endless if it takes more than so much CPU time, or fails.

    Does nothing in a process without trials.
    """
    if not _has_trials:
        return
    try:
        pid = os.fork()
    except OSError as error:
        raise Endless from error
    if not pid:
        _do(seconds, work)
    if os.waitpid(pid, 0)[1]:
        raise Endless


def _do(seconds: float, work: Callable[[], object]) -> None:
    """Does the work, and ends this fork without closing or flushing what it shares with its parent."""
    status = 1
    with suppress(BaseException):
        signal.setitimer(signal.ITIMER_PROF, seconds)
        work()
        status = 0
    os._exit(status)
