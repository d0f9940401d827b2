"""The limits of a mission: which hold, where they come from, and what a change of them would evict."""

from __future__ import annotations

from typing import Any

from tests.integration.cache.writing.test_budgets import ENTRIES, TOKENS, entries, sized, stats, write
from tests.support.cluster import Client


async def test_limits_say_where_they_come_from(client: Client, admin_client: Client) -> None:
    path = "/api/psychic-cache/limited/limits"
    assert (await client.get(path)).status == 404
    await write(client, sized("limited", 5))
    told = (await client.get(path)).body["data"]
    assert (told["token_budget"], told["entry_budget"]) == (TOKENS, ENTRIES)
    assert set(told["origins"].values()) == {"installation"}
    await admin_client.call("PUT", path, {"token_budget": 500})
    told = (await client.get(path)).body["data"]
    assert (told["token_budget"], told["entry_budget"]) == (500, ENTRIES)
    assert told["origins"] == {
        "token_budget": "mission",
        "entry_budget": "installation",
        "ttl_hours": "installation",
    }


async def figures(client: Client) -> dict[str, Any]:
    """But for those that the indexer changes meanwhile."""
    found = await stats(client, "dry")
    return {name: found[name] for name in found.keys() - {"unindexed_count", "vectors_expected_at"}}


async def test_a_dry_run_of_limits_changes_nothing(client: Client, admin_client: Client) -> None:
    path = "/api/psychic-cache/dry/limits"
    for _ in range(6):
        await write(client, sized("dry", 10))
    before, held = await figures(client), await entries(client, "dry")
    rehearsed = (await admin_client.call("PUT", f"{path}?dry_run=true", {"token_budget": 25})).body["data"]
    assert (rehearsed["evicted_count"], rehearsed["dry_run"], rehearsed["token_budget"]) == (4, True, 25)
    assert await figures(client) == before
    assert await entries(client, "dry") == held
    done = (await admin_client.call("PUT", path, {"token_budget": 25})).body["data"]
    assert done == {**rehearsed, "dry_run": False}
    assert len(await entries(client, "dry")) == 2
    unknown = await admin_client.call("PUT", "/api/psychic-cache/unknown/limits?dry_run=true", {})
    assert unknown.body["data"]["evicted_count"] == 0
    assert (await client.get("/api/psychic-cache/unknown/limits")).status == 404
