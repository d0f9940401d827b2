"""Writes of a mission or an agent under review wait: nothing shows them before a reviewer approves."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.integration.conftest import Tenant
from tests.support.calls import note
from tests.support.cluster import Client

REVIEW = "/api/context/review"
WRITE = "/api/psychic-cache/write"
TEXT = "The zebra deployment needs the violet certificate rotated first"


@pytest.fixture
async def ruled(admin_client: Client) -> Client:
    """An admin's client, with a rule for the mission `m` and one for the agent `wren`."""
    for rule in ({"mission_id": "m"}, {"agent_name": "wren"}):
        assert (await admin_client.call("PUT", f"{REVIEW}/rules", rule)).status == 200
    return admin_client


def learned(agent: str, content: str = TEXT, **more: Any) -> dict[str, Any]:
    return {"agent_name": agent, "content": content, "memory_type": "lesson_learned", **more}


async def wait_for(client: Client, path: str, body: dict[str, Any], key: str | None = None) -> int:
    """The negative id of a write that waits."""
    answer = await client.post(path, body, key=key) if key else await client.post(path, body)
    assert answer.status == 201, answer
    data = answer.body.get("data", answer.body)
    assert data["review"] == "pending", data
    number = data.get("id", data.get("memory_id"))
    assert number < 0
    return int(number)


async def decide(admin: Client, handle: str, decision: str, **more: Any) -> dict[str, Any]:
    answer = await admin.post(f"{REVIEW}/decide", {"handle": handle, "decision": decision, **more})
    assert answer.status == 200, answer
    decided: dict[str, Any] = answer.body
    return decided


async def queue(client: Client, **params: Any) -> list[dict[str, Any]]:
    """Every page of it."""
    items: list[dict[str, Any]] = []
    cursor = None
    for _ in range(100):
        asked = {**params, **({"cursor": cursor} if cursor else {})}
        answer = await client.get(REVIEW + "?" + "&".join(f"{k}={v}" for k, v in asked.items()))
        assert answer.status == 200, answer
        items += answer.body["data"]
        cursor = answer.body["next"]
        if cursor is None:
            return items
    raise AssertionError("the queue has no end")


async def everywhere(client: Client, agent: str = "scout") -> str:
    """All that reads show of the mission and of agents."""
    asked = {
        "query": "zebra violet certificate",
        "caller": agent,
        "mission_namespace": "m",
        "token_budget": 4000,
    }
    answers = [
        await client.post("/api/context/assemble", asked),
        await client.post("/api/psychic-cache/query", {"query": "zebra", "mission_id": "*"}),
        await client.get("/api/psychic-cache/m/entries"),
        await client.get("/api/psychic-cache/all/entries"),
        await client.post("/api/agent-memory/query", {"agent_name": "wren", "query": "zebra"}),
        await client.post("/api/agent-memory/peer-query", {"target_agent": "wren", "query": "zebra"}),
        await client.post("/api/agent-memory/list", {"agent_name": "wren"}),
        await client.get("/api/timeline?limit=100"),
    ]
    assert all(answer.status == 200 for answer in answers), answers
    return json.dumps([answer.body for answer in answers])


async def test_an_entry_waits_until_it_is_approved(ruled: Client, client: Client) -> None:
    waiting = await wait_for(client, WRITE, note("m", TEXT))
    assert "violet" not in await everywhere(client)
    assert (await client.get(f"/api/psychic-cache/all/entries/{-waiting}")).status == 404
    (item,) = await queue(ruled, kind="waiting")
    assert (item["handle"], item["content"], item["rules"]) == (f"cache:{waiting}", TEXT, ["mission:m"])
    decided = await decide(ruled, item["handle"], "approve")
    assert decided["state"] == "approved"
    assert await decide(ruled, item["handle"], "approve") == decided
    other = await ruled.post(f"{REVIEW}/decide", {"handle": item["handle"], "decision": "forget"})
    assert other.status == 409, other
    assert await queue(ruled, kind="waiting") == []
    source = (await client.get(f"/api/context/sources/{decided['item']}")).body
    assert source["item"]["content"] == TEXT
    assert "violet" in await everywhere(client)


async def test_a_memory_waits_until_it_is_approved(ruled: Client, client: Client, tenant: Tenant) -> None:
    waiting = await wait_for(client, "/api/agent-memory/commit", learned("wren"))
    assert "violet" not in await everywhere(client, "wren")
    (item,) = await queue(ruled, agent="wren")
    assert (item["handle"], item["rules"]) == (f"peer:{waiting}", ["agent:wren"])
    decided = await decide(ruled, item["handle"], "edit", content=TEXT.replace("violet", "scarlet"))
    assert decided["state"] == "edited"
    shown = await everywhere(client)
    assert "scarlet" in shown
    assert "violet" not in shown


async def test_what_is_forgotten_leaves_a_trace_without_content(ruled: Client, client: Client) -> None:
    waiting = await wait_for(client, WRITE, note("m", TEXT))
    decided = await decide(ruled, f"cache:{waiting}", "forget")
    assert decided["item"] is None
    assert "violet" not in await everywhere(client)
    audit = (await ruled.get("/api/context/audit?action=review_decide")).body["data"]
    assert [row["after"]["decision"] for row in audit] == ["forget"]
