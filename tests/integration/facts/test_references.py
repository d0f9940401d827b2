"""What a mission refers to is searched besides, counts half, and opens nothing that the key may not read."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from tests.integration.conftest import Tenant
from tests.integration.facts.test_facts import Json, state
from tests.support.calls import note, until
from tests.support.cluster import Client

QUERY = "the failover of the orders database"
TEXTS = {
    "apollo": "a failover of the orders database needs a fenced replica",
    "gemini": "before the failover of the orders database, drain its queue",
    "mercury": "backups of the orders database run at four in the morning",
    "vostok": "Rui answers the pager when the orders database is slow",
}


async def refers(client: Client, mission: str, other: str, **more: Any) -> Json:
    scope = f"mission:{mission}"
    return await state(client, "add", scope, "refers to", other, **{"scope": scope, **more})


async def write(client: Client, *missions: str) -> None:
    for mission in missions:
        entry = note(mission, TEXTS[mission])
        answer = await client.post("/api/psychic-cache/write?wait=indexed", entry)
        assert answer.status == 201, answer


async def asked(client: Client, mission: str, **more: Any) -> Json:
    """The assembly, once every source answers in time."""
    body = {"query": QUERY, "caller": "scout", "mission_namespace": mission, "fill": True, **more}

    async def assembled() -> Json:
        answer = await client.post("/api/context/assemble", body)
        assert answer.status == 200, answer
        assert answer.body["degraded"] == []
        return answer.body  # type: ignore[no-any-return]

    return await until(assembled)


def neighbours(assembly: Json) -> list[str]:
    return [scope["scope"] for scope in assembly["searched"] if scope.get("neighbour")]


async def seen(client: Client, mission: str, expected: Sequence[str], **more: Any) -> Json:
    """The assembly, once it searches these scopes: that a tenant has no references is remembered for a moment."""

    async def searched() -> Json:
        assembly = await asked(client, mission, **more)
        assert sorted(neighbours(assembly)) == sorted(expected)
        return assembly

    return await until(searched)


async def test_what_a_mission_refers_to_counts_half(client: Client) -> None:
    await write(client, "apollo", "gemini", "mercury")
    alone = await asked(client, "apollo")
    assert neighbours(alone) == []
    await refers(client, "apollo", "mission:gemini")
    assembly = await seen(client, "apollo", ["mission:gemini"])
    own, near = assembly["sources"]
    assert ("neighbour" in own, near["neighbour"]) == (False, "mission:gemini")
    assert near["relevance"] <= 0.5
    assert own["relevance"] == alone["sources"][0]["relevance"]
    assert "from mission:gemini" in assembly["context_block"]
    log = (await client.get(f"/api/context/log/{assembly['assembly_id']}")).body
    assert "mission:gemini" in log["scopes"]
    assert {one["handle"]: one["score"] for one in log["candidates"]}[near["handle"]] <= 0.5 * 1.2
    assert neighbours(await asked(client, "gemini")) == []
    assert neighbours(await asked(client, "apollo", neighbours=False)) == []


async def test_only_who_may_write_in_a_mission_says_what_it_refers_to(client: Client) -> None:
    await write(client, "gemini")
    await refers(client, "apollo", "mission:gemini", scope="shared")
    await refers(client, "apollo", "mission:gemini", scope="mission:mercury")
    await refers(client, "apollo", "mission:gemini", source_kind="document")
    await refers(client, "apollo", "gemini")
    await refers(client, "Apollo", "mission:gemini")
    told = await refers(client, "apollo", "mission:mercury")
    await seen(client, "apollo", ["mission:mercury"])
    answer = await client.post("/api/kg/invalidate", {"id": told["id"]})
    assert answer.status == 200, answer
    assert neighbours(await asked(client, "apollo")) == []


async def test_any_references_open_only_what_the_key_may_read(tenant: Tenant, client: Client) -> None:
    chance = random.Random(7)
    missions = ["apollo", "gemini", "mercury", "vostok"]
    await write(client, *missions)
    led: dict[str, set[str]] = {mission: set() for mission in missions}
    for mission, other in ((chance.choice(missions), chance.choice(missions)) for _ in range(7)):
        await refers(client, mission, f"mission:{other}")
        led[mission] |= {f"mission:{other}"} - {f"mission:{mission}"}
    assert any(led.values())
    for mission in missions:
        await seen(client, mission, sorted(led[mission]))
        granted = [mission, chance.choice(missions)]
        bound = await tenant.client("read", missions=granted)
        readable = {f"mission:{one}" for one in granted}
        assembly = await seen(bound, mission, sorted(led[mission] & readable))
        handles = [source["handle"] for source in assembly["sources"]]
        assert len(handles) == 1 + len(led[mission] & readable)
        for handle in handles:
            assert (await bound.get(f"/api/context/sources/{handle}")).status == 200
        assert not any(TEXTS[one] in assembly["context_block"] for one in {*missions} - {*granted})
