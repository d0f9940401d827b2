"""An owner that asks Postgres each search once and remembers the rows: what assembly costs besides SQL.

Run by `bench.assemble` as `python -m bench.without_sql`, with BENCH_SERVICE=cache or agent_memory.
"""

from __future__ import annotations

import functools
import importlib
import os
from collections.abc import Awaitable, Callable
from typing import Any

from shared.web.app import serve

_QUERIES = {"cache": "cache.missions", "agent_memory": "agent_memory.memories"}


def _remember(search: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    known: dict[tuple[Any, ...], Any] = {}

    @functools.wraps(search)
    async def remembered(connection: Any, *given: Any, **more: Any) -> Any:
        key = tuple(
            (one.tenant, one.query) if hasattr(one, "query") else one
            for one in given
            if isinstance(one, str) or hasattr(one, "query")
        )
        if key not in known:
            known[key] = await search(connection, *given, **more)
        return known[key]

    return remembered


def main() -> None:
    name = os.environ["BENCH_SERVICE"]
    queries = importlib.import_module(f"services.{_QUERIES[name]}.queries_search")
    for function in [one for one in dir(queries) if one.startswith("search") and one != "search_sql"]:
        setattr(queries, function, _remember(getattr(queries, function)))
    settings = importlib.import_module(f"services.{name}.settings").Settings.from_env()
    serve(importlib.import_module(f"services.{name}.app").create(settings), settings.host, settings.port, 0.3)


if __name__ == "__main__":
    main()
