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
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import aiohttp
import asyncpg
import msgspec
import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector
from pgvector.asyncpg import register_vector

from local.database import NAME, create_database, create_roles, migrate
from local.process import free_ports, stop_together
from local.servers import Postgres, Valkey
from local.services import NAMES, Service, Tokens, variables
from services.agent_memory.memories import queries_search as memory_queries
from services.cache.entries import queries_search as cache_queries
from shared.embeddings.local import LocalEmbedder, load_model
from shared.search.sql import scope_key, search
from shared.search.store import StoreQuery

SEED = 20_265
TENANT, CALLER, MISSION = "default", "agent-0", "orders"
OTHER_TENANTS = 49
AGENTS = 10
ENTRIES = 200
# One statement per service is what a request needs at least; the slowest of them bounds it.
_SUBJECTS = [
    "orders database",
    "payment worker",
    "ledger replica",
    "webhook queue",
    "search index",
    "cache shard",
]
_EVENTS = [
    "failover took minutes",
    "lost its lease",
    "retries doubled the load",
    "lagged behind",
    "ran out of space",
]
_LESSONS = [
    "fence it first",
    "drain before restart",
    "raise the timeout",
    "check the lag",
    "never retry a 409",
]
_NOISE = 0.35

Random = np.random.Generator


def texts(random: Random, count: int) -> list[str]:
    return [
        f"{random.choice(_SUBJECTS)} {random.choice(_EVENTS)} in run {random.integers(10_000)}:"
        f" {random.choice(_LESSONS)}, said {random.choice(_SUBJECTS)} owner {random.integers(500)}"
        for _ in range(count)
    ]


def questions() -> list[str]:
    return [f"What happens when the {subject} {event}?" for subject in _SUBJECTS for event in _EVENTS]


_ITEMS = """
insert into memory.agent_memory
    (tenant, agent_name, content, content_hash, memory_type, token_count, chunks, written_by, source_kind)
select $1, 'agent-' || (u.place % $3), u.content, sha256(convert_to(u.place || u.content, 'utf8')), 'lesson_learned',
       length(u.content) / 4, 1, 'k', 'agent'
from unnest($2::text[]) with ordinality u(content, place) order by u.place
returning id, scope
"""
_CHUNKS = """
insert into memory.agent_memory_chunks
    (tenant, scope, item_id, chunk, chunks, start, stop, words, private, tsv, scoped)
select $1, u.scope, u.id, 0, 1, 0, length(u.body), w.words, false, w.tsv, w.scoped
from unnest($2::bigint[], $3::text[], $4::text[], $5::text[]) u(id, scope, key, body)
cross join lateral memory.chunk_words(array[u.key, $6], array[0], array[length(u.body)], array[u.body], '', null) w
"""


async def load(
    connection: asyncpg.Connection[Any], rows: int, seeds: NDArray[np.float32], model: str
) -> None:
    """`rows` memories over the tenants, with vectors around those of real sentences."""
    random = np.random.default_rng(SEED)
    # Every tenant is small enough for exact search: no statement of this bench uses it.
    await connection.execute("drop index memory.agent_memory_vec_nearest")
    each = rows // (OTHER_TENANTS + 1)
    for tenant in [TENANT, *(f"tenant-{number}" for number in range(OTHER_TENANTS))]:
        bodies = texts(random, each)
        items = await connection.fetch(_ITEMS, tenant, bodies, AGENTS)
        ids, scopes = [row["id"] for row in items], [row["scope"] for row in items]
        keys = [scope_key(tenant, scope) for scope in scopes]
        every = scope_key(tenant, memory_queries.EVERY_AGENT)
        await connection.execute(_CHUNKS, tenant, ids, scopes, keys, bodies, every)
        await connection.copy_records_to_table(
            "agent_memory_vec",
            schema_name="memory",
            columns=["tenant", "scope", "item_id", "chunk", "model", "embedding"],
            records=[
                (tenant, scope, id_, 0, model, HalfVector(vector))
                for id_, scope, vector in zip(ids, scopes, around(random, seeds, each), strict=True)
            ],
        )
    await connection.execute("vacuum analyze")


