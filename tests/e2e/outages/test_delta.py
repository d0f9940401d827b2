"""An owner away: what became of its items is told later, and the answer says that it does not know."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.conftest import Servers
from tests.support.calls import lesson, note, question, until
from tests.support.cluster import Client, Cluster
from tests.support.clusters import own_cluster

MISSION = "delta-away"


@pytest.fixture
async def cluster(servers: Servers, template: str, tmp_path: Any) -> AsyncIterator[Cluster]:
    async with own_cluster("delta_away", servers, template, tmp_path) as running:
        yield running


async def test_a_change_is_told_when_its_owner_is_back(cluster: Cluster) -> None:
    (owner,) = cluster.replicas["agent_memory"]
    async with cluster.client("write") as agent:
        kept = await agent.post(
            "/api/agent-memory/commit", lesson("scout", "The orders replica lags by 9 s.")
        )
        gone = await agent.post("/api/agent-memory/commit", lesson("scout", "The orders replica is in Oslo."))
        handles = {f"own:{answer.body['memory_id']}" for answer in (kept, gone)}
        first = await _ask(agent)
        assert {source["handle"] for source in first["sources"]} == handles
        number = gone.body["memory_id"]
        assert (await agent.delete(f"/api/agent-memory/{number}")).status == 200
        owner.kill()
        entry = await agent.post("/api/psychic-cache/write", note(MISSION, "The orders replica was moved."))
        assert entry.status == 201, entry
        without = await _ask(agent)
        assert "delta" in {missing["source"] for missing in without["degraded"]}
        assert without["delta"]["corrections"] == []
        assert [source["store"] for source in without["sources"]] == ["psychic_cache"]
        await cluster.start(owner)

        async def told() -> bool:
            """Whatever comes before it, it comes once."""
            answer = await _ask(agent)
            return [one["handle"] for one in answer["delta"]["corrections"]] == [f"own:{number}"]

        await until(told)
        assert (await _ask(agent))["delta"]["corrections"] == []


async def _ask(agent: Client) -> Any:
    body = question(MISSION, "What of the orders replica?", session_id="s", delta=True)
    answer = await agent.post("/api/context/assemble", body)
    assert answer.status == 200, answer
    return answer.body
