"""A process of low priority that works on long texts: `python -m shared.concurrency.worker DESCRIPTOR`.

While a thread computes, the event loop waits for the interpreter's lock, and for a processor if both are taken. A
process of its own takes neither from a service that has requests to answer.
"""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from pickle import PicklingError
from typing import Any, ParamSpec, TypeVar

import structlog

log = structlog.get_logger()

P = ParamSpec("P")
T = TypeVar("T")

# On a busy machine, processes with higher values get less of a processor.
_NICE = 10
_AUTOGROUP = Path("/proc/self/autogroup")


class Worker:
    """Starts its process with the first work, and again after that process was killed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        atexit.register(self.stop)

    def run(self, work: Callable[P, T], *arguments: P.args, **more: P.kwargs) -> T:
        """The result of `work`. Blocks.

        The calling thread does the work itself while the process does another, if the process is killed, and if the
        work cannot be pickled.
        """
        if not self._lock.acquire(blocking=False):
            return work(*arguments, **more)
        try:
            done, result = self._ask(work, arguments, more)
        except (PicklingError, TypeError, AttributeError):
            return work(*arguments, **more)
        except (EOFError, OSError) as error:
            log.warning("the worker for long texts has ended", exc_info=error)
            self.stop()
            return work(*arguments, **more)
        finally:
            self._lock.release()
        if not done:
            raise result
        answer: T = result
        return answer

    def stop(self) -> None:
        if self._connection is not None:
            self._connection.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._process = self._connection = None

    def _ask(self, *work: Any) -> tuple[bool, Any]:
        if self._connection is None:
            self._connection = self._start()
        self._connection.send(work)
        answer: tuple[bool, Any] = self._connection.recv()
        return answer

    def _start(self) -> Connection:
        ours, its = socket.socketpair()
        with its:
            descriptor = its.fileno()
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(descriptor)],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
                pass_fds=[descriptor],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        return Connection(ours.detach())


def main() -> None:
    """Works until the service closes its end, or ends in any way."""
    _lower_priority()
    connection = Connection(int(sys.argv[1]))
    with suppress(EOFError, ConnectionError):
        while True:
            connection.send(_answer(*connection.recv()))


def _answer(work: Callable[..., Any], arguments: Any, more: Any) -> tuple[bool, Any]:
    try:
        return True, work(*arguments, **more)
    except Exception as error:
        return False, error


def _lower_priority() -> None:
    os.nice(_NICE)
    # Where Linux shares processors between sessions, a session has a priority of its own.
    with suppress(OSError):
        _AUTOGROUP.write_text(str(_NICE))


if __name__ == "__main__":
    main()
