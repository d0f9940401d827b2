"""One tenant's calls run into their deadlines; no breaker opens for another tenant."""

from __future__ import annotations

import asyncio

from shared.database.postgres import Connection
from tests.integration.conftest import Tenant
from tests.support.calls import note, question, within

MISSIONS = 6
LOCK = "select 1 from cache.missions where tenant = $1 for update"


async def test_a_tenants_late_calls_degrade_nobody_elses_answers(
    tenants: tuple[Tenant, Tenant], sql: Connection
) -> None:
    """Somebody holds the rows of the first tenant's missions, so its writes are late however short they are."""
    hostile, victim = [await tenant.client("write") for tenant in tenants]
    for number in range(MISSIONS):
        await hostile.post("/api/psychic-cache/write", note(f"m{number}", "first"))
    async with sql.transaction():
        await sql.execute(LOCK, tenants[0].name)
        for _ in range(2):
            late = await asyncio.gather(
                *(
                    hostile.post("/api/psychic-cache/write", note(f"m{number}", "late"), headers=within(600))
                    for number in range(MISSIONS)
                )
            )
            # The door refuses some of them before they start.
            statuses = {answer.status for answer in late}
            assert 503 in statuses <= {429, 503}
            for _ in range(3):
                written = await victim.post("/api/psychic-cache/write", note("mine", "a note"))
                assert written.status == 201, written
                assembled = await victim.post("/api/context/assemble", question("mine", "a note"))
                assert (assembled.status, assembled.body["degraded"]) == (200, []), assembled
