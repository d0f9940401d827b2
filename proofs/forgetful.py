"""A context service whose purges skip one store: the control of `proofs.purge`. Run as `python -m proofs.forgetful`."""

from __future__ import annotations

from typing import Any

from services.context import app
from services.context.forwarding.owners import Owner
from services.context.settings import Settings
from shared.web.serving.server import serve

_SKIPPED = "agent_memory"


def main() -> None:
    purge = Owner.purge

    async def forgetful(owner: Owner, *arguments: Any) -> dict[str, int]:
        return {} if owner.name == _SKIPPED else await purge(owner, *arguments)

    Owner.purge = forgetful  # type: ignore[method-assign,assignment]
    settings = Settings.from_env()
    serve(app.create(settings), settings.host, settings.port, 0.3)


if __name__ == "__main__":
    main()
