"""Clearing a mission while a writer makes it."""

from __future__ import annotations

import asyncio

import asyncpg
import pytest

from local.database import Database
from services.cache.missions import queries
from services.cache.missions.queries import MissionKey
from shared.database.postgres import Connection
from shared.deadline import Deadline
from tests.support.cache_services import cache_service, intel, principal

TENANT, MISSION = "clear", "new"
COUNTS = """
select m.entries, (select count(*) from cache.psychic_cache e where e.tenant = m.tenant and e.mission_id = m.mission_id)
       as held
from cache.missions m where m.tenant = $1 and m.mission_id = $2
"""


async def test_counters_hold_when_a_mission_is_made_while_it_is_cleared(
    database: Database, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, who = queries.lock_mission, principal(TENANT)
    sql = await asyncpg.connect(database.admin)
    blocker = sql.transaction()
    async with cache_service(database, redis_url) as service:

        async def write(content: str) -> None:
            await service.writer.write(who, intel(MISSION, content), None, Deadline(30))

        async def lock_then_others_write(connection: Connection, mission: MissionKey) -> bool:
            """One entry is there when the clear begins, another is on its way."""
            locked = await lock(connection, mission)
            await write("first")
            await blocker.start()
            await sql.execute(queries.LOCK_MISSION, TENANT, MISSION)
            writing.append(asyncio.create_task(write("second")))
            writing.append(asyncio.create_task(_release(blocker)))
            return locked

        writing: list[asyncio.Task[None]] = []
        monkeypatch.setattr(queries, "lock_mission", lock_then_others_write)
        await service.missions.clear(who, MISSION, "operator", Deadline(30))
        await asyncio.gather(*writing)
    rows = await sql.fetch(COUNTS, TENANT, MISSION)
    await sql.close()
    assert [row["entries"] for row in rows] == [row["held"] for row in rows] == [2]


async def _release(blocker: asyncpg.transaction.Transaction) -> None:
    await asyncio.sleep(0.3)
    await blocker.commit()
