"""Ceilings: they name themselves, hold for a key's keys, and are exceeded by the calls under way at most."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

import pytest

from tests.integration.conftest import Tenant
from tests.integration.context.costs.test_costs import COSTS, spend
from tests.support.calls import note, until
from tests.support.cluster import Answer, Client
from tests.support.fakes.fake_openai import FakeOpenAI

CEILINGS, ALLOWANCE = f"{COSTS}/ceilings", f"{COSTS}/allowance"


async def limit(client: Client, usd: str, **whose: Any) -> dict[str, Any]:
    answer = await client.call("PUT", CEILINGS, {"limit_usd": usd, **whose})
    assert answer.status == 200, answer
    return dict(answer.body)


async def key_of(client: Client) -> int:
    made = await client.post("/api/context/keys", {"name": "payer", "access": "admin"})
    assert made.status == 201, made
    return int(made.body["key"]["id"])


def assert_named(answer: Answer, *words: str) -> None:
    assert answer.status == 429, answer
    assert answer.body["type"].endswith("too-many-requests")
    assert all(word in answer.body["detail"] for word in words), answer
    assert answer.body["limit"].startswith("ceiling ")


@pytest.mark.parametrize("period", ["day", "month", "all"])
async def test_at_a_ceiling_no_further_call_is_allowed(admin_client: Client, period: str) -> None:
    await limit(admin_client, "1.5", mission_id="orders", period=period)
    asked = f"{ALLOWANCE}?mission=orders"
    for spent in ("0", "1.4"):
        assert (await admin_client.get(asked)).body["ceilings"][0]["spent_usd"] == spent
        made = await spend(admin_client, mission="orders", cost_usd="1.4")
    assert made["ceilings"][0]["reached"]
    refused = await admin_client.get(asked)
    assert_named(refused, "mission:orders", "1.5")
    assert ("retry-after" in refused.headers) == (period != "all")
    assert (await admin_client.get(ALLOWANCE)).status == 200
    # A call that was made is recorded all the same.
    await spend(admin_client, mission="orders", cost_usd="1")
    (state,) = (await admin_client.get(CEILINGS)).body["data"]
    assert (state["spent_usd"], state["calls"], state["period"]) == ("3.8", 3, period)
    removed = await admin_client.delete(f"{CEILINGS}?mission=orders&period={period}")
    assert removed.status == 204
    assert (await admin_client.get(asked)).status == 200


async def test_thirty_at_once_exceed_a_ceiling_by_the_calls_under_way(admin_client: Client) -> None:
    await limit(admin_client, "1", mission_id="orders")
    made, most, under_way = 0, 0, 0

    async def loop() -> None:
        nonlocal made, most, under_way
        while True:
            under_way += 1
            most = max(most, under_way)
            answer = await admin_client.get(f"{ALLOWANCE}?mission=orders")
            if answer.status == 429:
                assert_named(answer, "mission:orders")
                under_way -= 1
                return
            await spend(admin_client, mission="orders", cost_usd="0.02")
            made += 1
            under_way -= 1

    await asyncio.gather(*(loop() for _ in range(30)))
    (state,) = (await admin_client.get(CEILINGS)).body["data"]
    assert Decimal(state["spent_usd"]) == made * Decimal("0.02")
    print(f"ceiling 1, spent {state['spent_usd']}, at most {most} under way")
    assert 1 <= Decimal(state["spent_usd"]) <= 1 + (most - 1) * Decimal("0.02")


async def test_a_key_pays_for_the_keys_that_it_makes(tenant: Tenant, admin_client: Client) -> None:
    made = await admin_client.post("/api/context/keys", {"name": "parent", "access": "admin"})
    async with Client(str(admin_client.session._base_url), made.body["token"]) as parent:
        child = await parent.post("/api/context/keys", {"name": "child", "access": "write", "agent": "scout"})
        await limit(admin_client, "1", key_id=made.body["key"]["id"])
        async with Client(str(admin_client.session._base_url), child.body["token"]) as scout:
            assert (await scout.get(ALLOWANCE)).body["ceilings"] == []
            await spend(scout, cost_usd="1")
            assert_named(await scout.get(ALLOWANCE), f"key:{made.body['key']['id']}")
        assert_named(await parent.get(ALLOWANCE), "key:")
    assert (await admin_client.get(ALLOWANCE)).status == 200


async def test_beyond_a_ceiling_texts_serve_without_vectors_and_writes_go_on(
    tenant: Tenant, admin_client: Client, embedding_api: FakeOpenAI
) -> None:
    assert (
        await admin_client.post("/api/psychic-cache/write", note("orders", "a heron stands"))
    ).status == 201

    async def embedded() -> None:
        rows = (await admin_client.get(f"{COSTS}/calls")).body["data"]
        assert {row["kind"] for row in rows} >= {"document"}
        assert {row["model"] for row in rows} == {"openai:text-embedding-3-small"}

    await until(embedded)
    await limit(admin_client, "0")
    asked = {"query": "which bird stands there", "caller": "scout", "mission_namespace": "orders"}
    answer = await admin_client.post("/api/context/assemble", asked)
    assert answer.status == 200
    assert {"source": "embedder", "reason": "ceiling"} in answer.body["degraded"]
    assert (
        await admin_client.post("/api/psychic-cache/write", note("orders", "an egret wades"))
    ).status == 201
    found = await admin_client.post(
        "/api/psychic-cache/query", {"mission_id": "orders", "query": "an egret wades"}
    )
    assert found.body["data"]["degraded"] == ["embedder: searched by text only"]
    assert "an egret wades" in str(found.body)
    sent = "an egret wades"
    assert all(sent not in str(request.body) for request in embedding_api.requests)


async def test_only_admins_without_bounds_set_ceilings(
    tenants: tuple[Tenant, Tenant], admin_client: Client
) -> None:
    tenant = tenants[0]
    for client, status in (
        (await tenant.client("write"), 403),
        (await tenant.client("admin", agent="scout"), 403),
        (await tenant.client("admin", missions=["orders"]), 403),
    ):
        answer = await client.call("PUT", CEILINGS, {"limit_usd": "1", "mission_id": "orders"})
        assert answer.status == status
        assert (await client.get(CEILINGS)).status == status
    stranger = await tenants[1].client("admin")
    key = await key_of(admin_client)
    assert (await stranger.call("PUT", CEILINGS, {"limit_usd": "1", "key_id": key})).status == 404
    for body, field in (
        ({"limit_usd": "x"}, "limit_usd"),
        ({"limit_usd": "1", "period": "week"}, "period"),
        ({"limit_usd": "1", "key_id": key, "mission_id": "m"}, "mission_id"),
    ):
        answer = await admin_client.call("PUT", CEILINGS, body)
        assert answer.status == 400
        assert answer.body["errors"][0]["field"] == field


async def test_a_bound_key_learns_nothing_of_what_others_spend(tenant: Tenant, admin_client: Client) -> None:
    await limit(admin_client, "5")
    await limit(admin_client, "5", mission_id="orders")
    bound = await tenant.client("write", missions=["orders"])
    (state,) = (await bound.get(ALLOWANCE)).body["ceilings"]
    assert state["subject"] == "mission:orders"
