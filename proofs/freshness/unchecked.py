"""An owner that answers what it has answered before without asking the database: the control of `proofs.freshness`.

Run as `python -m proofs.freshness.unchecked`, with BENCH_SERVICE=cache or agent_memory.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from typing import Any

from shared.database.postgres import Connection
from shared.search.hot.search import HotStore
from shared.search.sql import Values
from shared.web.serving.server import serve


def main() -> None:
    name = os.environ["BENCH_SERVICE"]
    search = HotStore.search
    known: dict[Any, Any] = {}

    async def unchecked(store: HotStore, c: Connection, values: Values, names: Sequence[str]) -> Any:
        key = (store._store, values.tenant, *names, *values.texts, str(values.only))
        if key not in known and (rows := await search(store, c, values, names)) is not None:
            known[key] = rows
        return known.get(key)

    HotStore.search = unchecked  # type: ignore[method-assign,assignment]
    settings = importlib.import_module(f"services.{name}.settings").Settings.from_env()
    serve(importlib.import_module(f"services.{name}.app").create(settings), settings.host, settings.port, 0.3)


if __name__ == "__main__":
    main()
