"""Where the time of one write goes: each layer alone, on a server that syncs its disk and on one that does not.

The embedder is away: vectors follow writes on their own, and would take the processors that are measured.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from typing import Any, NamedTuple

import asyncpg

from bench.assemble.cluster import Cluster
from bench.cache import NEW_MISSION, TENANT, Bench, Write, content, cpu_of, medians
from bench.wire import Wire
from local.process import children, free_ports
from local.servers import temporary_folder
from local.services import Service
from shared.auth import Principal
from shared.database.postgres import _prepare

_CPU_WRITES = 300
# A transaction that writes one row of eight bytes: the round trip, the commit, and the wait for the disk.
_FLOOR = "insert into public.floor values ($1)"


class Layers(NamedTuple):
    cluster: Cluster
    writes: dict[str, Write]


def away() -> dict[str, str]:
    """Settings of a service whose embedder nobody runs."""
    (port,) = free_ports(1)
    return {
        "SCRUBJAY_EMBEDDER": "openai",
        "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1",
        "OPENAI_API_KEY": "none",
    }


@asynccontextmanager
async def layers(cluster: Cluster, context: str) -> AsyncIterator[Layers]:
    services = {service.name: service for service in cluster.services["away"]}
    async with AsyncExitStack() as cleanup:
        owner = await asyncpg.connect(cluster.database.owner)
        cleanup.push_async_callback(owner.close)
        as_tenant = {"scrubjay.tenant": TENANT}
        sql = await asyncpg.connect(cluster.database.services["cache"], server_settings=as_tenant)
        cleanup.push_async_callback(sql.close)
        await _prepare(sql)
        await owner.execute("create table public.floor (n bigint)")
        await owner.execute(NEW_MISSION, TENANT, "plain")
        identity = Principal(tenant=TENANT, key="bench", access=frozenset({"read", "write"}))
        cache = await cleanup.enter_async_context(
            Wire.to(services["cache"].url, cluster.tokens.identity("cache", identity))
        )
        both = await cleanup.enter_async_context(
            Wire.to(context, {"authorization": f"Bearer {cluster.tokens.admin}"})
        )
        pool = await cleanup.enter_async_context(
            asyncpg.create_pool(cluster.database.services["cache"], min_size=0)
        )
        bench = Bench(services["cache"], cluster.postgres, owner, sql, pool, cache)
        yield Layers(
            cluster,
            {
                "a row of eight bytes": lambda: owner.execute(_FLOOR, 1),
                "an entry with its words": lambda: bench.inserted("plain"),
                "cache.put_entries": lambda: bench.through_function("function"),
                "cache service": lambda: bench.through_http("http"),
                "context service": lambda: _through_context(both),
            },
        )


async def _through_context(http: Wire) -> None:
    body = {
        "context_type": "intel",
        "mission_id": "context",
        "content": content(),
        "intel_source": "bench",
        "agent_name": "scout",
        "tags": ["bench"],
    }
    status, answer = await http.post("/api/psychic-cache/write", body)
    if status != 201:
        raise RuntimeError(f"a write answered {status}: {answer!r}")


async def microseconds(of: Layers) -> dict[str, int]:
    for write in of.writes.values():
        for _ in range(220):
            await write()
    times = await medians(*of.writes.values())
    return {name: round(1e6 * time) for name, time in zip(of.writes, times, strict=True)}


async def processor(of: Layers) -> dict[str, dict[str, int]]:
    """Microseconds of each process for a write of each layer."""
    found = {}
    for name, write in of.writes.items():
        before = _cpu(of.cluster)
        for _ in range(_CPU_WRITES):
            await write()
        after = _cpu(of.cluster)
        found[name] = {
            process: round((after[process] - before[process]) / _CPU_WRITES / 1e3) for process in after
        }
    return found


def _cpu(cluster: Cluster) -> dict[str, int]:
    services: list[Service] = cluster.services["away"]
    postgres = cluster.postgres.pid
    return {
        "Postgres": sum(cpu_of(pid) for pid in (postgres, *children(postgres))),
        **{service.name: cpu_of(service.pid) for service in services if service.name != "agent-memory"},
    }


async def _measure(clusters: Mapping[str, tuple[Cluster, str]]) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for name, (cluster, context) in clusters.items():
        async with layers(cluster, context) as of:
            figures[name] = {"us": await microseconds(of), "cpu_us": await processor(of)}
    return figures


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with ExitStack() as cleanup:
        clusters = {}
        for name, durable in (("fsync", True), ("no fsync", False)):
            folder = cleanup.enter_context(temporary_folder("scrubjay-layers-"))
            cluster = Cluster(folder, cleanup, durable=durable)
            clusters[name] = cluster, cluster.start("away", away())
        figures = asyncio.run(_measure(clusters))
    print(_table(figures))
    print(json.dumps(figures))


def _table(figures: Mapping[str, Any]) -> str:
    durable, other = figures["fsync"], figures["no fsync"]
    processes = next(iter(durable["cpu_us"].values()))
    rows = [["", "p50 µs", "p50 µs, no fsync", *(f"CPU µs, {name}" for name in processes)]]
    rows.append(["---"] * len(rows[0]))
    rows += [
        [
            name,
            f"{us:.0f}",
            f"{other['us'][name]:.0f}",
            *(f"{v:.0f}" for v in durable["cpu_us"][name].values()),
        ]
        for name, us in durable["us"].items()
    ]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


if __name__ == "__main__":
    main()
