"""What nobody states again weighs less in a block, until consolidation learns it again."""

from __future__ import annotations

from shared.database.postgres import Connection
from tests.integration.conftest import Tenant
from tests.integration.consolidation.calls import RUNS, consolidated, say, talked
from tests.integration.sessions.calls import ok
from tests.support.calls import Json
from tests.support.cluster import Client

_AGE = "update memory.facts set recorded_at = recorded_at - interval '365 days' where tenant = $1 and object = $2"


async def _likes(client: Client) -> dict[str, Json]:
    body = {"query": "What does Ana like?", "caller": "scout", "user_id": "Ana", "token_budget": 2_000}
    answer = await ok(client, "POST", "/api/context/assemble", body)
    return {fact["object"]: fact for fact in answer["graph"] if fact["predicate"] == "likes"}


async def test_a_fact_fades_until_it_is_learned_again(
    client: Client, sql: Connection, tenant: Tenant
) -> None:
    session = await talked(client, "I like tea.", "I like jazz.")
    await consolidated(client, session)
    assert [*await _likes(client)] == ["jazz", "tea"]
    await sql.execute(_AGE, tenant.name, "jazz")
    faded = await _likes(client)
    assert [*faded] == ["tea", "jazz"]
    assert (faded["tea"]["weight"], faded["jazz"]["weight"]) == (1.0, 0.75)
    assert faded["jazz"]["half_life_days"] == 365.0
    await consolidated(client, session, from_start=True)
    assert (await _likes(client))["jazz"]["confirmations"] == 0, "it is the same turn"
    await say(client, session, "I like jazz.", day=2)
    run = await consolidated(client, session)
    again = (await _likes(client))["jazz"]
    assert (again["weight"], again["confirmations"]) == (1.0, 1)
    assert again["stated_at"] > faded["jazz"]["stated_at"]
    await ok(client, "POST", f"{RUNS}/{run['run_id']}/undo", {})
    undone = (await _likes(client))["jazz"]
    assert (undone["weight"], undone["confirmations"]) == (0.75, 0)
