"""A bound for what cannot be stopped from within: the process that does it ends."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

_is_mortal = False


def become() -> None:
    """This process may end in the middle of its work: others know what to do then."""
    global _is_mortal
    _is_mortal = True


@contextmanager
def mortal(seconds: float) -> Iterator[None]:
    """Ends the process when what is inside takes more seconds of a processor. Does nothing in one that has to live."""
    if not _is_mortal:
        yield
        return
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
