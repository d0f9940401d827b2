"""Sessions are learned from at their end if somebody asks for it, and on a schedule."""

from __future__ import annotations

import pytest

from tests.integration.conftest import Tenant
from tests.integration.consolidation.calls import RUNS, consolidated, facts, say, talked
from tests.integration.sessions.calls import ok
from tests.support.calls import until
from tests.support.cluster import Client


async def _learned(client: Client, count: int) -> None:
    async def check() -> None:
        runs = (await ok(client, "GET", RUNS))["data"]
        assert [run["status"] for run in runs] == ["finished"] * count

    await until(check)


async def test_a_session_is_learned_from_at_its_end(client: Client) -> None:
    asked = await talked(client, "I live in Lisbon.")
    not_asked = await talked(client, "I live in Porto.", user_id="bo")
    await ok(client, "POST", f"{not_asked}/complete", {})
    await ok(client, "POST", f"{asked}/complete", {"consolidate": True})
    await _learned(client, 1)
    (fact,) = await facts(client)
    assert (fact["object"], fact["written_by"], fact["agent_name"]) == ("Lisbon", "consolidation", "scout")
    assert await facts(client, "bo") == []


@pytest.mark.parametrize("whole_agent", [False, True])
async def test_a_session_is_learned_from_at_its_reset(
    client: Client, tenant: Tenant, whole_agent: bool
) -> None:
    session = await talked(client, "I live in Lisbon.")
    named = {"agent_name": "scout"} if whole_agent else {"session_id": session.rpartition("/")[2]}
    await ok(client, "POST", "/api/sessions/reset", {**named, "consolidate": True})
    await _learned(client, 1)
    await say(client, session, "I live in Porto.", day=2)
    await ok(client, "POST", "/api/sessions/reset", {**named, "consolidate": True})
    await _learned(client, 2)
    assert [each["object"] for each in await facts(client)] == ["Porto"]


async def test_what_an_agents_key_wrote_is_its_agents_word_whoever_runs(
    client: Client, tenant: Tenant
) -> None:
    """Otherwise an agent would speak for its user by closing the session."""
    scout = await tenant.client("write", agent="scout")
    session = await talked(scout, "I live in Lisbon.")
    await ok(scout, "POST", f"{session}/complete", {"consolidate": True})
    await _learned(client, 1)
    (fact,) = await facts(client)
    assert (fact["object"], fact["source_claim"]) == ("Lisbon", "agent")


@pytest.mark.parametrize("bound", [{"agent": "mallory"}, {"missions": ["moria"]}])
async def test_what_a_bound_key_wrote_ends_nothing_of_others_whoever_runs(
    client: Client, tenant: Tenant, bound: dict[str, object]
) -> None:
    """Otherwise a key would end facts that it may not end, by closing the session."""
    await consolidated(client, await talked(client, "I live in Lisbon."))
    mallory = await tenant.client("write", **bound)
    session = await talked(mallory, "I live in Porto.", agent_name="mallory", mission_id="moria")
    await ok(mallory, "POST", f"{session}/complete", {"consolidate": True})
    await _learned(client, 2)
    found = {each["object"]: (each["agent_name"], each["valid_to"]) for each in await facts(client)}
    assert found == {"Lisbon": ("scout", None), "Porto": ("mallory", None)}
