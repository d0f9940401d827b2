"""The clock of one process, which can be set while it runs (needs the package libfaketime)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from local.process import LocalError
from local.services import Service
from local.warm import WARM, WARM_PRELOADED, Original

HOUR = 3_600
SEEN_SECONDS = 1
_FOLDERS = ("/usr/lib/*/faketime", "/usr/lib/faketime", "/usr/local/lib/faketime", "/usr/lib64/faketime")


def library() -> Path:
    for folder in _FOLDERS:
        for found in Path("/").glob(f"{folder[1:]}/libfaketimeMT.so.1"):
            return found
    raise LocalError("this proof needs libfaketime: install its package")


def _variables(file: Path) -> dict[str, str]:
    return {
        "LD_PRELOAD": str(library()),
        "FAKETIME_TIMESTAMP_FILE": str(file),
        # Reading the file at each look takes half of a processor.
        "FAKETIME_CACHE_DURATION": str(SEEN_SECONDS),
        # Nobody sets this one: only the time of day jumps.
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }


@contextmanager
def copied(folder: Path) -> Iterator[None]:
    """Where services are copies, those with a clock are copies of a process that has the library. A copy goes by its
    own file within SEEN_SECONDS.
    """
    if WARM not in os.environ:
        yield
        return
    file = folder / "original.clock"
    file.write_text("+0\n")
    original = Original(folder, _variables(file))
    try:
        original.start()
        os.environ[WARM_PRELOADED] = str(original.socket)
        yield
    finally:
        original.stop()


class Jumping:
    """Give it the service before its start."""

    def __init__(self, service: Service, folder: Path, control: str | None = None) -> None:
        self.name = service.module
        self.ahead = 0
        self._file = folder / f"{service.port}.clock"
        self.jump(0)
        service.variables = {**service.variables, **_variables(self._file)}
        if control is not None:
            service.variables["SCRUBJAY_PROOF_SERVICE"] = service.module.rpartition(".")[2]
            service.module = control

    def jump(self, ahead: int) -> None:
        """The process sees the change within SEEN_SECONDS, never half of it."""
        self.ahead = ahead
        new = self._file.with_suffix(".new")
        new.write_text(f"{ahead:+d}\n")
        new.rename(self._file)
