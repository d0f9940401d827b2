"""Messages to the person who started the stack."""

import contextlib
import select
import sys
import time
from collections.abc import Callable, Iterator


def say(text: str = "", end: str = "\n") -> None:
    """Prints at once. A closed terminal must not keep the stack from stopping."""
    with contextlib.suppress(OSError):
        print(text, end=end, flush=True)


@contextlib.contextmanager
def step(what: str) -> Iterator[None]:
    """Prints the name of a step while it runs, then the seconds it took."""
    say(f"  {what} ...", end="")
    begun = time.monotonic()
    try:
        yield
    except BaseException:
        say()
        raise
    say(f" {time.monotonic() - begun:.1f} s")


def hangup_probe() -> Callable[[], bool]:
    """A function that says whether the terminal was closed.

    SIGHUP alone is not enough: a make that leads the session does not forward it, and waits for us.
    """
    if not sys.stdout.isatty():
        return lambda: False
    poll = select.poll()
    poll.register(sys.stdout, 0)
    return lambda: any(event & select.POLLHUP for _, event in poll.poll(0))
