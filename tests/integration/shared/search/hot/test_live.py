"""What changes although no row does is told anew to a search that has kept the rows: through HTTP."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests.integration.agent_memory.long_term.test_long_term import MEMORY, promise, write
from tests.integration.conftest import Tenant
from tests.support.calls import metric, until
from tests.support.cluster import Client, Cluster

QUESTION = "the invoice of March"
COMMIT, QUERY = "/api/agent-memory/commit", "/api/agent-memory/query"


async def hot_searches(cluster: Cluster, store: str) -> float:
    async with cluster.client(None, "agent_memory") as probe:
        return metric((await probe.get("/metrics")).body, "scrubjay_hot_searches_total", {"store": store})


async def test_a_commitment_whose_row_is_kept_expires_by_the_clock(client: Client, cluster: Cluster) -> None:
    due = datetime.now(UTC) + timedelta(seconds=8)
    await write(client, promise(due_at=due.isoformat()))

    async def statuses() -> list[str]:
        answer = await client.post(f"{MEMORY}/search", {"query": QUESTION})
        return [one["status"] for one in answer.body["memories"]]

    before = await hot_searches(cluster, "memory")

    async def copied() -> None:
        assert await statuses() in (["open"], ["expired"])
        assert await hot_searches(cluster, "memory") > before

    async def expired() -> None:
        assert await statuses() == ["expired"]
        answer = await client.post("/api/context/assemble", {"query": QUESTION, "caller": "scout"})
        assert "expired" in answer.body["context_block"]

    await until(copied)
    await until(expired)


async def test_a_memory_whose_row_is_kept_tells_how_often_it_was_read(
    client: Client, cluster: Cluster
) -> None:
    body = {"agent_name": "scout", "content": "The crane unloads the ship.", "memory_type": "lesson_learned"}
    assert (await client.post(COMMIT, body)).status == 201

    async def read() -> int:
        answer = await client.post(QUERY, {"agent_name": "scout", "query": "which crane unloads?"})
        (memory,) = answer.body["memories"]
        assert memory["score_parts"]["access"] == (1.0 if memory.get("access_count") else 0.0)
        return int(memory.get("access_count", 0))

    before = await hot_searches(cluster, "agent_memory_own")

    async def copied() -> None:
        await read()
        assert await hot_searches(cluster, "agent_memory_own") > before

    await until(copied)
    counted = await read()

    async def again() -> None:
        assert await read() > counted + 1

    await until(again)


async def test_tenants_see_their_own_counts(tenants: tuple[Tenant, Tenant]) -> None:
    body = {"agent_name": "scout", "content": "The crane unloads the ship.", "memory_type": "lesson_learned"}
    reader, stranger = [await tenant.client("write") for tenant in tenants]
    for client in (reader, stranger):
        assert (await client.post(COMMIT, body)).status == 201

    async def counts(client: Client) -> list[int]:
        listed = await client.post("/api/agent-memory/list", {"agent_name": "scout"})
        return [one.get("access_count", 0) for one in listed.body["data"]]

    async def counted() -> None:
        assert (await counts(reader))[0] > 0

    await reader.post(QUERY, {"agent_name": "scout", "query": "which crane unloads?"})
    await until(counted)
    assert await counts(stranger) == [0]
