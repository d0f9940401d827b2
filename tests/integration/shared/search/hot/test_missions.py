"""A mission that is searched in memory shows no key what it may not read, and nothing that was erased."""

from __future__ import annotations

import pytest

from tests.integration.conftest import Tenant
from tests.support.calls import metric, note, question, until
from tests.support.cluster import Client, Cluster

WRITE, QUERY, ASSEMBLE = "/api/psychic-cache/write", "/api/psychic-cache/query", "/api/context/assemble"
MISSION = "harbour"
HOT = "scrubjay_hot_searches_total"


async def written(client: Client, content: str, **more: str) -> int:
    answer = await client.post(WRITE, note(MISSION, content, **more))
    assert answer.status == 201, answer
    return int(answer.body["data"]["id"])


async def found(client: Client) -> set[int]:
    answer = await client.post(QUERY, {"mission_id": MISSION, "query": "which crane unloads the ship?"})
    assert answer.status == 200, answer
    return {int(entry["id"]) for entry in answer.body["data"]["entries"]}


async def hot_searches(cluster: Cluster) -> float:
    async with cluster.client(None, "cache") as probe:
        return metric((await probe.get("/metrics")).body, HOT, {"store": "psychic_cache"})


@pytest.fixture
async def hot(client: Client, cluster: Cluster) -> list[int]:
    """Entries about nobody, alice and bob, in a mission that the cache service has copied."""
    entries = [
        await written(client, "The crane unloads the ship at noon."),
        await written(client, "The crane that unloads the ship frightens Alice.", user_id="alice"),
        await written(client, "Bob steers the crane that unloads the ship.", user_id="bob"),
    ]

    async def copied() -> None:
        before = await hot_searches(cluster)
        assert await found(client) == set(entries)
        assert await hot_searches(cluster) > before

    await until(copied, 60)
    return entries


async def test_a_key_of_a_user_finds_nothing_about_another(hot: list[int], tenant: Tenant) -> None:
    everyones, alices, _ = hot
    bound = await tenant.client("read", users=["alice"])
    assert await found(bound) == {everyones, alices}
    nobody = await tenant.client("read", missions=["elsewhere"])
    refused = await nobody.post(QUERY, {"mission_id": MISSION, "query": "which crane?"})
    assert refused.status == 403, refused


async def test_another_tenants_mission_of_the_same_name_stays_apart(
    hot: list[int], tenants: tuple[Tenant, Tenant]
) -> None:
    stranger = await tenants[1].client("write")
    assert await found(stranger) == set()
    own = await written(stranger, "Our crane unloads the ship.")
    assert await found(stranger) == {own}


async def test_what_is_written_is_found_at_once_and_what_is_erased_never_again(
    hot: list[int], client: Client, tenant: Tenant
) -> None:
    _, alices, bobs = hot
    new = await written(client, "A second crane unloads the ship at night.")
    assert await found(client) == {*hot, new}
    assert (await client.delete(f"/api/psychic-cache/all/entries/{bobs}")).status == 200
    assert await found(client) == {*hot, new} - {bobs}
    admin = await tenant.client("admin")
    purged = await admin.post("/api/context/purge", {"user_id": "alice"})
    assert purged.status == 200, purged
    assert await found(client) == {*hot, new} - {alices, bobs}
    block = await client.post(ASSEMBLE, question(MISSION, "which crane unloads the ship?"))
    assert "second crane" in block.body["context_block"]
    assert "Alice" not in block.body["context_block"]
    assert "Bob" not in block.body["context_block"]
    cleared = await client.delete(f"/api/psychic-cache/{MISSION}?reason=mission_complete")
    assert cleared.status == 200, cleared
    assert await found(client) == set()