def around(random: Random, seeds: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """Shape (count, 512), unit length, near the vectors of real sentences."""
    chosen = seeds[random.integers(len(seeds), size=count)]
    noise = random.normal(size=chosen.shape) * (chosen != 0)
    noisy = chosen + _NOISE * noise / np.linalg.norm(noise, axis=1, keepdims=True)
    unit: NDArray[np.float32] = (noisy / np.linalg.norm(noisy, axis=1, keepdims=True)).astype(np.float32)
    return unit


class Cluster:
    """The three services, and a context of its own over owners that remember their rows."""

    def __init__(self, folder: Path, cleanup: ExitStack) -> None:
        self.tokens = Tokens.make()
        postgres, valkey = Postgres(folder / "postgres", durable=False), Valkey(folder / "valkey")
        for server in (postgres, valkey):
            cleanup.callback(server.stop)
            server.start()
        self._redis = valkey.url
        asyncio.run(create_roles(postgres.dsn()))
        self.database = asyncio.run(create_database(postgres.dsn(), NAME))
        migrate(self.database.owner, folder / "migrations.log")
        self._folder = folder
        self._cleanup = cleanup

    def start(self, kind: str) -> str:
        """The context's address. `kind` is whole or without_sql."""
        ports = dict(zip(NAMES, free_ports(len(NAMES)), strict=True))
        addresses = {name: f"http://127.0.0.1:{port}" for name, port in ports.items()}
        services = []
        for name in NAMES:
            given = variables(
                name,
                database_url=self.database.services[name],
                redis_url=self._redis,
                tokens=self.tokens,
                addresses=addresses,
            )
            service = Service(
                name, self._folder / f"{kind}-{name}.log", ports[name], {**given, "BENCH_SERVICE": name}
            )
            if kind == "without_sql" and name != "context":
                service.module = "bench.without_sql"
            services.append(service)
        self._cleanup.callback(stop_together, services[::-1])
        for service in services:
            service.launch()
        for service in services:
            service.await_ready()
        return addresses["context"]


class Caller:
    def __init__(self, session: aiohttp.ClientSession, url: str, *, log: bool) -> None:
        self._session, self._url = session, url + "/api/context/assemble"
        self._bodies = [
            msgspec.json.encode(
                {
                    "query": one,
                    "caller": CALLER,
                    "mission_namespace": MISSION,
                    "token_budget": 2000,
                    "log": log,
                }
            )
            for one in questions()
        ]
        self.ms: list[float] = []
        self.retrieval_ms: list[float] = []
        self.refused = 0
        self._next = 0

    async def once(self) -> None:
        self._next += 1
        started = time.perf_counter()
        body = self._bodies[self._next % len(self._bodies)]
        async with self._session.post(self._url, data=body) as response:
            answer = await response.read()
        if response.status != 200:
            self.refused += 1
            return
        self.ms.append((time.perf_counter() - started) * 1000)
        self.retrieval_ms.append(msgspec.json.decode(answer)["retrieval_ms"])

    async def throughput(self, at_once: int, seconds: float) -> float:
        """Requests a second."""
        end = time.perf_counter() + seconds
        before, started = len(self.ms), time.perf_counter()

        async def worker() -> None:
            while time.perf_counter() < end:
                await self.once()

        await asyncio.gather(*(worker() for _ in range(at_once)))
        done = len(self.ms) - before
        del self.ms[before:], self.retrieval_ms[before:]
        return done / (time.perf_counter() - started)


async def statements(
    connections: dict[str, asyncpg.Connection[Any]], vectors: NDArray[np.float32], model: str
) -> Callable[[], Awaitable[dict[str, float]]]:
    """A function that runs each statement of one request, alone, and answers its milliseconds."""
    asked = questions()
    place = 0

    async def timed(call: Awaitable[Any]) -> float:
        started = time.perf_counter()
        await call
        return (time.perf_counter() - started) * 1000

    async def run() -> dict[str, float]:
        nonlocal place
        place += 1
        query, vector = asked[place % len(asked)], HalfVector(vectors[place % len(asked)])
        memory, cache = connections["agent_memory"], connections["cache"]
        asking = StoreQuery(query=query, vector=vector, model=model)
        own = asking.values(memory_queries.own_scope(TENANT, CALLER))
        peers = asking.values(memory_queries.peers_scope(TENANT, CALLER))
        entries = asking.values(cache_queries.missions_scope(TENANT, [f"mission:{MISSION}"]))
        return {
            "own": await timed(search(memory, memory_queries.SEARCH_OWN, own)),
            "peers": await timed(search(memory, memory_queries.SEARCH_PEERS, peers)),
            "cache": await timed(search(cache, cache_queries.SEARCH, entries)),
        }

    return run


async def fill_mission(session: aiohttp.ClientSession, url: str) -> None:
    random = np.random.default_rng(SEED + 1)
    for text in texts(random, ENTRIES):
        body = {"context_type": "intel", "mission_id": MISSION, "content": text, "intel_source": "bench"}
        async with session.post(url + "/api/psychic-cache/write", json=body) as response:
            assert response.status == 201, await response.text()
    await asyncio.sleep(3)


async def measure(
    cluster: Cluster, urls: dict[str, str], vectors: NDArray[np.float32], model: str, small: bool
) -> Any:
    rounds, each, seconds = (3, 30, 1.5) if small else (6, 60, 4.0)
    connections = {
        name: await asyncpg.connect(cluster.database.services[name]) for name in ("cache", "agent_memory")
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


async def prepare(cluster: Cluster, rows: int) -> tuple[NDArray[np.float32], str]:
    embedder = LocalEmbedder(*load_model())
    random = np.random.default_rng(SEED + 2)
    seeds = await embedder.embed(texts(random, 120), "document")
    vectors = await embedder.embed(questions(), "query")
    connection = await asyncpg.connect(cluster.database.owner)
    await register_vector(connection)
    await load(connection, rows, seeds, embedder.model)
    await connection.close()
    await embedder.close()
    return vectors, embedder.model


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
