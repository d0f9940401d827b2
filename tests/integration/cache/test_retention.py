"""What counts against a mission's budgets, and how long it is kept."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.support.calls import Json, nine, note, tokens_of
from tests.support.cluster import Client

CACHE = "/api/psychic-cache"
LONG = "x" * 4_000


async def written(client: Client, body: Json) -> Json:
    answer = await client.post(f"{CACHE}/write", body)
    assert answer.status == 201, answer
    data: Json = answer.body["data"]
    return data


async def test_alternatives_count_against_the_budget(client: Client) -> None:
    decision = next(body for body in nine("m") if body["context_type"] == "decision")
    whole = decision | {"decision_alternatives": [LONG] * 8}
    assert (await written(client, whole))["token_count"] == tokens_of(whole) > 8_000
    answer = await client.post(f"{CACHE}/write", decision | {"decision_alternatives": [LONG] * 100})
    assert answer.status == 422, answer
    assert answer.body["errors"][0]["field"] == "decision_alternatives"
    stats = (await client.get(f"{CACHE}/m/stats")).body["data"]
    assert stats["total_tokens"] == tokens_of(whole)


async def test_new_tags_count_and_push_older_entries_out(client: Client) -> None:
    for number in range(2):
        await written(client, note("m", f"{number}" * 19_000))
    entry = await written(client, note("m", "to be tagged"))
    path = f"{CACHE}/all/entries/{entry['id']}"
    tags = [f"{number:02}".ljust(100, "x") for number in range(50)]
    assert (await client.call("PATCH", path, {"tags": tags})).body["data"]["token_count"] == tokens_of(
        note("m", "to be tagged", tags=tags)
    )
    stats = (await client.get(f"{CACHE}/m/stats")).body["data"]
    assert (stats["entry_count"], stats["evicted_count"]) == (2, 1)
    kept = (await client.get(f"{CACHE}/m/entries")).body["data"]
    assert stats["total_tokens"] == sum(entry["token_count"] for entry in kept)


async def test_tags_without_room_are_refused_and_change_nothing(client: Client) -> None:
    first = await written(client, note("m", "to be tagged"))
    await written(client, note("m", "y" * 39_800))
    path = f"{CACHE}/all/entries/{first['id']}"
    before = (await client.get(path)).body["data"]
    answer = await client.call("PATCH", path, {"tags": ["t" * 100] * 50})
    assert answer.status == 409, answer
    assert (await client.get(path)).body["data"] == before
    assert (await client.get(f"{CACHE}/m/stats")).body["data"]["entry_count"] == 2


@pytest.mark.parametrize("more", [{}, {"ttl_hours": 2.0}])
async def test_a_write_says_when_the_entry_expires(client: Client, more: dict[str, Any]) -> None:
    body = note("m", "kept for a while", **more)
    single = await written(client, body)
    batch = (await client.post(f"{CACHE}/write/batch", {"entries": [body, body]})).body["data"]["entries"]
    for data in (single, *(item["data"] for item in batch)):
        entry = (await client.get(f"{CACHE}/all/entries/{data['id']}")).body["data"]
        assert data["expires_at"] == entry["expires_at"]
        lifetime = datetime.fromisoformat(entry["expires_at"]) - datetime.fromisoformat(entry["created_at"])
        assert lifetime == timedelta(hours=more.get("ttl_hours", 24))
