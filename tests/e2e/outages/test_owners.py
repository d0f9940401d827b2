"""An owner killed or frozen: assemble answers without it and says so, its own routes answer 503."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from services.context import stores
from shared.search.evidence import GRAPH
from tests.conftest import Servers
from tests.support.calls import BUSY_SLACK, assert_unavailable, lesson, note, question, timed, until, within
from tests.support.cluster import Answer, Client, Cluster
from tests.support.clusters import own_cluster

MISSION = "owners"
# A frozen owner does what it was asked when it thaws, long after the 503.
OTHER = "unanswered"
# What the other one stores of what is remembered while this one is away.
KEEPS = {"agent_memory": "psychic_cache", "cache": "agent_memory"}
STORES = {"agent_memory": ["agent_memory_own", "agent_memory_peer"], "cache": ["psychic_cache"]}
MISSING = {
    owner: {GRAPH, *names} if owner == "agent_memory" else names
    for owner in ("agent_memory", "cache")
    for names in [
        {store.name for store in stores.STORES if store.owner == owner and store not in stores.ON_REQUEST}
    ]
}
"""What an assembly lacks without an owner."""
ROUTES: dict[str, list[tuple[str, str, Any]]] = {
    "agent_memory": [
        ("POST", "/api/agent-memory/commit", lesson("scout", "Nobody hears this.")),
        ("POST", "/api/agent-memory/query", {"agent_name": "scout", "query": "anything"}),
        ("POST", "/api/agent-memory/list", {"agent_name": "scout"}),
    ],
    "cache": [
        ("POST", "/api/psychic-cache/write", note(OTHER, "nobody hears this")),
        ("POST", "/api/psychic-cache/query", {"mission_id": MISSION, "query": "anything"}),
        ("GET", f"/api/psychic-cache/{MISSION}/stats", None),
        ("DELETE", f"/api/psychic-cache/{OTHER}?reason=operator", None),
    ],
}


@pytest.fixture(scope="module")
async def cluster(
    servers: Servers, template: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Cluster]:
    folder = tmp_path_factory.mktemp("owners-away")
    async with own_cluster("owners_away", servers, template, folder) as running:
        async with running.client("write") as agent:
            for path, body in (
                ("/api/psychic-cache/write", note(MISSION, "the orders replica lags by nine seconds")),
                ("/api/agent-memory/commit", lesson("scout", "Check the lag of the orders replica first.")),
                ("/api/agent-memory/commit", lesson("medic", "The orders replica lags on Mondays.")),
            ):
                assert (await agent.post(path, body)).status == 201
        yield running


@pytest.mark.parametrize("way", ["killed", "frozen"])
@pytest.mark.parametrize("owner", ["agent_memory", "cache"])
async def test_the_source_is_named(cluster: Cluster, owner: str, way: str) -> None:
    service = cluster.replicas[owner][0]
    async with cluster.client("write") as agent:
        await until(lambda: _whole(agent))
        service.kill() if way == "killed" else service.sigstop()
        try:
            for milliseconds in (500, 1000, 1000, 1000, 2000):
                await _assembles_without(agent, owner, milliseconds)
            for method, path, body in ROUTES[owner]:
                done = await timed(agent.call(method, path, body, headers=within(500)))
                assert_unavailable(done.answer, owner)
                assert done.seconds < 0.5 + BUSY_SLACK, (path, done.seconds)
            backlog = await agent.get("/api/context/backlog", headers=within(1000))
            assert [missing["source"] for missing in backlog.body["degraded"]] == [owner], backlog
            assert backlog.body["stores"], "the other one answers"
            half = await _remembers(agent, owner, way, within(1000))
            assert_unavailable(half, owner)
            assert [item["store"] for item in half.body["stored"]] == [KEEPS[owner]]
        finally:
            service.sigcont()
        if way == "killed":
            await cluster.start(service)
        await until(lambda: _whole(agent))
        both = await _remembers(agent, owner, way)
        assert (both.status, both.body["stored"]) == (200, 2), both
        assert half.body["stored"][0] in both.body["items"]
        entries = (await agent.get(f"/api/psychic-cache/remembered-{owner}-{way}/entries")).body["data"]
        memories = (await agent.post("/api/agent-memory/list", {"agent_name": f"{owner}-{way}"})).body
        assert (len(entries), len(memories["data"])) == (1, 1)


async def _remembers(agent: Client, owner: str, way: str, headers: Mapping[str, str] | None = None) -> Answer:
    """Something for each store, under one key."""
    body = {
        "caller": f"{owner}-{way}",
        "mission_namespace": f"remembered-{owner}-{way}",
        "messages": [
            {"role": "tool", "content": "orders replica: lag 9 s"},
            {"role": "assistant", "content": "Lesson learned: look at the replica's lag first."},
        ],
    }
    key = {"idempotency-key": f"remember-{owner}-{way}"}
    return await agent.post("/api/context/remember", body, headers={**(headers or {}), **key})


async def _assembles_without(agent: Client, owner: str, milliseconds: int) -> None:
    done = await timed(
        agent.post("/api/context/assemble", question(MISSION, "orders replica"), headers=within(milliseconds))
    )
    assert done.status == 200, done.answer
    assert done.seconds < milliseconds / 1000 + BUSY_SLACK
    missing = {one["source"]: one["reason"] for one in done.answer.body["degraded"]}
    assert missing.keys() == MISSING[owner]
    assert all(reason.startswith(owner + " ") for reason in missing.values()), missing
    found = {source["store"] for source in done.answer.body["sources"]}
    assert found == {store for name, some in STORES.items() if name != owner for store in some}


async def _whole(agent: Client) -> None:
    answer = await agent.post("/api/context/assemble", question(MISSION, "orders replica"))
    assert answer.status == 200, answer
    assert answer.body["degraded"] == []
    stores = {source["store"] for source in answer.body["sources"]}
    assert stores == {store for some in STORES.values() for store in some}
