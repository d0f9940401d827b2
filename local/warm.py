"""Services that begin as copies of a process that has imported them: to import is most of what a start takes.

Short proofs start many. Whatever a service does after its imports, it does as ever.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import runpy
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from local.database import ROOT
from local.process import environment
from local.services import NAMES, Service

WARM = "SCRUBJAY_PROOF_WARM"
"""The environment variable that asks for it."""
_forkserver = multiprocessing.get_context("forkserver")
_forkserver.set_forkserver_preload([__name__, *(f"services.{name}.app" for name in NAMES)])


class WarmService(Service):
    """A service that is patched before it imports something, or preloads a library, starts as any other."""

    def launch(self) -> None:
        if not self.module.startswith("services.") or "LD_PRELOAD" in self.variables:
            super().launch()
            return
        self.log.parent.mkdir(parents=True, exist_ok=True)
        process = _forkserver.Process(
            target=become, args=(self.module, environment(self.variables), self.log)
        )
        with _no_main():
            process.start()
        self.child = Forked(process)


class Forked:
    """What `local.process` asks of a child, by any thread."""

    def __init__(self, process: multiprocessing.process.BaseProcess) -> None:
        assert process.pid is not None
        self.pid = process.pid
        self._process = process
        self._turn = threading.Lock()

    def poll(self) -> int | None:
        with self._turn:
            return self._process.exitcode

    def wait(self) -> int | None:
        with self._turn:
            self._process.join()
            return self._process.exitcode

    def send_signal(self, signum: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, signum)


def become(module: str, variables: Mapping[str, str], log: Path) -> None:
    """Makes this process what `python -m module` would be, with its output in the log."""
    os.setsid()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(output, stream.fileno())
        stream.reconfigure(write_through=True)  # type: ignore[union-attr]
    os.chdir(ROOT)
    os.environ.clear()
    os.environ.update(variables)
    sys.argv = [module]
    gc.freeze()
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os.kill(os.getpid(), signal.SIGKILL)


@contextmanager
def _no_main() -> Iterator[None]:
    """Otherwise the child would import the proof, too."""
    main, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
