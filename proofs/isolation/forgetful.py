"""A service whose statements have lost what compares with their tenant: the control of `proofs.isolation.tenants`.

Run as `python -m proofs.isolation.forgetful`, with BENCH_SERVICE=context, cache or agent_memory. Each transaction sees
the rows of every tenant, as if there were no policies.
"""

from __future__ import annotations

import importlib
import os
import re
from typing import Any

import asyncpg

from shared.web.serving.server import serve

_EQUALITY = re.compile(r"\b(?:\w+\.)?tenant = \$1(?!\d)")
_NAMED = re.compile(r"SET LOCAL scrubjay\.tenant = E'(?:[^'\\]|''|\\.)*'")
_NAMED_ALONE = "set_config('scrubjay.tenant', $1, true)"
_EVERY_ALONE = "set_config('scrubjay.every_tenant', left('on', 2 + length($1::text)), true)"


class Forgetful(asyncpg.Connection):
    async def execute(self, query: str, *arguments: Any, **options: Any) -> Any:
        return await super().execute(forgotten(query), *arguments, **options)

    async def _execute(self, query: str, *arguments: Any, **options: Any) -> Any:
        return await super()._execute(forgotten(query), *arguments, **options)  # type: ignore[misc]


def forgotten(query: str) -> str:
    query = _NAMED.sub("SET LOCAL scrubjay.every_tenant = 'on'", query)
    return _EQUALITY.sub("$1::text is not null", query.replace(_NAMED_ALONE, _EVERY_ALONE))


def main() -> None:
    name = os.environ["BENCH_SERVICE"]
    create_pool = asyncpg.create_pool

    def create_forgetful(*arguments: Any, **options: Any) -> Any:
        return create_pool(*arguments, connection_class=Forgetful, **options)

    asyncpg.create_pool = create_forgetful
    settings = importlib.import_module(f"services.{name}.settings").Settings.from_env()
    serve(importlib.import_module(f"services.{name}.app").create(settings), settings.host, settings.port, 0.3)


if __name__ == "__main__":
    main()
