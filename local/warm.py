"""Services that begin as copies of a process that has imported them: to import is most of what a start takes.

Short proofs start many. Whatever a service does after its imports, it does as ever.
"""

from __future__ import annotations

import gc
import importlib
import multiprocessing
import os
import runpy
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.connection import Client, Connection, Listener, wait
from pathlib import Path

from local.database import ROOT
from local.process import Server, environment
from local.services import NAMES, Service
from shared.concurrency.priority import lower_process

WARM = "SCRUBJAY_PROOF_WARM"
"""The environment variable with the socket of the process that is copied."""
WARM_PRELOADED = "SCRUBJAY_PROOF_WARM_PRELOADED"
"""The same of one that has the library which services preload."""
_FAMILY = "AF_UNIX"
_fork = multiprocessing.get_context("fork")


class Original(Server):
    """The process that is copied. It answers at a socket in the folder."""

    def __init__(self, folder: Path, variables: Mapping[str, str] | None = None) -> None:
        super().__init__("original", folder / "original.log")
        self.socket = folder / "original"
        self._variables = variables or {}

    def launch(self) -> None:
        self.spawn([sys.executable, "-m", __name__, self.socket], cwd=ROOT, env=environment(self._variables))

    def ready(self) -> bool:
        with suppress(OSError), Client(str(self.socket), _FAMILY):
            return True
        return False


class WarmService(Service):
    """Where there is nothing to copy, it starts as any other."""

    def launch(self) -> None:
        original = os.environ.get(WARM_PRELOADED if "LD_PRELOAD" in self.variables else WARM)
        if original is None:
            super().launch()
            return
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.child = Copy(original, self.module, environment(self.variables), self.log)


class Copy:
    """What `local.process` asks of a child, by any thread. It ends with this process."""

    def __init__(self, original: str, module: str, variables: Mapping[str, str], log: Path) -> None:
        self._connection = Client(original, _FAMILY)
        self._connection.send((module, variables, log, _niceness()))
        self.pid: int = self._connection.recv()
        self._code: int | None = None
        self._turn = threading.Lock()

    def poll(self) -> int | None:
        with self._turn:
            return self._ended() if self._code is None and self._connection.poll() else self._code

    def wait(self) -> int | None:
        with self._turn:
            return self._ended() if self._code is None else self._code

    def send_signal(self, signum: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, signum)

    def _ended(self) -> int:
        self._code = int(self._connection.recv())
        return self._code


def main(socket: str) -> None:
    for name in NAMES:
        importlib.import_module(f"services.{name}.app")
    gc.freeze()
    # Whoever connects has his code run here, so that no other user may.
    usual = os.umask(0o077)
    with Listener(socket, _FAMILY) as listener:
        os.umask(usual)
        while True:
            with listener.accept() as connection:
                _fork.Process(target=_keep, args=(connection,)).start()


def _keep(connection: Connection) -> None:
    """Copies this process, and ends the copy when who asked for it ends."""
    try:
        module, variables, log, niceness = connection.recv()
    except EOFError:  # it only looked whether somebody answers
        return
    copy = _fork.Process(target=become, args=(module, variables, log, niceness))
    copy.start()
    connection.send(copy.pid)
    if connection in wait([connection, copy.sentinel]):
        copy.kill()
    else:
        copy.join()
        connection.send(copy.exitcode)


def become(module: str, variables: Mapping[str, str], log: Path, niceness: int) -> None:
    """Makes this process what `python -m module` would be, with its output in the log."""
    os.setsid()
    lower_process(max(0, niceness - _niceness()))
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(output, stream.fileno())
        stream.reconfigure(write_through=True)  # type: ignore[union-attr]
    os.chdir(ROOT)
    os.environ.clear()
    os.environ.update(variables)
    sys.argv = [module]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _niceness() -> int:
    return os.getpriority(os.PRIO_PROCESS, 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
