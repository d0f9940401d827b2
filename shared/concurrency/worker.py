"""A process of low priority that does what takes long: `python -m shared.concurrency.worker DESCRIPTOR [SECONDS]`.

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
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pickle import PicklingError
from typing import Any, ParamSpec, TypeAlias, TypeVar

import structlog

from shared.concurrency import cpu
from shared.concurrency.priority import lower_process

log = structlog.get_logger()

P = ParamSpec("P")
T = TypeVar("T")
_Answer: TypeAlias = tuple[bool, Any]
"""Whether the work was done, and its result or else its error."""

# On a busy machine, processes with higher values get less of a processor.
_NICE, _SPARE_NICE = 5, 19
# A thread takes no longer for most texts.
_PATIENCE = 1.0
# After a process for spare time was late, others need the processors.
_AGAIN_SECONDS = 10.0
_START_SECONDS, _UNUSED_SECONDS = 5.0, 60.0


class Worker:
    """Starts its process with the first work, and again after that process has ended.

    With `spare`, the process gets the time of processors that nobody else wants, and ends when it was not needed for
    `unused` seconds. When it is late, it is left alone for some seconds.
    """

    def __init__(self, *, spare: bool = False, unused: float = _UNUSED_SECONDS) -> None:
        self._spare, self._unused, self._not_before = spare, unused, 0.0
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._has_answered = False
        atexit.register(self.stop)

    def ready(self) -> bool:
        """Whether its process is there, has answered and was not late. Lets it start if there is none."""
        if time.monotonic() < self._not_before:
            return False
        process = self._process
        if self._has_answered and process is not None and process.poll() is None:
            return True
        if self._lock.acquire(blocking=False):
            self._stop_when_ended()
            self._ask(0, _nothing, (), {})
        return False

    def run(self, work: Callable[P, T], *arguments: P.args, **more: P.kwargs) -> T:
        """The result of `work`. Blocks.

        The calling thread does the work itself while the process starts (for one with `spare` it waits), does another
        or is slow, if it is killed, and if the work cannot be pickled.
        """
        if time.monotonic() < self._not_before or not self._lock.acquire(blocking=False):
            return work(*arguments, **more)
        self._stop_when_ended()
        seconds = _PATIENCE if self._connection is not None else _START_SECONDS if self._spare else 0
        answer = self._ask(seconds, work, arguments, more)
        return work(*arguments, **more) if answer is None else _result(answer)

    def attempt(self, seconds: float, work: Callable[[], T]) -> T:
        """The result of `work`, done by the process, where `try_first` tries. Blocks.

        Raises TimeoutError when the process is not free within `seconds`, or does not answer within as many, when it is
        killed, and when the work cannot be pickled.
        """
        if not self._lock.acquire(timeout=seconds):
            raise TimeoutError
        self._stop_when_ended()
        answer = self._ask(seconds, work, (), {})
        if answer is None:
            raise TimeoutError
        value: T = _result(answer)
        return value

    def stop(self) -> None:
        connection, self._connection = self._connection, None
        process, self._process = self._process, None
        self._has_answered = False
        if connection is not None:
            connection.close()
        if process is not None:
            process.kill()
            process.wait()

    def _stop_when_ended(self) -> None:
        if self._process is not None and self._process.poll() == 0:
            # It was not needed for long.
            self.stop()

    def _ask(self, seconds: float, *work: Any) -> _Answer | None:
        """None when there is none within so long: it is dropped when it comes. The caller has the lock, until then."""
        late = False
        try:
            connection = self._connection = self._connection or self._start()
            connection.send(work)
            late = not connection.poll(seconds)
            if late:
                if self._spare and seconds:
                    self._not_before = time.monotonic() + _AGAIN_SECONDS
                threading.Thread(target=self._drop_answer, args=[connection], daemon=True).start()
            return None if late else self._answer_of(connection)
        except (PicklingError, TypeError, AttributeError):
            return None
        except (EOFError, OSError) as error:
            log.warning("a worker has ended", exc_info=error)
            self.stop()
            return None
        finally:
            if not late:
                self._lock.release()

    def _answer_of(self, connection: Connection) -> _Answer:
        answer: _Answer = connection.recv()
        self._has_answered = True
        return answer

    def _drop_answer(self, connection: Connection) -> None:
        """Takes over the lock, so that the process gets no other work meanwhile."""
        try:
            self._answer_of(connection)
        except (EOFError, OSError, TypeError):
            # One that `stop` closes while it is read from has no descriptor.
            self.stop()
        finally:
            self._lock.release()

    def _start(self) -> Connection:
        ours, its = socket.socketpair()
        with its:
            descriptor = its.fileno()
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    __name__,
                    str(descriptor),
                    *([str(self._unused)] if self._spare else []),
                ],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
                pass_fds=[descriptor],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        return Connection(ours.detach())


def _nothing() -> None:
    """The first work of a process that is not needed yet."""


def _result(answer: _Answer) -> Any:
    done, result = answer
    if not done:
        raise result
    return result


def main() -> None:
    """Works until the service closes its end, or ends in any way, and one for spare time until nobody needs it."""
    descriptor, *unused = sys.argv[1:]
    lower_process(_SPARE_NICE if unused else _NICE)
    if unused and hasattr(os, "SCHED_IDLE"):
        # A sandbox may not know it.
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    cpu.have_trials()
    connection = Connection(int(descriptor))
    seconds = float(unused[0]) if unused else None
    with suppress(EOFError, ConnectionError):
        while connection.poll(seconds):
            connection.send(_answer(*connection.recv()))


def _answer(work: Callable[..., Any], arguments: Any, more: Any) -> _Answer:
    try:
        return True, work(*arguments, **more)
    except Exception as error:
        return False, error


if __name__ == "__main__":
    main()
