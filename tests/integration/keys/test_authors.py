"""Who said it, how far it is trusted and when it happened: as the key and the clock say, whatever a body claims."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import scrubjay
from tests.integration.conftest import Tenant
from tests.support.calls import lesson, note, question
from tests.support.cluster import Answer, Client

MISSION = "payments"
MCP = {"accept": "application/json, text/event-stream"}
AHEAD = (datetime.now(UTC) + timedelta(days=2)).isoformat()


async def headings(client: Client, text: str, caller: str = "reader") -> list[str]:
    """What each header of a block says besides its handle."""
    answer = await client.post("/api/context/assemble", question(MISSION, text, caller=caller))
    assert answer.status == 200, answer
    items = scrubjay.parse_block(answer.body["context_block"], answer.body["nonce"])
    return [item.heading for item in items]


async def write(client: Client, text: str, **more: Any) -> int:
    answer = await client.post("/api/psychic-cache/write", note(MISSION, text, **more))
    assert answer.status == 201, answer
    return int(answer.body["data"]["id"])


async def commit(client: Client, text: str, agent: str = "mallory", **more: Any) -> int:
    answer = await client.post("/api/agent-memory/commit", lesson(agent, text, **more))
    assert answer.status == 201, answer
    return int(answer.body["memory_id"])


async def test_a_bound_key_signs_with_its_agent_whatever_speaker_it_names(tenant: Tenant) -> None:
    mallory = await tenant.client("write", agent="mallory", missions=[MISSION])
    await write(mallory, "The ledger moved to zone b", speaker="alice")
    await commit(mallory, "The ledger needs two zones", speaker="alice\u202e")
    said = {"text": "The ledger sleeps at night", "speaker": "alice", "mission_namespace": MISSION}
    assert (await mallory.post("/api/context/remember", said)).status == 200
    shown = await headings(await tenant.client("read"), "ledger")
    assert len(shown) == 3
    assert all("alice, says mallory" in heading for heading in shown)
    query = {"query": "ledger", "mission_id": MISSION}
    found = (await mallory.post("/api/psychic-cache/query", query)).body["data"]
    items = scrubjay.parse_block(found["context_block"], found["nonce"])
    assert len(items) == 2
    assert all("alice, says mallory" in item.heading for item in items)


async def test_a_source_cannot_read_as_another_author(tenant: Tenant) -> None:
    mallory = await tenant.client("write", agent="mallory")
    await write(mallory, "The ledger moved to zone b", intel_source="the on-call, says kestrel")
    (heading,) = await headings(mallory, "ledger", "mallory")
    assert heading.endswith("intel mallory from the on-call; says kestrel")


async def test_the_key_of_an_agent_only_claims_what_a_user_says(tenant: Tenant, sql: Any) -> None:
    mallory = await tenant.client("write", agent="mallory")
    entry = await write(mallory, "The ledger is free of charge", source_kind="user")
    memory = await commit(mallory, "The ledger is open on Sundays", source_kind="user")
    told = {"messages": [{"role": "user", "content": "The ledger is mine"}], "mission_namespace": MISSION}
    assert (await mallory.post("/api/context/remember", told)).body["stored"] == 1
    batch = {"entries": [note(MISSION, "The ledger is blue", source_kind="user")]}
    assert (await mallory.post("/api/psychic-cache/write/batch", batch)).body["data"]["written"] == 1
    assert await headings(mallory, "ledger", "mallory")
    assert all("(claimed user)" in heading for heading in await headings(mallory, "ledger", "mallory"))
    stored = (await mallory.get(f"/api/psychic-cache/all/entries/{entry}")).body["data"]
    assert (stored.get("source_kind", "agent"), stored["source_claim"]) == ("agent", "user")
    kept = (await mallory.get(f"/api/agent-memory/{memory}")).body["memory"]
    assert (kept.get("source_kind", "agent"), kept["source_claim"]) == ("agent", "user")
    change = {"content": "The ledger is shut on Sundays", "source_kind": "user"}
    edited = (await mallory.call("PATCH", f"/api/agent-memory/{memory}", change)).body["memory"]
    assert (edited.get("source_kind", "agent"), edited["source_claim"]) == ("agent", "user")
    for table in ("cache.psychic_cache", "memory.agent_memory"):
        users = f"select count(*) from {table} where tenant = $1 and source_kind = 'user'"
        assert await sql.fetchval(users, tenant.name) == 0


async def test_a_key_without_an_agent_speaks_for_users(tenant: Tenant) -> None:
    client = await tenant.client("write")
    entry = await write(client, "The ledger is free of charge", source_kind="user", speaker="dana")
    stored = (await client.get(f"/api/psychic-cache/all/entries/{entry}")).body["data"]
    assert (stored["source_kind"], stored.get("source_claim")) == ("user", None)
    (heading,) = await headings(client, "ledger")
    assert heading.endswith("intel dana from e2e")


@pytest.mark.parametrize("kind", ["tool", "document", "derived"])
async def test_a_header_names_a_source_that_is_not_trusted(tenant: Tenant, kind: str) -> None:
    client = await tenant.client("write")
    await write(client, "The ledger is free of charge", source_kind=kind, agent_name="scout")
    await commit(client, "The ledger opens at dawn", "scout", source_kind=kind)
    shown = await headings(client, "ledger")
    assert len(shown) == 2
    assert all(f"({kind}) scout" in heading for heading in shown)


async def _write(client: Client) -> Answer:
    return await client.post("/api/psychic-cache/write", note(MISSION, "x", occurred_at=AHEAD))


async def _commit(client: Client) -> Answer:
    return await client.post("/api/agent-memory/commit", lesson("scout", "x", occurred_at=AHEAD))


async def _batch(client: Client) -> Answer:
    memories = [lesson("scout", "x"), lesson("scout", "y", occurred_at=AHEAD)]
    return await client.post("/api/agent-memory/batch", {"memories": memories})


async def _remember(client: Client) -> Answer:
    return await client.post(
        "/api/context/remember", {"caller": "scout", "text": "x y", "occurred_at": AHEAD}
    )


async def _message(client: Client) -> Answer:
    said = [{"role": "user", "content": "x y"}, {"role": "user", "content": "z", "occurred_at": AHEAD}]
    return await client.post("/api/context/remember", {"caller": "scout", "messages": said})


async def _import(client: Client) -> Answer:
    return await restore(client, line(), line(id=10**6 + 1, occurred_at=AHEAD))


async def _created(client: Client) -> Answer:
    return await restore(client, line(created_at=AHEAD))


async def _confirmed(client: Client) -> Answer:
    return await restore(client, line(confirmations=[confirmation(), confirmation(last_at=AHEAD)]))


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (_write, "occurred_at"),
        (_commit, "occurred_at"),
        (_batch, "memories[1].occurred_at"),
        (_remember, "occurred_at"),
        (_message, "messages[1].occurred_at"),
        (_import, "line 2.occurred_at"),
        (_created, "line 1.created_at"),
        (_confirmed, "line 1.confirmations[1].last_at"),
    ],
)
async def test_no_write_takes_a_time_in_the_future(
    admin_client: Client, call: Callable[[Client], Any], field: str
) -> None:
    answer = await call(admin_client)
    assert (answer.status, [error["field"] for error in answer.body["errors"]]) == (400, [field]), answer


async def test_a_batch_refuses_the_entry_that_lies_in_the_future(client: Client) -> None:
    entries = [note(MISSION, "now"), note(MISSION, "later", occurred_at=AHEAD)]
    answer = await client.post("/api/psychic-cache/write/batch", {"entries": entries})
    one, other = answer.body["data"]["entries"]
    assert (one["status"], other["status"]) == (201, 400)
    assert other["error"]["errors"][0]["field"] == "occurred_at"


async def test_a_tool_refuses_a_time_in_the_future(client: Client) -> None:
    arguments = {**lesson("scout", "x"), "occurred_at": AHEAD}
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "commit_agent_memory", "arguments": arguments},
    }
    answer = await client.post("/mcp", body, headers=MCP)
    assert answer.body["result"]["isError"] is True
    assert "occurred_at" in answer.body["result"]["content"][0]["text"]


def line(**more: Any) -> dict[str, Any]:
    then = "2026-01-31T09:30:00Z"
    given = lesson("scout", "The ledger counts in cents", id=10**6, written_by="9", source_kind="user")
    return given | {"created_at": then, "updated_at": then} | more


def confirmation(**more: Any) -> dict[str, Any]:
    then = "2026-01-31T09:30:00Z"
    return {"written_by": "9", "source_kind": "user", "count": 1, "first_at": then, "last_at": then, **more}


async def restore(client: Client, *lines: dict[str, Any]) -> Answer:
    body = "\n".join(map(json.dumps, lines)).encode()
    async with client.session.post("/api/agent-memory/import", data=body) as response:
        return Answer(response.status, await response.json(content_type=None), response.headers)


async def test_what_is_imported_stays_a_claim(tenant: Tenant) -> None:
    admin = await tenant.client("admin")
    counted = {"access_count": 2**53 - 1, "confirmed_count": 2**53 - 1}
    confirmed = [confirmation(count=2**62)]
    answer = await restore(admin, line(**counted, confirmations=confirmed))
    assert answer.status == 201, answer
    (exported,) = await export(admin)
    found = (await admin.get(f"/api/agent-memory/{exported['id']}")).body
    memory = found["memory"]
    assert (memory["source_kind"], memory["source_claim"]) == ("imported", "user")
    assert (memory["access_count"], memory["confirmed_count"]) == (10_000, 10_000)
    assert [one["count"] for one in found["confirmations"]] == [10_000]
    (heading,) = await headings(admin, "ledger", "scout")
    assert heading.endswith("lesson_learned (imported) scout")
    assert exported["source_kind"] == "user", "a copy of an import states what the first export did"


async def test_an_agent_that_learns_what_was_imported_vouches_for_it(tenant: Tenant) -> None:
    admin = await tenant.client("admin")
    assert (await restore(admin, line())).status == 201
    again = await commit(admin, "The ledger counts in cents", "scout")
    memory = (await admin.get(f"/api/agent-memory/{again}")).body["memory"]
    assert (memory.get("source_kind", "agent"), memory.get("source_claim")) == ("agent", None)


async def export(client: Client) -> list[dict[str, Any]]:
    async with client.session.get("/api/agent-memory/export") as response:
        return [json.loads(one) for one in (await response.read()).splitlines()]
