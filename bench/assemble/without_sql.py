"""An owner that asks Postgres each search once and remembers the rows: what assembly costs besides SQL.

Run by `bench.assemble` as `python -m bench.assemble.without_sql`, with BENCH_SERVICE=cache or agent_memory.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import os
from collections.abc import Awaitable, Callable
from typing import Any

from shared.search import sql
from shared.search.sql import Forms, Values
from shared.web.serving.server import serve


def _remember(search: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    known: dict[tuple[Any, ...], Any] = {}

    @functools.wraps(search)
    async def remembered(connection: Any, forms: Forms, values: Values, **form: Any) -> Any:
        key = (forms, values.tenant, str(values.texts), str(values.scope))
        if key not in known:
            known[key] = await search(connection, forms, values, **form)
        return known[key]

    return remembered


def main() -> None:
    name = os.environ["BENCH_SERVICE"]
    sql.search = _remember(sql.search)  # type: ignore[assignment]
    settings = importlib.import_module(f"services.{name}.settings").Settings.from_env()
    # A search of a copy in memory would ask Postgres again.
    settings = dataclasses.replace(settings, hot_scopes_mb=0)
    serve(importlib.import_module(f"services.{name}.app").create(settings), settings.host, settings.port, 0.3)


if __name__ == "__main__":
    main()
