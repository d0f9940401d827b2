"""What row-level security costs: each request and statement, in turns, with the policies and without them.

The database without policies is a copy of the other, on the same server, and both are asked the same. `cost` is the
median of the pairs' ratios, so 1.03 is three per cent; `low` and `high` are the ends of its 95 % interval. `medians` is
the ratio of the two medians, which is less exact where one question takes longer than another.

- `assemble` goes through services of their own, each on its database, over 30,000 memories and a mission.
- `own`, `peers` and `entries` are the statements of such a request, without copies in memory. They take a
  few milliseconds, and runs differ by 4 per cent from each other there, so no bar is set for them.
- `write` goes to cache services. The embedder is away: vectors that follow a write would take the CPU of the next.
- `agents_own`, `agents_peers`, `tenants_own` and `tenants_peers` are the searches of `bench.recall` over 100,000
  memories of one tenant, which are searched through HNSW, and of a hundred tenants.

`SCALE=small python -m bench.policies` takes a tenth of the rows, and a tenth of the questions.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any

import aiohttp
import asyncpg
import numpy as np
from numpy.typing import NDArray
from pgvector.asyncpg import register_vector

from bench.assemble.asking import fill_mission, prepare, statements
from bench.assemble.cluster import Caller, Cluster
from bench.assemble.data import TENANT
from bench.policies.removal import remove_policies
from bench.recall.data import SEED, Held, load, many_tenants, one_tenant
from bench.recall.measuring import Measured, questions
from local.database import NAME, Database, create_database
from local.process import free_ports, stop_together
from local.services import NAMES
from shared.auth import Principal

_WARM, _RESAMPLED, _BAR = 60, 1_000, 1.03
_NAMES = {"own": "own", "peers": "peers", "cache": "entries"}

Milliseconds = dict[str, dict[str, list[float]]]
"""Of what was asked, with policies (`on`) and without (`off`)."""


def cost(on: Sequence[float], off: Sequence[float]) -> dict[str, float]:
    """Of milliseconds in pairs. The interval is a bootstrap's."""
    ratios = np.array(on) / np.array(off)
    drawn = np.random.default_rng(SEED).choice(ratios, size=(_RESAMPLED, len(ratios)))
    low, high = np.percentile(np.median(drawn, axis=1), [2.5, 97.5])
    figures = {
        "cost": np.median(ratios),
        "low": low,
        "high": high,
        "medians": np.median(on) / np.median(off),
        "on_ms": np.median(on),
        "off_ms": np.median(off),
    }
    return {name: round(float(value), 3) for name, value in figures.items()} | {"asked": len(on)}


async def without_policies(cluster: Cluster) -> Database:
    """A copy of the cluster's database, to which nobody may be connected."""
    copied = await create_database(cluster.postgres.dsn(), "off", template=NAME)
    await remove_policies(copied.owner)
    return copied


async def _analyze(databases: Mapping[str, Database]) -> None:
    """Plans depend on statistics, and a copy begins without those that autovacuum has not yet made."""
    for database in databases.values():
        owner = await asyncpg.connect(database.admin)
        await owner.execute("vacuum analyze")
        await owner.close()


async def ask_services(
    cluster: Cluster,
    databases: Mapping[str, Database],
    urls: Mapping[str, str],
    vectors: NDArray[np.float32],
    model: str,
    rounds: int,
) -> Milliseconds:
    spent: Milliseconds = defaultdict(lambda: {"on": [], "off": []})
    headers = {"authorization": f"Bearer {cluster.tokens.admin}", "content-type": "application/json"}
    async with AsyncExitStack() as cleanup:
        session = await cleanup.enter_async_context(aiohttp.ClientSession(headers=headers))
        for url in urls.values():
            await fill_mission(session, url)
        await _analyze(databases)
        run = {}
        for kind, database in databases.items():
            connections = {}
            for name in ("cache", "agent_memory"):
                tenant = {"scrubjay.tenant": TENANT}
                connections[name] = await asyncpg.connect(database.services[name], server_settings=tenant)
                cleanup.push_async_callback(connections[name].close)
                await register_vector(connections[name])
            run[kind] = await statements(connections, vectors, model)
        callers = {kind: Caller(session, url, log=True) for kind, url in urls.items()}
        for turn in range(rounds + _WARM):
            order = _order(turn)
            for kind in order:
                await callers[kind].once()
            for kind in order:
                for name, ms in (await run[kind]()).items():
                    if turn >= _WARM:
                        spent[_NAMES[name]][kind].append(ms)
        for kind, caller in callers.items():
            assert not caller.refused, "a request for context was refused"
            spent["assemble"][kind] = caller.ms[_WARM:]
    return spent


