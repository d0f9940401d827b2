"""A service that waits for its database as long as `command_timeout` lets it: the control of this proof.

Run as `python -m proofs.deadlines.patient`, with PROOF_SERVICE=context, cache or agent_memory.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

from shared.database.postgres import Database
from shared.web.serving.server import serve


async def _patient(database: Database, work: Any, _: Any) -> Any:
    return await database._on_connection(work)


def main() -> None:
    name = os.environ["PROOF_SERVICE"]
    setattr(Database, "call", _patient)  # noqa: B010
    settings = importlib.import_module(f"services.{name}.settings").Settings.from_env()
    serve(importlib.import_module(f"services.{name}.app").create(settings), settings.host, settings.port, 0.3)


if __name__ == "__main__":
    main()
