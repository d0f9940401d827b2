"""A newer statement supersedes the older one in blocks, whichever arrived first, and the log says so."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.conftest import Tenant
from tests.support.calls import lesson, note, question
from tests.support.cluster import Client

ENTRIES = "/api/psychic-cache/write?wait=indexed"
QUESTION = "What is the staging database?"
OLD, NEW = "The staging database is db-7.", "The staging database is db-9."


async def write(client: Client, path: str, body: Any) -> Any:
    answer = await client.post(path, body)
    assert answer.status == 201, answer
    return answer.body


async def assemble(client: Client, mission: str, text: str = QUESTION, **more: Any) -> Any:
    answer = await client.post("/api/context/assemble", question(mission, text=text, **more))
    assert answer.status == 200, answer
    return answer.body


async def test_the_newest_entry_stands_alone_and_the_log_names_it(client: Client) -> None:
    late = note("newest", NEW, occurred_at="2026-03-09T00:00:00Z")
    early = note("newest", OLD, occurred_at="2026-03-01T00:00:00Z")
    new = (await write(client, ENTRIES, late))["data"]["id"]
    old = (await write(client, ENTRIES, early))["data"]["id"]
    assembly = await assemble(client, "newest", token_budget=500)
    assert "db-9" in assembly["context_block"]
    assert "db-7" not in assembly["context_block"]
    assert assembly["left_out"]["count"] == 0
    log = (await client.get(f"/api/context/log/{assembly['assembly_id']}")).body
    by_handle = {candidate["handle"]: candidate for candidate in log["candidates"]}
    older = by_handle[f"cache:{old}"]
    assert (older["outcome"], older["superseded_by"]) == ("superseded", f"cache:{new}")
    replay = await client.post(f"/api/context/log/{assembly['assembly_id']}/replay", {"token_budget": 4000})
    assert replay.body["added"] == []
    assert (await client.get(f"/api/psychic-cache/all/entries/{old}")).status == 200


async def test_the_older_entry_holds_as_of_its_time(client: Client) -> None:
    await write(client, ENTRIES, note("as-of-newest", OLD))
    before = (await assemble(client, "as-of-newest"))["sources"][0]["at"]
    await write(client, ENTRIES, note("as-of-newest", NEW))
    assert "db-7" not in (await assemble(client, "as-of-newest"))["context_block"]
    assert "db-7" in (await assemble(client, "as-of-newest", as_of=before))["context_block"]


@pytest.mark.parametrize("texts", [(OLD, NEW), ("deploy window: Tue", "deploy window: Thu")])
async def test_the_newest_memory_of_an_agent_stands_alone(client: Client, texts: tuple[str, str]) -> None:
    for text in texts:
        await write(client, "/api/agent-memory/commit", lesson("keeper", text))
    assembly = await assemble(client, "newest-memory", text=texts[1], caller="keeper")
    assert texts[1] in assembly["context_block"]
    assert texts[0] not in assembly["context_block"]


async def test_nothing_is_superseded_across_agents_and_users(client: Client) -> None:
    await write(client, ENTRIES, note("apart", OLD, agent_name="scout"))
    await write(client, ENTRIES, note("apart", NEW, agent_name="medic"))
    for user, colour in (("mia", "teal"), ("tom", "grey")):
        text = f"The favourite colour is {colour}."
        await write(client, ENTRIES, note("apart", text, user_id=user))
    block = (await assemble(client, "apart"))["context_block"]
    assert "db-7" in block
    assert "db-9" in block
    block = (await assemble(client, "apart", text="What is the favourite colour?"))["context_block"]
    assert "teal" in block
    assert "grey" in block


async def test_an_untrusted_source_supersedes_no_trusted_one(client: Client) -> None:
    await write(client, ENTRIES, note("trust", OLD))
    await write(client, ENTRIES, note("trust", NEW, source_kind="document"))
    assert "db-7" in (await assemble(client, "trust"))["context_block"]


async def test_another_tenant_supersedes_nothing(tenants: tuple[Tenant, Tenant]) -> None:
    one, other = [await tenant.client("write") for tenant in tenants]
    await write(one, ENTRIES, note("newest-tenant", OLD))
    await write(other, ENTRIES, note("newest-tenant", NEW))
    assert "db-7" in (await assemble(one, "newest-tenant"))["context_block"]
