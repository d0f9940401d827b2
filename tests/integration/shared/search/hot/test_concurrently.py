"""Copies of a mission while many write it and many ask: every answer is of a state that the mission had."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from functools import partial
from uuid import uuid4

import pytest

from local.database import Database
from services.cache.entries.queries_search import HOT, SEARCH, missions_scope
from services.cache.missions.schemas import MissionLimits
from services.cache.service import CacheService
from shared.database.postgres import Database as Pool
from shared.deadline import Deadline
from shared.search.store import StoreQuery
from tests.support.cache_services import cache_service, intel, principal
from tests.support.hot import STORE, Replica

MISSION = "m"
WRITERS, WRITES, READERS = 4, 25, 4
QUERY = StoreQuery(query="Which crane?", vector=None, model="away")


@pytest.fixture
async def service(database: Database, redis_url: str) -> AsyncIterator[CacheService]:
    async with cache_service(database, redis_url) as service:
        yield service


@pytest.fixture
async def pool(database: Database) -> AsyncIterator[Pool]:
    pool = Pool(database.services["cache"])
    await pool.open()
    yield pool
    await pool.close()


async def test_who_wrote_finds_it_and_who_deleted_does_not(service: CacheService, pool: Pool) -> None:
    who, chance = principal(f"hot-{uuid4().hex[:8]}"), random.Random(7)
    scope = missions_scope(who.tenant, [f"mission:{MISSION}"])
    run = partial(pool.run, who.tenant, deadline=Deadline(120))
    replicas = [Replica(pool, SEARCH, HOT) for _ in range(2)]
    limits = MissionLimits(entry_budget=1_000)
    await service.missions.set_limits(who, MISSION, limits, Deadline(60))
    await service.writer.write(who, intel(MISSION, "The first crane."), None, Deadline(60))
    for replica in replicas:
        await replica.warm(QUERY, scope, run)

    async def found(replica: Replica, query: StoreQuery) -> set[int]:
        result = await run(partial(replica.hot.find, query=query, scope=scope))
        assert replica.has_copies(query, scope), "the statement answered"
        return {each.id for each in result.evidence.stores[STORE].candidates}

    async def write(number: int) -> None:
        """Each writer asks for a word that only its own entry has."""
        for turn in range(WRITES):
            word = f"crane{number}x{turn}"
            entry = await service.writer.write(who, intel(MISSION, f"It is {word}."), None, Deadline(120))
            query = StoreQuery(query=word, vector=None, model="away")
            assert await found(chance.choice(replicas), query) == {entry.id}
            if turn % 3 == 0:
                await service.entries.delete(who, entry.id, Deadline(120))
                assert await found(chance.choice(replicas), query) == set()

    writing = asyncio.gather(*(write(number) for number in range(WRITERS)))

    async def read(replica: Replica) -> None:
        while not writing.done():
            await found(replica, QUERY)

    await asyncio.gather(writing, *(read(chance.choice(replicas)) for _ in range(READERS)))
    for replica in replicas:
        await run(partial(replica.agree, query=QUERY, scope=scope))
