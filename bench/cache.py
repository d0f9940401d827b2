"""What a cache write costs: through HTTP, as its SQL function, and against a plain insert and a naive path.

All in one run on servers of its own, A and B taking turns, since the machine's load changes from second to
second. The embedder is away meanwhile: vectors follow writes on their own, and would take the CPU that is measured.
"""

import asyncio
import json
import os
import random
import re
import shutil
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
import msgspec

from bench.wire import Wire
from local.database import NAME, Database, create_database, create_roles, migrate
from local.process import children, free_ports
from local.servers import Postgres, Valkey, reachable
from local.services import Service, Tokens, variables
from services.cache.entries.queries_write import Put, put_entries
from services.cache.missions.queries import DefaultLimits, MissionKey
from shared.auth import Principal
from shared.database.postgres import _prepare
from shared.search.lexicon import Hints, indexed
from shared.tokens import estimate_tokens

ROUNDS = 400
WINDOW_SECONDS = 2.0
WINDOWS = 4
WRITERS = 32
MISSIONS = 16
LIMITS = DefaultLimits(token_budget=10_000, entry_budget=200, ttl_hours=24.0)
TENANT = "bench"
_SHARED = ("/tmp", "/var/tmp")  # noqa: S108

_TEXT = (
    "the orders database failed over to its replica while latency rose and retries ran out of budget because one"
    " migration held a lock on payments until the on-call engineer rolled the worker back to the last release"
)

# Everything that differs from write to write is a parameter, as it would be: the planner computes constants once.
PLAIN_INSERT = """
with entry as (
    insert into cache.psychic_cache (tenant, mission_id, context_type, content, metadata, agent_name, tags,
                                     token_count, written_by, source_kind, created_at, expires_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, clock_timestamp(), clock_timestamp() + interval '1 day')
    returning tenant, scope, id, expires_at
)
insert into cache.psychic_chunks (tenant, scope, item_id, chunk, chunks, start, stop, words, expires_at, tsv)
select e.tenant, e.scope, e.id, w.chunk, 1, w.start, w.stop, w.words, e.expires_at, w.tsv
from entry e
cross join lateral cache.chunk_words(null, $11, $12, $13, $14, $15, $16, null) w
"""
LOCK = "select 1 from cache.missions where tenant = $1 and mission_id = $2 for update"
HELD = "select sum(token_count), count(*) from cache.psychic_cache where tenant = $1 and mission_id = $2"
OLDEST = """
delete from cache.psychic_cache where tenant = $1 and id = (
    select min(id) from cache.psychic_cache where tenant = $1 and mission_id = $2)
returning token_count
"""
NEW_MISSION = "insert into cache.missions (tenant, mission_id) values ($1, $2) on conflict do nothing"
WRITER = "select pg_get_functiondef('cache.put_entries'::regproc)"

_ENTRY: dict[str, Any] = {
    "context_type": "intel",
    "metadata": {"intel_source": "bench"},
    "agent_name": "scout",
    "tags": ["bench"],
    "written_by": "bench",
    "source_kind": "agent",
    "head": "scout intel bench",
}

Write = Callable[[], Awaitable[Any]]


def content() -> str:
    words = _TEXT.split()
    return " ".join(random.choice(words) for _ in range(40))


