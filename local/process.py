"""Child processes that end with their parent."""

import contextlib
import ctypes
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any, Protocol

_PR_SET_PDEATHSIG = 1
# Linux gives connections ports from 32,768 on, other systems from 49,152 on.
_PORTS = range(15_000, 32_768)
# Another process that seeds its draws alike must not draw the same ports.
_RANDOM = random.SystemRandom()


class LocalError(Exception):
    """The stack cannot start or continue. The message is for a person."""


class ProcessFailedError(LocalError):
    """A child did not start, or ended unexpectedly. The message ends with the last lines of its log."""


class Child(Protocol):
    """What is asked of a process that was started. A signal to one that has ended does nothing."""

    @property
    def pid(self) -> int: ...
    def poll(self) -> int | None: ...
    def wait(self) -> int | None: ...
    def send_signal(self, signum: int, /) -> None: ...


class Process:
    """One child process, its log file, and the signals tests and the stack send to it."""

    def __init__(self, name: str, log: Path) -> None:
        self.name = name
        self.log = log
        self.child: Child | None = None

    @property
    def pid(self) -> int:
        if self.child is None:
            raise RuntimeError(f"{self.name} was never started")
        return self.child.pid

    @property
    def running(self) -> bool:
        return self.child is not None and self.child.poll() is None

    @property
    def returncode(self) -> int | None:
        return None if self.child is None else self.child.poll()

    def spawn(self, argv: Sequence[str | Path], **options: Any) -> None:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            try:
                self.child = spawn(argv, log=log, **options)
            except OSError as error:
                raise LocalError(f"{self.name} cannot be started: {error}") from error

    def send(self, signum: signal.Signals) -> None:
        if self.child is not None:
            self.child.send_signal(signum)

    def kill(self) -> None:
        """Sends SIGKILL to the process and all its descendants, and waits until they are gone."""
        if self.child is None:
            return
        family = self.sigstop()  # a stopped parent forks no further child
        for pid in family:
            _signal(pid, signal.SIGKILL)
        self.child.wait()
        wait_for(lambda: not any(map(alive, family)), 10)

    def sigstop(self) -> list[int]:
        """Stops the process and all its descendants. Returns their ids, parents first."""
        family: list[int] = []
        generation = [self.pid] if self.running else []
        while generation:
            for pid in generation:
                _signal(pid, signal.SIGSTOP)
            family += generation
            generation = children(*generation)
        return family

    def sigcont(self) -> None:
        if self.running:
            for pid in reversed([self.pid, *descendants(self.pid)]):
                _signal(pid, signal.SIGCONT)

    def failure(self, what: str) -> ProcessFailedError:
        return ProcessFailedError(f"{self.name} {what}; the end of {self.log}:\n{tail(self.log)}")


class Server(Process):
    """A child that listens on `port` and takes a while to get ready."""

    port: int
    start_seconds = 60.0
    stop_seconds = 10.0
    stop_signal = signal.SIGTERM

    def launch(self) -> None:
        """Starts the process without waiting for it. Call it only from the main thread."""
        raise NotImplementedError

    def ready(self) -> bool:
        raise NotImplementedError

    def start(self) -> None:
        self.launch()
        self.await_ready()

    def await_ready(self) -> None:
        """Raises ProcessFailedError when the process ends, or is not ready in time and was killed."""
        if not wait_for(lambda: not self.running or self.ready(), self.start_seconds):
            self.kill()
            raise self.failure(f"was not ready within {self.start_seconds:g} s")
        if not self.running:
            raise self.failure(f"ended with {self.returncode}")

    def stop(self) -> None:
        stop_together([self])


def stop_together(servers: Sequence[Server], hurried: Callable[[], bool] = lambda: False) -> None:
    """Asks all servers to end, and kills those that do not end in time, or at once when `hurried`."""
    for server in servers:
        server.send(server.stop_signal)
    for server in servers:
        wait_for(partial(_ended_or, hurried, server), server.stop_seconds)
        server.kill()


def _ended_or(hurried: Callable[[], bool], server: Server) -> bool:
    return not server.running or hurried()


def spawn(
    argv: Sequence[str | Path],
    *,
    log: IO[bytes],
    death_signal: signal.Signals = signal.SIGKILL,
    stdin: int = subprocess.DEVNULL,
    **options: Any,
) -> subprocess.Popen[bytes]:
    """Starts a child that gets `death_signal` when this process dies for any reason (Linux).

    The child has its own session, so a Ctrl-C in the terminal reaches only us, and we stop the children in order.
    """
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("children die with the thread that starts them: start them from the main thread")
    return subprocess.Popen(
        [str(part) for part in argv],
        stdin=stdin,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=_bound_to_parent(death_signal),
        **options,
    )


def run(name: str, argv: Sequence[str | Path], log: Path, **options: Any) -> None:
    """Runs a command to its end. Raises ProcessFailedError unless it returns 0."""
    process = Process(name, log)
    process.spawn(argv, **options)
    try:
        wait_for(lambda: not process.running, 600)
    finally:
        process.kill()
    if process.returncode != 0:
        raise process.failure(f"ended with {process.returncode}")


def _bound_to_parent(death_signal: signal.Signals) -> Callable[[], None] | None:
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl
    parent = os.getpid()

    def bind() -> None:
        prctl(_PR_SET_PDEATHSIG, int(death_signal))
        if os.getppid() != parent:  # the parent died before the call
            os._exit(1)

    return bind


def die_with_parent(death_signal: signal.Signals) -> None:
    """Makes this process get `death_signal` when its parent dies (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(death_signal))


def free_ports(count: int) -> list[int]:
    """Ports that nobody has, and that no connection takes by itself before a server does: systems give those higher
    ones.
    """
    with contextlib.ExitStack() as held:
        return [_hold_port(held.enter_context(socket.socket())) for _ in range(count)]


def _hold_port(probe: socket.socket) -> int:
    while True:
        port = _RANDOM.choice(_PORTS)
        with contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def free_port() -> int:
    return free_ports(1)[0]


def port_is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def wait_for(done: Callable[[], bool], seconds: float, *, every: float = 0.02) -> bool:
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            return False
        time.sleep(every)
    return True


def tail(path: Path, lines: int = 15) -> str:
    if not path.exists():
        return ""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 16_384))
        return "\n".join(file.read().decode(errors="replace").splitlines()[-lines:])


def alive(pid: int) -> bool:
    """Whether the process exists and is not a zombie."""
    return any(other == pid and state not in "ZX" for other, _, state in _processes())


def children(*pids: int) -> list[int]:
    return [child for child, parent, state in _processes() if parent in pids and state not in "ZX"]


def descendants(pid: int) -> list[int]:
    found: list[int] = []
    generation = children(pid)
    while generation:
        found += generation
        generation = children(*generation)
    return found


def _processes() -> Iterator[tuple[int, int, str]]:
    """Every process: its id, its parent's id and its one-letter state."""
    if not Path("/proc/self/stat").exists():
        listing = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,state="], capture_output=True, text=True)
        for line in listing.stdout.splitlines():
            pid, parent, state = line.split()[:3]
            yield int(pid), int(parent), state[0]
        return
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                # The command in parentheses may itself contain blanks and parentheses.
                fields = Path(entry.path, "stat").read_text(errors="replace").rpartition(")")[2].split()
                yield int(entry.name), int(fields[1]), fields[0]


def _signal(pid: int, signum: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signum)


def environment(changes: Mapping[str, str]) -> dict[str, str]:
    return {**os.environ, **changes}
