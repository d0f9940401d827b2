"""What assemble costs over all five stores and the graph: `make bench-stores`, SCALE=small for 10,000 rows.

100,000 rows in one tenant. The same questions in turn to services with copies in memory, to services without them, and
to each statement alone; `p50_over_slowest_sql` is of the first. `calls` counts the requests to each owner by assemble.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack
from typing import Any

import aiohttp
import msgspec
import numpy as np

from bench.assemble.cluster import Caller, Cluster
from bench.growth.data import Pool, pool, questions
from bench.growth.measuring import COPIES, KINDS, SQL
from bench.stores.data import CALLER, TENANT, USER, load
from bench.stores.statements import connected
from local.servers import temporary_folder
from local.services import NAMES
from shared.embeddings.english import load_model
from shared.embeddings.local import LocalEmbedder

_OWNERS = ("cache", "agent_memory")
_SEARCHED = 'scrubjay_http_requests_total{method="POST",route="/internal/search"'


def main() -> None:
    small = os.environ.get("SCALE") == "small"
    made, vectors = asyncio.run(_embedded())
    with ExitStack() as cleanup:
        cluster = Cluster(cleanup.enter_context(temporary_folder("scrubjay-stores-")), cleanup)
        rows = asyncio.run(load(cluster.database.admin, made, 0.1 if small else 1.0))
        urls = {kind: cluster.start(kind, settings) for kind, settings in KINDS.items()}
        result = asyncio.run(_measure(cluster, urls, vectors, made.model, 60 if small else 240))
    result |= {"rows": rows, "all_rows": sum(rows.values())}
    for name, value in result.items():
        print(f"{name:28} {value}")
    print(json.dumps(result))


async def _embedded() -> tuple[Pool, Sequence[Any]]:
    embedder = LocalEmbedder(load_model())
    try:
        return await pool(embedder), list(await embedder.embed(questions(), "query"))
    finally:
        await embedder.close()


async def _measure(
    cluster: Cluster, urls: Mapping[str, str], vectors: Sequence[Any], model: str, count: int
) -> dict[str, Any]:
    asked = questions()
    async with AsyncExitStack() as stack:
        alone = await connected(stack, cluster.database.services, model)
        session = await stack.enter_async_context(
            aiohttp.ClientSession(headers={"content-type": "application/json"})
        )
        token = await _key(session, urls[COPIES], cluster.tokens.admin)
        session.headers["authorization"] = f"Bearer {token}"
        callers = {kind: Caller(session, url, log=True, bodies=_bodies()) for kind, url in urls.items()}
        for caller in callers.values():
            await caller.throughput(1, 15.0)
        for query, vector in zip(asked, vectors, strict=True):
            await alone.run(query, vector)
        before = await _searches(session, cluster)
        sql: list[dict[str, float]] = []
        for place in range(count):
            for caller in callers.values():
                await caller.once()
            at = place % len(asked)
            sql.append(await alone.run(asked[at], vectors[at]))
        after = await _searches(session, cluster)
    calls = {name: round((after[name] - before[name]) / count, 2) for name in _OWNERS}
    return _figures(callers, sql) | {"calls": calls}


def _bodies() -> list[bytes]:
    asked = {"caller": CALLER, "mission_namespace": CALLER, "user_id": USER, "token_budget": 2_000}
    return [msgspec.json.encode({"query": query, **asked}) for query in questions()]


async def _key(session: aiohttp.ClientSession, url: str, admin: str) -> str:
    body = {"name": "bench", "access": "write", "tenant": TENANT}
    headers = {"authorization": f"Bearer {admin}"}
    async with session.post(url + "/api/context/keys", json=body, headers=headers) as response:
        return str((await response.json())["token"])


async def _searches(session: aiohttp.ClientSession, cluster: Cluster) -> dict[str, float]:
    """The searches that each owner with copies has answered."""
    found = {}
    for name, service in zip(NAMES, cluster.services[COPIES], strict=True):
        if name in _OWNERS:
            async with session.get(f"http://127.0.0.1:{service.port}/metrics") as response:
                page = await response.text()
            found[name] = sum(
                float(line.rpartition(" ")[2]) for line in page.splitlines() if line.startswith(_SEARCHED)
            )
    return found


def _figures(callers: Mapping[str, Caller], sql: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    alone = {name: float(np.median([each[name] for each in sql])) for name in sql[0]}
    p50 = {kind: float(np.median(caller.ms)) for kind, caller in callers.items()}
    slowest = max(alone.values())
    return {
        "p50_over_slowest_sql": round(p50[COPIES] / slowest, 2),
        "p50_over_slowest_sql_without_copies": round(p50[SQL] / slowest, 2),
        "p50_ms": {kind: round(ms, 1) for kind, ms in p50.items()},
        "p95_ms": {kind: round(float(np.percentile(c.ms, 95)), 1) for kind, c in callers.items()},
        "alone_ms": {name: round(ms, 1) for name, ms in alone.items()},
        "refused": sum(caller.refused for caller in callers.values()),
        "degraded": {kind: caller.degraded for kind, caller in callers.items()},
    }


if __name__ == "__main__":
    main()
