"""The service is killed again and again while it writes: what was acknowledged and fits is there, with vectors."""

from __future__ import annotations

import asyncio
import random
import signal
from contextlib import suppress
from pathlib import Path

import aiohttp
import asyncpg

from local.database import Database
from local.process import free_port
from local.services import Service, Tokens, variables
from shared.auth import Principal
from shared.database.index_claims import LEASE_SECONDS
from tests.integration.conftest import embedder_settings
from tests.support.calls import note, until
from tests.support.fakes.fake_openai import FakeOpenAI

KILLS, MISSIONS, WRITERS = 20, 16, 32
# Entries of one size, so that what fits is a number: the budget's tokens and entries are full at once.
TOKENS, ENTRIES, SIZE = 240, 12, 20
TENANT = "killed"
HELD = "select id from cache.psychic_cache where tenant = $1 and mission_id = $2 order by id"
WITHOUT_VECTORS = """
select count(*) from cache.psychic_chunks c
where c.tenant = $1 and not exists (
    select 1 from cache.psychic_vec v where v.tenant = c.tenant and v.item_id = c.item_id and v.chunk = c.chunk)
"""
COUNTERS = """
select count(*) from cache.missions m
where tenant = $1 and (tokens, entries) not in (
    select coalesce(sum(token_count), 0)::int, count(*)::int from cache.psychic_cache e
    where e.tenant = m.tenant and e.mission_id = m.mission_id)
"""


class Load:
    """Writers that go on whatever happens, and what was acknowledged to them, by mission."""

    def __init__(self, url: str, tokens: Tokens) -> None:
        writer = Principal(tenant=TENANT, key="test", access=frozenset({"read", "write"}))
        self._session = aiohttp.ClientSession(url, headers=tokens.identity("cache", writer))
        self.acknowledged: dict[str, list[int]] = {f"m{n}": [] for n in range(MISSIONS)}
        self.broken = 0
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def count(self) -> int:
        return sum(map(len, self.acknowledged.values()))

    async def write(self, mission: str) -> None:
        body = note(
            mission, f"{random.random()} ".ljust(SIZE * 4 - len(note(mission, "")["intel_source"]), "x")
        )
        async with self._session.post("/api/psychic-cache/write", json=body) as response:
            answer = await response.json()
            assert response.status in (201, 503), answer
            if response.status == 201:
                self.acknowledged[mission].append(answer["data"]["id"])

    async def _forever(self, number: int) -> None:
        while True:
            try:
                await self.write(f"m{number % MISSIONS}")
            except (aiohttp.ClientError, OSError):
                self.broken += 1
                await asyncio.sleep(0.25)

    def start(self) -> None:
        self._tasks = [asyncio.create_task(self._forever(n)) for n in range(WRITERS)]

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with suppress(asyncio.CancelledError):
                await task
        await self._session.close()


async def test_what_was_acknowledged_survives_kills(
    fresh_database: Database, redis_url: str, embedding_api: FakeOpenAI, tmp_path: Path
) -> None:
    tokens = Tokens.make()
    settings = variables(
        "cache",
        database_url=fresh_database.services["cache"],
        redis_url=redis_url,
        tokens=tokens,
        addresses={},
    )
    settings |= embedder_settings(embedding_api)
    settings |= {"SCRUBJAY_CACHE_TOKEN_BUDGET": str(TOKENS), "SCRUBJAY_CACHE_ENTRY_BUDGET": str(ENTRIES)}
    service = Service("cache", tmp_path / "cache.log", free_port(), settings)
    load = Load(service.url, tokens)
    sql = await asyncpg.connect(fresh_database.admin)
    try:
        service.launch()
        await asyncio.to_thread(service.await_ready)
        for mission in load.acknowledged:
            for _ in range(ENTRIES):
                await load.write(mission)
        load.start()
        for _ in range(KILLS):
            await _killed_under_load(service, load)
        await load.stop()
        await _check(load, sql)
    finally:
        service.kill()
        await sql.close()


async def _killed_under_load(service: Service, load: Load) -> None:
    before = load.count

    async def is_writing() -> None:
        assert load.count > before + 50

    await until(is_writing, 60)
    await asyncio.sleep(random.random() * 0.1)
    service.send(signal.SIGKILL)
    await asyncio.to_thread(service.kill)
    service.launch()
    await asyncio.to_thread(service.await_ready)


async def _check(load: Load, sql: asyncpg.Connection[asyncpg.Record]) -> None:
    unknown = 0
    for mission, acknowledged in load.acknowledged.items():
        held = [row["id"] for row in await sql.fetch(HELD, TENANT, mission)]
        assert len(held) == ENTRIES
        newest = {entry for entry in acknowledged if entry >= held[0]}
        assert newest <= set(held)
        unknown += len(held) - len(newest)
    assert await sql.fetchval(COUNTERS, TENANT) == 0

    async def all_have_vectors() -> None:
        assert await sql.fetchval(WITHOUT_VECTORS, TENANT) == 0

    # A lease of the service that was killed last ends first.
    await until(all_have_vectors, LEASE_SECONDS + 60, every=0.5)
    print(f"{load.count} acknowledged, {load.broken} broken off, {unknown} survivors never acknowledged")
