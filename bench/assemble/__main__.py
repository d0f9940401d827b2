"""What assemble costs beside the SQL it needs: 100,000 memories, query vectors cached, ratios within one run.

`SCALE=small python -m bench.assemble` loads 5,000. T1 is `p50_over_slowest_sql`, T2 `p50_over_no_sql` (the same
services with the owners' rows remembered), T3 `p95_over_p50`, T4 `c8_over_c1` and `c32_over_c8` of throughput.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import aiohttp
import asyncpg
import numpy as np
from numpy.typing import NDArray
from pgvector.asyncpg import register_vector

from bench.assemble.asking import fill_mission, prepare, statements
from bench.assemble.cluster import Caller, Cluster
from bench.assemble.data import ENTRIES, OTHER_TENANTS, SEED, TENANT, questions


async def measure(
    cluster: Cluster, urls: dict[str, str], vectors: NDArray[np.float32], model: str, small: bool
) -> Any:
    rounds, each, seconds = (3, 30, 1.5) if small else (6, 60, 4.0)
    connections = {
        name: await asyncpg.connect(
            cluster.database.services[name], server_settings={"scrubjay.tenant": TENANT}
        )
        for name in ("cache", "agent_memory")
    }
    for connection in connections.values():
        await register_vector(connection)
    headers = {"authorization": f"Bearer {cluster.tokens.admin}", "content-type": "application/json"}
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(headers=headers, connector=connector) as session:
        await fill_mission(session, urls["whole"])
        run = await statements(connections, vectors, model)
        whole = Caller(session, urls["whole"], log=True)
        bare = Caller(session, urls["without_sql"], log=False)
        for caller in (whole, bare):
            for _ in range(2 * len(questions())):
                await caller.once()
            caller.ms.clear()
            caller.retrieval_ms.clear()
        sql: dict[str, list[float]] = {"own": [], "peers": [], "cache": []}
        rates: dict[int, list[float]] = {1: [], 8: [], 32: []}
        for _ in range(rounds):
            for _ in range(each):
                await whole.once()
                for name, spent in (await run()).items():
                    sql[name].append(spent)
                await bare.once()
            for at_once, seen in rates.items():
                seen.append(await whole.throughput(at_once, seconds))
    for connection in connections.values():
        await connection.close()
    return figures(whole, bare, sql, rates)


def figures(
    whole: Caller, bare: Caller, sql: dict[str, list[float]], rates: dict[int, list[float]]
) -> dict[str, Any]:
    p50, p95 = np.percentile(whole.ms, [50, 95])
    medians = {name: float(np.median(spent)) for name, spent in sql.items()}
    slowest = max(medians.values())
    # The memory service's two statements are one request's wait.
    rate = {at_once: float(np.median(seen)) for at_once, seen in rates.items()}
    breakdown = {
        "total": p50,
        "in_the_service": np.median(whole.retrieval_ms),
        "around_it": p50 - np.median(whole.retrieval_ms),
        "without_sql": np.median(bare.ms),
        **{f"sql_{name}": spent for name, spent in medians.items()},
    }
    return {
        "p50_over_slowest_sql": round(float(p50 / slowest), 2),
        "p50_over_no_sql": round(float(p50 / np.median(bare.ms)), 2),
        "p95_over_p50": round(float(p95 / p50), 2),
        "c8_over_c1": round(rate[8] / rate[1], 2),
        "c32_over_c8": round(rate[32] / rate[8], 2),
        "breakdown_us": {name: round(float(spent) * 1000) for name, spent in breakdown.items()},
        "per_s": {str(at_once): round(seen, 1) for at_once, seen in rate.items()},
        "refused": whole.refused,
    }


def table(rows: Sequence[tuple[str, Any]]) -> str:
    return "\n".join(f"{name:28} {value}" for name, value in rows)


def main() -> None:
    small = os.environ.get("SCALE") == "small"
    rows = 5_000 if small else 100_000
    with ExitStack() as cleanup:
        folder = Path(tempfile.mkdtemp(prefix="scrubjay-bench-", dir="/tmp"))
        cleanup.callback(shutil.rmtree, folder, ignore_errors=True)
        folder.chmod(0o711)
        cluster = Cluster(folder, cleanup)
        vectors, model = asyncio.run(prepare(cluster, rows))
        urls = {kind: cluster.start(kind) for kind in ("whole", "without_sql")}
        result = asyncio.run(measure(cluster, urls, vectors, model, small))
    print(f"{rows} memories in {OTHER_TENANTS + 1} tenants, {ENTRIES} entries in the mission, seed {SEED}")
    print(table([*result.items()]))
    print(json.dumps({**result, "rows": rows, "seed": SEED}))


if __name__ == "__main__":
    main()