@dataclass(frozen=True)
class Bench:
    """`sql` is one connection of the service's role, `pool` as many as the service has."""

    service: Service
    postgres: Postgres
    owner: asyncpg.Connection
    sql: asyncpg.Connection
    pool: asyncpg.Pool
    http: Wire

    async def through_http(self, mission: str) -> None:
        body = {
            "context_type": "intel",
            "mission_id": mission,
            "content": content(),
            "intel_source": "bench",
            "agent_name": "scout",
            "tags": ["bench"],
        }
        status, answer = await self.http.post("/api/psychic-cache/write", body)
        if status != 201:
            raise RuntimeError(f"a write answered {status}: {answer!r}")

    async def through_function(self, mission: str) -> None:
        text = content()
        put = Put(
            **_ENTRY,
            content=text,
            token_count=estimate_tokens(text),
            **msgspec.structs.asdict(indexed(text, Hints())),
        )
        await put_entries(self.sql, MissionKey(TENANT, mission), [put], model="none", limits=LIMITS)

    async def inserted(self, mission: str, connection: Any = None) -> None:
        text = content()
        kind, metadata, agent, tags, written_by, source_kind, head = _ENTRY.values()
        await (connection or self.sql).execute(
            PLAIN_INSERT,
            *(TENANT, mission, kind, text, metadata, agent, tags, estimate_tokens(text), written_by),
            *(source_kind, *msgspec.structs.astuple(indexed(text, Hints())), head),
        )

    async def naively(self, mission: str) -> None:
        """Lock, sum, delete one after the other, insert: a statement each."""
        async with self.pool.acquire() as connection, connection.transaction():
            await connection.execute(LOCK, TENANT, mission)
            held = await connection.fetchrow(HELD, TENANT, mission)
            assert held is not None
            tokens, entries = held
            while (tokens or 0) > LIMITS.token_budget - 70 or entries >= LIMITS.entry_budget:
                tokens -= await connection.fetchval(OLDEST, TENANT, mission)
                entries -= 1
            await self.inserted(mission, connection)

    def cpu(self) -> int:
        """Nanoseconds that the service and the server's processes have had."""
        pids = [self.service.pid, self.postgres.pid, *children(self.postgres.pid)]
        return sum(cpu_of(pid) for pid in pids)


def cpu_of(pid: int) -> int:
    total = 0
    for path in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        total += int(path.read_text().split()[0])
    return total


async def medians(*writes: Write) -> list[float]:
    """Seconds; one of each in turn, in random order: what comes after an idle moment takes longer."""
    times: dict[Write, list[float]] = {write: [] for write in writes}
    for _ in range(ROUNDS):
        for write in random.sample(writes, len(writes)):
            started = time.perf_counter()
            await write()
            times[write].append(time.perf_counter() - started)
    return [statistics.median(taken) for taken in times.values()]


async def rate(
    write: Callable[[int], Awaitable[Any]], writers: int, seconds: float = WINDOW_SECONDS
) -> float:
    """Writes a second of `writers` that go on as soon as they are answered; each gets its number."""
    end = time.perf_counter() + seconds
    started, done = time.perf_counter(), 0

    async def one(number: int) -> None:
        nonlocal done
        while time.perf_counter() < end:
            await write(number)
            done += 1

    await asyncio.gather(*(one(number) for number in range(writers)))
    return done / (time.perf_counter() - started)


async def single(bench: Bench) -> dict[str, float]:
    """Both writers work on full missions: each write evicts one."""
    for _ in range(220):
        await bench.through_http("http")
        await bench.through_function("function")
    http, function, insert = await medians(
        lambda: bench.through_http("http"),
        lambda: bench.through_function("function"),
        lambda: bench.inserted("plain"),
    )
    print(
        f"one write, p50: HTTP {http * 1e6:.0f} µs, function {function * 1e6:.0f}, insert {insert * 1e6:.0f}"
    )
    return {"http_over_sql": http / function, "sql_over_insert": function / insert}


async def hot(bench: Bench) -> float:
    """Writes a second of one mission with all writers, against the naive path at the database itself."""
    ours, naive = [], []
    for _ in range(WINDOWS):
        ours.append(await rate(lambda _: bench.through_http("hot"), WRITERS))
        naive.append(await rate(lambda _: bench.naively("naive"), WRITERS))
    print(f"one mission, {WRITERS} writers: {_listed(ours)} writes/s, naive {_listed(naive)}")
    return statistics.median(ours) / statistics.median(naive)


