"""A purge of a mission takes the runs over its sessions, and leaves what they taught of a user to the user."""

from __future__ import annotations

from shared.database.postgres import Connection
from tests.integration.conftest import Tenant
from tests.integration.consolidation.calls import RUNS, consolidated, facts, talked
from tests.integration.sessions.calls import ok
from tests.support.cluster import Client

_LEFT = """
select (select count(*) from memory.consolidation_runs where tenant = $1)
     + (select count(*) from memory.consolidation_state where tenant = $1)
"""


async def test_runs_over_the_sessions_of_a_mission_go_with_it(
    client: Client, admin_client: Client, sql: Connection, tenant: Tenant
) -> None:
    await consolidated(client, await talked(client, "I live in Lisbon.", mission_id="m"))
    await consolidated(client, await talked(client, "I like tea.", mission_id="other"))
    await ok(admin_client, "POST", "/api/context/purge", {"mission_id": "m"})
    (run,) = (await ok(client, "GET", RUNS))["data"]
    assert run["mission_id"] == "other"
    assert await sql.fetchval(_LEFT, tenant.name) == 2
    assert {each["object"] for each in await facts(client)} == {"Lisbon", "tea"}
