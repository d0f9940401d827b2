"""Peers' memories that are searched in memory: privacy, keys with bounds, and what is erased, through HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.conftest import Tenant
from tests.support.calls import metric, until
from tests.support.cluster import Client, Cluster

COMMIT, ASSEMBLE = "/api/agent-memory/commit", "/api/context/assemble"
HOT = "scrubjay_hot_searches_total"
PEER = "agent_memory_peer"
TASK = {"task_description": "unload", "skills_used": ["cranes"], "outcome": "success"}


async def learned(client: Client, agent: str, content: str, **more: Any) -> int:
    body = {"agent_name": agent, "content": content, "memory_type": "lesson_learned", **more}
    answer = await client.post(COMMIT, body)
    assert answer.status == 201, answer
    return int(answer.body["memory_id"])


async def found(client: Client) -> set[int]:
    body = {"caller": "asker", "query": "which crane unloads the ship?", "debug": True}
    answer = await client.post(ASSEMBLE, body)
    assert answer.status == 200, answer
    return {int(one["id"]) for one in answer.body["candidates"] if one["store"] == PEER}


async def hot_searches(cluster: Cluster) -> float:
    async with cluster.client(None, "agent_memory") as probe:
        return metric((await probe.get("/metrics")).body, HOT, {"store": PEER})


@pytest.fixture
async def asker(tenant: Tenant) -> Client:
    """Only an admin's key may see candidates."""
    return await tenant.client("admin")


@pytest.fixture
async def shared(client: Client, asker: Client, cluster: Cluster) -> dict[str, int]:
    """What peers hold, in a tenant whose memories the service has copied."""
    ids = {
        "everyones": await learned(client, "scout", "The crane unloads the ship at noon."),
        "alices": await learned(
            client, "scout", "Alice runs the crane that unloads the ship.", user_id="alice"
        ),
        "missions": await learned(
            client,
            "medic",
            "The third crane unloads the ship.",
            task_context={**TASK, "mission_namespace": "harbour"},
        ),
        "asker's": await learned(client, "asker", "I know which crane unloads the ship."),
        "private": await learned(client, "medic", "My own crane unloads the ship.", private=True),
    }

    async def copied() -> None:
        before = await hot_searches(cluster)
        assert await found(asker) == {ids["everyones"], ids["alices"], ids["missions"]}
        assert await hot_searches(cluster) > before

    await until(copied, 60)
    return ids


async def test_a_key_with_bounds_finds_only_what_it_may_see(shared: dict[str, int], tenant: Tenant) -> None:
    of_bob = await tenant.client("admin", users=["bob"])
    assert await found(of_bob) == {shared["everyones"], shared["missions"]}
    elsewhere = await tenant.client("admin", missions=["elsewhere"])
    assert await found(elsewhere) == {shared["everyones"], shared["alices"]}


async def test_another_tenant_finds_nothing(shared: dict[str, int], tenants: tuple[Tenant, Tenant]) -> None:
    stranger = await tenants[1].client("admin")
    own = await learned(stranger, "scout", "Our crane unloads the ship.")
    assert await found(stranger) == {own}


async def test_what_is_hidden_or_erased_is_never_answered_again(
    shared: dict[str, int], client: Client, asker: Client
) -> None:
    left = {shared["everyones"], shared["alices"], shared["missions"]}
    new = await learned(client, "scout", "A second crane unloads the ship at night.")
    assert await found(asker) == left | {new}
    hidden = await client.call("PATCH", f"/api/agent-memory/{new}", {"private": True})
    assert hidden.status == 200, hidden
    assert await found(asker) == left
    shown = await client.call("PATCH", f"/api/agent-memory/{shared['private']}", {"private": False})
    assert shown.status == 200, shown
    assert await found(asker) == left | {shared["private"]}
    assert (await client.delete(f"/api/agent-memory/{shared['private']}")).status == 200
    assert (await asker.post("/api/context/purge", {"user_id": "alice"})).status == 200
    assert await found(asker) == {shared["everyones"], shared["missions"]}
    assert (await asker.post("/api/context/purge", {"agent_name": "medic"})).status == 200
    assert await found(asker) == {shared["everyones"]}
