"""Scopes of long-term memory that are searched in memory show no key what it may not read."""

from __future__ import annotations

from typing import Any

from tests.integration.agent_memory.long_term.test_long_term import MEMORY, write
from tests.integration.conftest import Tenant
from tests.support.calls import metric, until
from tests.support.cluster import Client, Cluster

HOT = "scrubjay_hot_searches_total"
QUESTION = {"query": "who guards the bridge of the valley?"}


async def guard(client: Client, name: str, **more: Any) -> int:
    content = f"{name} guards the bridge of the valley."
    return await write(client, {"kind": "knowledge", "content": content, "scope": "shared", **more})


async def found(client: Client, **more: Any) -> set[int]:
    answer = await client.post(f"{MEMORY}/search", {**QUESTION, **more})
    assert answer.status == 200, answer
    return {int(each["id"]) for each in answer.body["memories"]}


async def hot_searches(cluster: Cluster) -> float:
    async with cluster.client(None, "agent_memory") as probe:
        return metric((await probe.get("/metrics")).body, HOT, {"store": "memory"})


async def test_copies_show_a_key_what_it_may_read_and_nothing_that_was_erased(
    tenant: Tenant, tenants: tuple[Tenant, Tenant], cluster: Cluster
) -> None:
    anyone = await tenant.client("admin")
    everyones = await guard(anyone, "Ida")
    anas, bens = [await guard(anyone, user.title(), scope=f"user:{user}") for user in ("ana", "ben")]
    about_ben = await guard(anyone, "Ole", user_id="ben")

    async def hot(client: Client, expected: set[int], **more: Any) -> None:
        """Asks until copies answer."""

        async def copied() -> None:
            before = await hot_searches(cluster)
            assert await found(client, **more) == expected
            assert await hot_searches(cluster) > before

        await until(copied, 60)

    await hot(anyone, {everyones, bens, about_ben}, user_id="ben")
    ana = await tenant.client("read", users=["ana"])
    await hot(ana, {everyones, anas}, user_id="ana")
    assert await found(ana) == {everyones}
    assert (await ana.post(f"{MEMORY}/search", {**QUESTION, "user_id": "ben"})).status == 403
    assert await found(await tenants[1].client("read"), user_id="ben") == set()
    new = await guard(anyone, "Per")
    assert await found(ana, user_id="ana") == {everyones, anas, new}
    purged = await anyone.post("/api/context/purge", {"user_id": "ben"})
    assert purged.status == 200, purged
    assert await found(anyone, user_id="ben") == {everyones, new}
