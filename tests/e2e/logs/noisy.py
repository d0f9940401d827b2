"""A service that says everything which the code and libraries can say, once it serves. NOISY names the service.

Run as `python -m tests.e2e.logs.noisy`.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import threading
import warnings
from typing import Any

from shared.web import probes
from shared.web.serving.server import Server
from shared.web.serving.start import start

SAID = (
    "a library's line\nof two",
    "a warning",
    "exception in a task",
    "exception in a thread",
    "exception in a callback",
    "exception in a finalizer",
    "exception in a route",
    "a log record cannot be formatted",
)


class _Unfinishable:
    def __del__(self) -> None:
        raise RuntimeError("exception in a finalizer")


def _fail(where: str) -> None:
    raise RuntimeError(f"exception in {where}")


async def _fail_later() -> None:
    _fail("a task")


def _speak() -> None:
    logging.getLogger("a.library").warning("a library's line\nof %s", "two")
    logging.getLogger("a.library").warning("%d", "no number")
    warnings.warn("a warning", stacklevel=1)
    threading.Thread(target=_fail, args=("a thread",)).start()
    asyncio.get_running_loop().call_soon(_fail, "a callback")
    asyncio.get_running_loop().create_task(_fail_later())
    _Unfinishable()


class Noisy(Server):
    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        _speak()


def main() -> None:
    name = os.environ["NOISY"]
    probes.generate_latest = lambda: _fail("a route")  # type: ignore[assignment, misc, attr-defined]
    importlib.import_module("shared.web.serving.server").Server = Noisy  # type: ignore[attr-defined]
    settings = importlib.import_module(f"services.{name}.settings").Settings
    start(name.replace("_", "-"), settings.from_env, importlib.import_module(f"services.{name}.app").create)


if __name__ == "__main__":
    main()
