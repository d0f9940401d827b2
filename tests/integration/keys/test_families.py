"""A key and the keys that it made: revoked together, within one quota, and none outlives the one that made it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from services.context.keys.service import MOST_GENERATIONS
from services.context.keys.usage import FLUSH_SECONDS
from services.context.keys.verification import KNOWN_SECONDS
from tests.integration.conftest import Tenant
from tests.support.calls import begun_anew, note, until
from tests.support.cluster import Client, Cluster
from tests.support.clusters import spare

KEYS = "/api/context/keys"
LIST = "/api/psychic-cache/all/missions"


class Family:
    """Makes keys through the API, each with a client of its own."""

    def __init__(self, url: str, closing: AsyncExitStack) -> None:
        self._url, self._closing = url, closing
        self.ids: dict[Client, int] = {}

    async def child(self, maker: Client, **more: Any) -> Client:
        made = await maker.post(KEYS, {"name": "child", "access": "admin", **more})
        assert made.status == 201, made
        client = await self._closing.enter_async_context(Client(self._url, made.body["token"]))
        self.ids[client] = made.body["key"]["id"]
        return client

    async def revoke(self, by: Client, client: Client) -> None:
        assert (await by.delete(f"{KEYS}/{self.ids[client]}")).status == 200


@pytest.fixture
async def family(cluster: Cluster) -> AsyncIterator[Family]:
    async with AsyncExitStack() as closing:
        yield Family(cluster.url(), closing)


async def status(client: Client) -> int:
    return (await client.get(LIST)).status


async def test_revoking_a_key_revokes_what_it_made(tenant: Tenant, family: Family) -> None:
    admin = await tenant.client("admin")
    parent, neighbour = [await family.child(admin) for _ in range(2)]
    child, sibling = [await family.child(parent) for _ in range(2)]
    grandchild = await family.child(child, access="read")
    every = (parent, child, grandchild, sibling, neighbour, admin)
    assert [await status(client) for client in every] == [200] * 6
    await family.revoke(admin, child)
    assert [await status(client) for client in every] == [200, 401, 401, 200, 200, 200]
    await family.revoke(admin, parent)
    assert [await status(client) for client in every] == [401, 401, 401, 401, 200, 200]
    revoked = [family.ids[client] for client in (child, grandchild, parent, sibling)]

    async def noted() -> None:
        events = (await admin.get("/api/timeline?kind=key_revoke")).body["data"]
        assert [event["payload"]["id"] for event in events] == revoked

    await until(noted)
    rows = (await admin.get("/api/context/audit?action=key_revoke")).body["data"]
    with_it = [row["after"].get("with_it") for row in rows]
    assert sorted(with_it) == sorted([[family.ids[grandchild]], [family.ids[sibling]]])


async def test_a_key_that_is_being_revoked_leaves_no_child(tenant: Tenant, cluster: Cluster) -> None:
    admin = await tenant.client("admin")
    for _ in range(5):
        made = (await admin.post(KEYS, {"name": "parent", "access": "admin"})).body
        async with Client(cluster.url(), made["token"]) as parent:
            makes = (parent.post(KEYS, {"name": "child"}) for _ in range(8))
            *children, _ = await asyncio.gather(*makes, admin.delete(f"{KEYS}/{made['key']['id']}"))
        for child in children:
            assert child.status in (201, 401)
            if child.status == 201:
                async with Client(cluster.url(), child.body["token"]) as client:
                    assert await status(client) == 401


@begun_anew
async def test_the_keys_of_a_key_share_its_day(tenant: Tenant, family: Family) -> None:
    admin = await tenant.client("admin")
    parent = await family.child(admin, requests_per_day=30, tokens_per_day=1_000)
    children = [await family.child(parent) for _ in range(3)]
    answers = [await status(children[place % 3]) for place in range(40)]
    assert sorted(set(answers)) == [200, 429]
    # The parent has made three keys itself.
    assert answers.count(200) == 27
    refused = await children[0].get(LIST)
    assert refused.body["limit"] == "requests_per_day"
    assert "the key that made this one" in refused.body["detail"]
    assert await status(parent) == 429
    await asyncio.sleep(FLUSH_SECONDS + KNOWN_SECONDS)
    shown = (await admin.get(f"{KEYS}/{family.ids[parent]}")).body
    assert shown["requests_today"] == 30


@begun_anew
async def test_the_keys_of_a_key_share_its_tokens_and_its_rate(tenant: Tenant, family: Family) -> None:
    admin = await tenant.client("admin")
    parent = await family.child(admin, tokens_per_day=2_000)
    children = [await family.child(parent) for _ in range(2)]
    writes = [
        (await children[place % 2].post("/api/psychic-cache/write", note("m", "x" * 2_000))).status
        for place in range(8)
    ]
    assert writes[0] == writes[1] == 201
    assert writes[-2:] == [429, 429]
    slow = await family.child(admin, requests_per_second=0.01, burst=6)
    pair = [await family.child(slow) for _ in range(2)]
    assert [await status(pair[place % 2]) for place in range(6)] == [200] * 4 + [429] * 2
    assert (await pair[0].get(LIST)).body["limit"] == "requests_per_second"


async def test_keys_make_keys_for_some_generations(tenant: Tenant, family: Family) -> None:
    maker = await tenant.client("admin")
    for _ in range(MOST_GENERATIONS - 1):
        maker = await family.child(maker)
    assert (await maker.post(KEYS, {"name": "too many"})).status == 403


async def test_a_key_ends_after_the_default_time(cluster: Cluster, tenant: Tenant) -> None:
    admin = await tenant.key("admin")
    long, soon = (datetime.now(UTC) + timedelta(days=days) for days in (30, 1))
    brief = await tenant.key("admin", expires_at=soon)
    async with spare(cluster, "context", SCRUBJAY_KEY_TTL_DAYS="7") as service:

        async def end(token: str, **more: Any) -> datetime:
            async with Client(service.url, token) as client:
                made = await client.post(KEYS, {"name": "new", **more})
            assert made.status == 201, made
            return datetime.fromisoformat(made.body["key"]["expires_at"])

        week = datetime.now(UTC) + timedelta(days=7)
        assert abs(await end(admin) - week) < timedelta(minutes=5)
        assert await end(admin, expires_at=long.isoformat()) == long
        # A key never outlives the one that made it.
        assert await end(brief) == soon