async def write(cluster: Cluster, urls: Mapping[str, str], rounds: int) -> Milliseconds:
    """`urls` are those of cache services."""
    admin = Principal(TENANT, "env:admin", frozenset({"read", "write", "admin"}))
    spent: dict[str, list[float]] = {kind: [] for kind in urls}
    async with aiohttp.ClientSession(headers=cluster.tokens.identity("cache", admin)) as session:
        for turn in range(rounds + _WARM):
            body = {
                "context_type": "intel",
                "mission_id": "writes",
                "content": f"replica {turn} lagged behind in run {turn * 7}: raise the timeout",
                "intel_source": "bench",
            }
            for kind in _order(turn):
                started = time.perf_counter()
                async with session.post(urls[kind] + "/api/psychic-cache/write", json=body) as response:
                    assert response.status == 201, await response.text()
                    await response.read()
                spent[kind].append((time.perf_counter() - started) * 1000)
    return {"write": {kind: ms[_WARM:] for kind, ms in spent.items()}}


def _order(turn: int) -> tuple[str, str]:
    return ("on", "off") if turn % 2 else ("off", "on")


async def ask_recall(databases: Mapping[str, Database], held: Sequence[Held], rounds: int) -> Milliseconds:
    """`databases` hold what `held` names."""
    await _analyze(databases)
    async with AsyncExitStack() as cleanup:
        measured = {}
        for kind, database in databases.items():
            dsns = database.services["agent_memory"], database.owner
            service, owner = [await asyncpg.connect(dsn) for dsn in dsns]
            for connection in (service, owner):
                cleanup.push_async_callback(connection.close)
                await register_vector(connection)
            measured[kind] = Measured(service, owner, held)
        asked = await questions(owner, held, 100)
        for turn in range(rounds + len(asked)):
            order = _order(turn)
            one = asked[turn % len(asked)]
            for kind in order:
                await measured[kind].search_own(one)
            for kind in order:
                await measured[kind].search_peers(one)
        return {
            "own": {kind: one.own.ms[len(asked) :] for kind, one in measured.items()},
            "peers": {kind: one.peers.ms[len(asked) :] for kind, one in measured.items()},
        }


async def _load(database: Database, held: Sequence[Held]) -> None:
    owner = await asyncpg.connect(database.owner)
    await register_vector(owner)
    await load(owner, held)
    await owner.close()


def cluster_in(cleanup: ExitStack) -> Cluster:
    folder = Path(tempfile.mkdtemp(prefix="scrubjay-bench-", dir="/tmp"))
    cleanup.callback(shutil.rmtree, folder, ignore_errors=True)
    folder.chmod(0o711)
    return Cluster(folder, cleanup)


def services(rows: int, rounds: int) -> Milliseconds:
    with ExitStack() as cleanup:
        cluster = cluster_in(cleanup)
        vectors, model = asyncio.run(prepare(cluster, rows))
        databases = {"on": cluster.database, "off": asyncio.run(without_policies(cluster))}
        urls, caches = {}, {}
        for kind, database in databases.items():
            cluster.database = database
            urls[kind] = cluster.start(kind)
        spent = asyncio.run(ask_services(cluster, databases, urls, vectors, model, rounds))
        (away,) = free_ports(1)
        nobody = {"SCRUBJAY_EMBEDDER": "openai", "OPENAI_BASE_URL": f"http://127.0.0.1:{away}/v1"}
        for kind, database in databases.items():
            stop_together(cluster.services[kind][::-1])
            cluster.database = database
            cluster.start(f"write-{kind}", {**nobody, "OPENAI_API_KEY": "none"})
            caches[kind] = cluster.services[f"write-{kind}"][NAMES.index("cache")].url
        return spent | asyncio.run(write(cluster, caches, rounds))


def recall(held: Sequence[Held], rounds: int) -> Milliseconds:
    with ExitStack() as cleanup:
        cluster = cluster_in(cleanup)
        asyncio.run(_load(cluster.database, held))
        databases = {"on": cluster.database, "off": asyncio.run(without_policies(cluster))}
        return asyncio.run(ask_recall(databases, held, rounds))


def main() -> None:
    small = os.environ.get("SCALE") == "small"
    rounds, less = (100, 10) if small else (1_000, 1)
    spent = services(30_000 // less, rounds)
    for name, held in (("agents", one_tenant(100_000 // less)), ("tenants", many_tenants(100_000 // less))):
        spent |= {f"{name}_{arm}": both for arm, both in recall(held, rounds // 2).items()}
    figures: dict[str, Any] = {name: cost(both["on"], both["off"]) for name, both in spent.items()}
    for name, row in figures.items():
        print(f"{name:<16}" + "  ".join(f"{key} {value}" for key, value in row.items()))
    most = max(row["cost"] for name, row in figures.items() if name not in _NAMES.values())
    print(f"most {most}, bar {_BAR}")
    print(json.dumps({"policies_cost": most, "bar": _BAR, **figures}))


if __name__ == "__main__":
    main()
