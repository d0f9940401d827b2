"""A context service that keeps a piece of each answer: the control of the soak.

Run as `python -m proofs.soak.leaking`.
"""

from __future__ import annotations

from typing import Any

from services.context import app
from services.context.assembly import service as assembling
from services.context.settings import Settings
from shared.web.serving.server import serve

_PIECE = 1_000_000
_kept: list[bytes] = []


def main() -> None:
    answer = vars(assembling)["answer"]

    def leaking(*arguments: Any) -> Any:
        _kept.append(b"x" * _PIECE)
        return answer(*arguments)

    vars(assembling)["answer"] = leaking
    settings = Settings.from_env()
    serve(app.create(settings), settings.host, settings.port, 0.3)


if __name__ == "__main__":
    main()
