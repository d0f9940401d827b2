"""A service that lets everybody in: the control of `proofs.overload`.

Run as `python -m proofs.without_limits`, with BENCH_SERVICE=context, cache or agent_memory.
"""

from __future__ import annotations

import importlib
import os

from shared.web.door.overload import Gate
from shared.web.serving.server import serve


def main() -> None:
    name = os.environ["BENCH_SERVICE"]
    Gate.full = lambda gate, tenant, now: False  # type: ignore[method-assign,assignment]
    settings = importlib.import_module(f"services.{name}.settings").Settings.from_env()
    serve(importlib.import_module(f"services.{name}.app").create(settings), settings.host, settings.port, 0.3)


if __name__ == "__main__":
    main()
