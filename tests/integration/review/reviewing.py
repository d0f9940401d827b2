"""Lets writes wait, and decides about them, over HTTP."""

from __future__ import annotations

from typing import Any

from tests.support.cluster import Client

REVIEW = "/api/context/review"
TEXT = "The zebra deployment needs the violet certificate rotated first"


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
