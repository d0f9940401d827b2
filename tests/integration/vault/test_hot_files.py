"""Files that are searched in memory, with rows that were read before, are the files as they are now."""

from __future__ import annotations

from typing import Any

from tests.integration.conftest import Tenant
from tests.integration.vault.test_files import found, stored
from tests.support.calls import metric, until
from tests.support.cluster import Client, Cluster

HOT = "scrubjay_hot_searches_total"
QUESTION = "who guards the bridge of the valley?"


def guarded_by(name: str) -> str:
    return f"# The bridge\n\n{name} guards the bridge of the valley.\n"


async def hot_searches(cluster: Cluster) -> float:
    async with cluster.client(None, "agent_memory") as probe:
        return metric((await probe.get("/metrics")).body, HOT, {"store": "vault_index"})


async def texts(client: Client, **more: Any) -> set[str]:
    return {file["text"] for file in await found(client, QUESTION, **more)}


async def test_copies_show_files_as_they_are_and_to_keys_that_may_read_them(
    tenant: Tenant, cluster: Cluster
) -> None:
    anyone = await tenant.client("admin")
    for name, path in (("Ida", "missions/apollo/bridge.md"), ("Ole", "missions/apollo/gate.md")):
        await stored(anyone, path, guarded_by(name))
    apollo = {"mission_namespace": "apollo"}

    async def copied() -> None:
        before = await hot_searches(cluster)
        assert await texts(anyone, **apollo) == {guarded_by("Ida"), guarded_by("Ole")}
        assert await hot_searches(cluster) > before

    await until(copied, 60)
    await copied()
    await stored(anyone, "missions/apollo/bridge.md", guarded_by("Per"))
    assert await texts(anyone, **apollo) == {guarded_by("Per"), guarded_by("Ole")}
    purged = await anyone.post("/api/context/purge", {"agent": "scout"})
    assert purged.status == 200, purged
    assert await texts(anyone, **apollo) == {guarded_by("Per"), guarded_by("Ole")}
    removed = await anyone.delete("/api/vault/files?path=missions/apollo/gate.md")
    assert removed.status == 200, removed
    assert await texts(anyone, **apollo) == {guarded_by("Per")}
    moria = await tenant.client("read", missions=["moria"])
    answer = await moria.post("/api/vault/search", {"query": QUESTION, **apollo})
    assert answer.status == 403
