"""A context service that answers with what it has, and names nothing that is missing: the control of this proof.

Run as `python -m proofs.degraded.silent`.
"""

from __future__ import annotations

from typing import Any

from services.context import app
from services.context.assembly import service as assembling
from services.context.settings import Settings
from shared.web.serving.server import serve


def main() -> None:
    answer = vars(assembling)["answer"]

    def silent(ask: Any, found: Any, chosen: Any, facts: Any, degraded: Any, *more: Any) -> Any:
        return answer(ask, found, chosen, facts, [], *more)

    vars(assembling)["answer"] = silent
    settings = Settings.from_env()
    serve(app.create(settings), settings.host, settings.port, 0.3)


if __name__ == "__main__":
    main()
