"""A service that goes by its machine's clock: the control. Run as `python -m proofs.clocks.wall`, which serves NAME."""

from __future__ import annotations

import importlib
import os
import time

from shared.concurrency import clock
from shared.web.serving.start import start


def main() -> None:
    name = os.environ.pop("SCRUBJAY_PROOF_SERVICE")
    clock._CLOCK.time = time.time  # type: ignore[method-assign]
    app = importlib.import_module(f"services.{name}.app")
    settings = importlib.import_module(f"services.{name}.settings")
    start(name, settings.Settings.from_env, app.create)


if __name__ == "__main__":
    main()
