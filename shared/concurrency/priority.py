"""Who runs first where processors are busy. What the system does not know or allow, changes nothing."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from pathlib import Path

_AUTOGROUP = Path("/proc/self/autogroup")


def lower_process(nice: int) -> None:
    """For this process, which should lead a session."""
    os.nice(nice)
    # Where Linux shares processors between sessions, a session has a priority of its own.
    with suppress(OSError):
        _AUTOGROUP.write_text(str(nice))


def lower_thread(nice: int) -> None:
    """For this thread alone, which only Linux allows."""
    if sys.platform == "linux":
        thread = threading.get_native_id()
        # Nobody but root may raise it again.
        os.setpriority(os.PRIO_PROCESS, thread, max(nice, os.getpriority(os.PRIO_PROCESS, thread)))
