"""Many writers on few missions, on two replicas, with sweeps and clears in between."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg

from local.database import Database
from services.cache.service import CacheService
from shared.database.postgres import Connection
from shared.deadline import Deadline
from tests.support.cache_services import cache_service, checkpoint, intel, principal

WRITERS, MISSIONS, SECONDS = 64, 16, 8
TOKENS, ENTRIES = 300, 12
TENANT = "crowd"
HELD = """
select coalesce(max(n), 0) as entries, coalesce(max(tokens), 0) as tokens from (
    select count(*) as n, sum(token_count) as tokens from cache.psychic_cache
    where tenant = $1 and expires_at > clock_timestamp() group by mission_id) m
"""
COUNTS = """
select m.mission_id, m.tokens, m.entries, m.written_count, m.evicted_count, m.expired_count, m.cleared_count,
       count(e.id) as held, coalesce(sum(e.token_count), 0) as held_tokens
from cache.missions m left join cache.psychic_cache e using (tenant, mission_id)
where m.tenant = $1 group by m.tenant, m.mission_id
"""
DEADLOCKS = "select deadlocks from pg_stat_database where datname = current_database()"


async def test_64_writers_on_16_missions(fresh_database: Database, redis_url: str) -> None:
    limits = {"token_budget": TOKENS, "entry_budget": ENTRIES}
    sql = await asyncpg.connect(fresh_database.admin)
    async with (
        cache_service(fresh_database, redis_url, **limits) as first,
        cache_service(fresh_database, redis_url, **limits) as second,
    ):
        written, samples = await _crowd([first, second], sql)
    rows = await sql.fetch(COUNTS, TENANT)
    deadlocks = await sql.fetchval(DEADLOCKS)
    await sql.close()
    assert deadlocks == 0
    assert max(s["entries"] for s in samples) <= ENTRIES
    assert max(s["tokens"] for s in samples) <= TOKENS
    assert sum(row["written_count"] for row in rows) == written
    for row in rows:
        assert (row["tokens"], row["entries"]) == (row["held_tokens"], row["held"]), row
        gone = row["evicted_count"] + row["expired_count"] + row["cleared_count"]
        assert row["written_count"] == row["held"] + gone, row
    print(f"{written} writes, {len(samples)} samples, {deadlocks} deadlocks")


async def _crowd(services: list[CacheService], sql: Connection) -> tuple[int, list[Any]]:
    """How many were written, and what was held at each look. Any error of any call fails."""
    who, end = principal(TENANT), time.monotonic() + SECONDS
    written = 0
    samples: list[Any] = []
    random.seed(20260704)

    async def write(number: int) -> None:
        nonlocal written
        service, mission = services[number % 2], f"m{number % MISSIONS}"
        content = "x" * random.randint(4, 400)
        ttl = random.choice([None, None, 0.2 / 3600])
        entry = intel(mission, content, ttl_hours=ttl, dispatch_id=1 + random.randrange(4))
        one = checkpoint(mission, content[:100], f"s{number % 2}") if random.random() < 0.1 else entry
        await service.writer.write(who, one, None, Deadline(60))
        written += 1

    async def clear(_: int) -> None:
        await asyncio.sleep(random.random() * 0.5)
        mission = f"m{random.randrange(MISSIONS)}"
        await random.choice(services).missions.clear(who, mission, "operator", Deadline(60))

    async def sweep(number: int) -> None:
        await asyncio.sleep(0.1)
        await services[number].sweep.sweep()
        await services[number].dispatches.sweep()

    async def sample(_: int) -> None:
        samples.append(await sql.fetchrow(HELD, TENANT))
        await asyncio.sleep(0.005)

    async def again(work: Callable[[int], Awaitable[None]], number: int) -> None:
        while time.monotonic() < end:
            await work(number)

    await sql.execute(
        "insert into cache.agent_dispatch (tenant, mission_id, agent_name, task, written_by)"
        " select $1, 'm0', 'scout', 'work', 'test' from generate_series(1, 4)",
        TENANT,
    )
    async with asyncio.TaskGroup() as tasks:
        for number in range(WRITERS):
            tasks.create_task(again(write, number))
        for work, count in ((clear, 2), (sweep, 2), (sample, 1)):
            for number in range(count):
                tasks.create_task(again(work, number))
    return written, samples
