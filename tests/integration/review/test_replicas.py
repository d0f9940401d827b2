"""What waits is in no copy in memory, and a decision holds on every replica at once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.conftest import Servers
from tests.integration.review.reviewing import REVIEW, decide, learned, wait_for
from tests.support.calls import note, until
from tests.support.cluster import Client, Cluster
from tests.support.clusters import own_cluster

MISSION = "hot"
TIMES = 8
"""A round-robin leads consecutive requests to different replicas."""


@pytest.fixture(scope="module")
async def pair(
    servers: Servers, template: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Cluster]:
    folder: Path = tmp_path_factory.mktemp("reviewing")
    async with own_cluster("reviewing", servers, template, folder, replicas=2) as cluster:
        yield cluster


async def shown(client: Client, word: str) -> list[bool]:
    """Whether each of several questions, which go to both replicas, finds the word."""
    asked = {
        "query": f"What of the {word} certificate of the zebra deployment?",
        "caller": "scout",
        "mission_namespace": MISSION,
        "token_budget": 4_000,
    }
    answers = [await client.post("/api/context/assemble", asked) for _ in range(TIMES)]
    assert all(answer.status == 200 for answer in answers), answers
    return [word in answer.body["context_block"] for answer in answers]


async def test_copies_hold_nothing_that_waits(pair: Cluster) -> None:
    async with pair.client("write") as client, pair.client("admin") as admin:
        for number in range(30):
            text = f"The zebra deployment has certificate number {number}, which is fine"
            assert (await client.post("/api/psychic-cache/write", note(MISSION, text))).status == 201
            answer = await client.post("/api/agent-memory/commit", learned("wren", f"wren: {text}"))
            assert answer.status == 201, answer
        for rule in ({"mission_id": MISSION}, {"agent_name": "wren"}):
            assert (await admin.call("PUT", f"{REVIEW}/rules", rule)).status == 200
        await until(lambda: _copied(pair, client), 60)
        entry = await wait_for(
            client, "/api/psychic-cache/write", note(MISSION, "The violet certificate of the zebra expires")
        )
        memory = await wait_for(
            client,
            "/api/agent-memory/commit",
            learned("wren", "The scarlet certificate of the zebra is void"),
        )
        assert not any(await shown(client, "violet") + await shown(client, "scarlet"))
        items = {
            word: (await decide(admin, handle, "approve"))["item"]
            for word, handle in (("violet", f"cache:{entry}"), ("scarlet", f"peer:{memory}"))
        }
        assert all(await shown(client, "violet") + await shown(client, "scarlet"))
        for word, item in items.items():
            await decide(admin, item, "forget")
            assert not any(await shown(client, word))


async def _copied(pair: Cluster, client: Client) -> None:
    """Every replica of both owners has copies."""
    await shown(client, "nothing")
    for name in ("cache", "agent_memory"):
        for replica in pair.replicas[name]:
            async with Client(replica.url, None) as probe:
                text = (await probe.get("/metrics")).body
            copies = [line for line in text.splitlines() if line.startswith("scrubjay_hot_scopes ")]
            assert copies, text[:200]
            assert float(copies[0].split()[1]) > 0, name