async def events(bench: Bench) -> float:
    """The share of a write's CPU (service and server) that its event takes, the ring included."""
    definition: str = await bench.owner.fetchval(WRITER)
    silent, count = re.subn(r"insert into timeline\.events.*?;\n", "", definition, flags=re.S)
    if count != 2:  # of one entry, and of several
        raise RuntimeError("the function does not insert its event where it was looked for")

    async def cost(function: str) -> float:
        await bench.owner.execute(function)
        before = bench.cpu()
        writes = await rate(lambda n: bench.through_http(f"m{n % MISSIONS}"), 8) * WINDOW_SECONDS
        return (bench.cpu() - before) / writes

    for _ in range(3):
        await cost(definition)
    with_event, without = [], []
    for _ in range(WINDOWS):
        without.append(await cost(silent))
        with_event.append(await cost(definition))
    print(
        f"CPU a write, µs: {_listed(x / 1e3 for x in with_event)}, no event {_listed(x / 1e3 for x in without)}"
    )
    return 1 - statistics.median(without) / statistics.median(with_event)


async def by_concurrency(bench: Bench) -> dict[str, float]:
    return {
        str(writers): round(await rate(lambda n: bench.through_http(f"m{n % MISSIONS}"), writers), 1)
        for writers in (1, 8, 32)
    }


def _listed(values: Any) -> str:
    return " ".join(f"{value:.0f}" for value in values)


async def measure(service: Service, tokens: Tokens, database: Database, postgres: Postgres) -> dict[str, Any]:
    owner = await asyncpg.connect(database.owner)
    as_tenant = {"scrubjay.tenant": TENANT}
    sql = await asyncpg.connect(database.services["cache"], server_settings=as_tenant)
    await _prepare(sql)
    pool = await asyncpg.create_pool(
        database.services["cache"], min_size=8, max_size=8, init=_prepare, server_settings=as_tenant
    )
    for mission in ("plain", "naive"):
        await owner.execute(NEW_MISSION, TENANT, mission)
    identity = Principal(tenant=TENANT, key="bench", access=frozenset({"read", "write"}))
    async with Wire("127.0.0.1", service.port, tokens.identity("cache", identity)) as http:
        bench = Bench(service, postgres, owner, sql, pool, http)
        figures: dict[str, Any] = await single(bench)
        figures["hot_mission_over_naive"] = await hot(bench)
        figures["event_share"] = await events(bench)
        figures["writes_per_s"] = await by_concurrency(bench)
    await pool.close()
    await sql.close()
    await owner.close()
    return {name: round(v, 3) if isinstance(v, float) else v for name, v in figures.items()}


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with ExitStack() as cleanup:
        parent = next(path for path in (tempfile.gettempdir(), *_SHARED) if reachable(Path(path)))
        folder = Path(tempfile.mkdtemp(prefix="scrubjay-bench-", dir=parent))
        cleanup.callback(shutil.rmtree, folder, ignore_errors=True)
        folder.chmod(0o711)
        postgres, valkey = Postgres(folder / "postgres", durable=False), Valkey(folder / "valkey")
        for server in (postgres, valkey):
            cleanup.callback(server.stop)
            server.start()
        asyncio.run(create_roles(postgres.dsn()))
        database = asyncio.run(create_database(postgres.dsn(), NAME))
        migrate(database.owner, folder / "migrations.log")
        port, away = free_ports(2)
        tokens = Tokens.make()
        settings = variables(
            "cache",
            database_url=database.services["cache"],
            redis_url=valkey.url,
            tokens=tokens,
            addresses={},
        )
        nobody = {"SCRUBJAY_EMBEDDER": "openai", "OPENAI_BASE_URL": f"http://127.0.0.1:{away}/v1"}
        service = Service(
            "cache", folder / "cache.log", port, {**settings, **nobody, "OPENAI_API_KEY": "none"}
        )
        cleanup.callback(service.stop)
        service.start()
        load = os.getloadavg()[0]
        figures = asyncio.run(measure(service, tokens, database, postgres))
    print(f"load average {load:.1f} before, {os.getloadavg()[0]:.1f} after, on {os.cpu_count()} cores\n")
    limits = {
        "http_over_sql": "<= 2",
        "sql_over_insert": "<= 1.6",
        "hot_mission_over_naive": ">= 2",
        "event_share": "<= 0.1",
    }
    for name, value in figures.items():
        print(f"{name:<24} {value!s:<40} {limits.get(name, '')}")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
