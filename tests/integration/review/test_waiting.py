"""Writes of a mission or an agent under review wait: nothing shows them before a reviewer approves."""

from __future__ import annotations

import json

import pytest

from shared.database.postgres import Connection
from shared.review.reviews import MOST_WAITING_OF_AGENT
from tests.integration.conftest import Tenant
from tests.integration.review.reviewing import REVIEW, TEXT, decide, learned, queue, wait_for
from tests.support.calls import note
from tests.support.cluster import Client

WRITE = "/api/psychic-cache/write"


@pytest.fixture
async def ruled(admin_client: Client) -> Client:
    """An admin's client, with a rule for the mission `m` and one for the agent `wren`."""
    for rule in ({"mission_id": "m"}, {"agent_name": "wren"}):
        assert (await admin_client.call("PUT", f"{REVIEW}/rules", rule)).status == 200
    return admin_client


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


async def test_every_kind_of_write_waits(ruled: Client, client: Client) -> None:
    """In batches, too, beside those that are free."""
    batch = [
        learned("wren", f"{TEXT} {n}") if n % 2 else learned("robin", f"Robins nest in {n}") for n in range(4)
    ]
    answer = await client.post("/api/agent-memory/batch", {"memories": batch})
    assert [result.get("review") for result in answer.body["results"]] == [None, "pending", None, "pending"]
    entries = [
        note("m", f"{TEXT} in m"),
        note("free", "free as a bird"),
        {**note("free", TEXT), "agent_name": "wren"},
    ]
    answer = await client.post("/api/psychic-cache/write/batch", {"entries": entries})
    assert [item["data"].get("review") for item in answer.body["data"]["entries"]] == [
        "pending",
        None,
        "pending",
    ]
    kinds = {"kind": "knowledge", "content": TEXT, "scope": "shared"}
    await wait_for(client, "/api/memory", {**kinds, "agent_name": "wren"})
    await wait_for(client, "/api/memory", {**kinds, "scope": "mission:m"})
    fact = {"subject": "zebra", "predicate": "needs", "object": "the violet certificate"}
    first = {**fact, "object": "nothing", "scope": "shared"}
    assert (await client.post("/api/kg/write", first)).status == 201
    held = await wait_for(client, "/api/kg/write", {**fact, "scope": "shared", "agent_name": "wren"})
    assert "violet" not in await everywhere(client)
    known = (await client.post("/api/kg/query", {"entity": "zebra"})).body["data"]
    assert [each["object"] for each in known] == ["nothing"]
    listed = (await client.get("/api/memory?limit=100")).body["data"]
    assert listed == []
    waiting = await queue(ruled, kind="waiting", limit=2)
    assert len(waiting) == 7, [item["handle"] for item in waiting]
    for item in waiting:
        await decide(ruled, item["handle"], "approve")
    known = (await client.post("/api/kg/query", {"entity": "zebra"})).body["data"]
    assert {each["object"] for each in known} >= {"the violet certificate"}, held
    assert len((await client.get("/api/memory?limit=100")).body["data"]) == 2


async def test_a_keyed_write_waits_once(ruled: Client, client: Client) -> None:
    headers = {"Idempotency-Key": "once"}
    answers = [await client.post(WRITE, note("m", TEXT), headers=headers) for _ in range(2)]
    assert answers[0].body == answers[1].body
    headers = {"Idempotency-Key": "twice"}
    answers = [
        await client.post("/api/agent-memory/commit", learned("wren"), headers=headers) for _ in range(2)
    ]
    assert answers[0].body == answers[1].body
    assert len(await queue(ruled, kind="waiting")) == 2


async def test_remember_says_that_it_waits(ruled: Client, client: Client) -> None:
    said = {"text": "I learned that zebras need the violet certificate", "caller": "wren"}
    answer = await client.post("/api/context/remember", said)
    assert answer.status == 200, answer
    assert {item.get("review") for item in answer.body["items"]} == {"pending"}
    assert "violet" not in await everywhere(client, "wren")


async def test_what_waits_takes_no_room_and_confirms_nothing(ruled: Client, client: Client) -> None:
    """Neither a budget nor a known memory changes before it is approved."""
    known = await client.post("/api/agent-memory/commit", learned("robin"))
    assert known.status == 201
    rule = {"agent_name": "robin"}
    assert (await ruled.call("PUT", f"{REVIEW}/rules", rule)).status == 200
    waiting = await wait_for(client, "/api/agent-memory/commit", learned("robin"))
    path = f"/api/agent-memory/{known.body['memory_id']}"
    assert (await client.get(path)).body["memory"].get("confirmed_count", 0) == 0
    before = (await client.get("/api/psychic-cache/all/missions")).body["data"]
    await wait_for(client, WRITE, note("m", TEXT))
    assert (await client.get("/api/psychic-cache/all/missions")).body["data"] == before
    merged = await decide(ruled, f"peer:{waiting}", "merge", into=f"own:{known.body['memory_id']}")
    assert (merged["state"], merged["item"]) == ("merged", f"peer:{known.body['memory_id']}")
    assert (await client.get(path)).body["memory"]["confirmed_count"] == 1


async def test_changes_are_for_reviewers(ruled: Client, client: Client) -> None:
    """An agent cannot change what was approved into what nobody approved."""
    waiting = await wait_for(client, "/api/agent-memory/commit", learned("wren"))
    item = (await decide(ruled, f"peer:{waiting}", "approve"))["item"]
    path = f"/api/agent-memory/{item.partition(':')[2]}"
    change = {"content": "All certificates are fine as they are"}
    assert (await client.call("PATCH", path, change)).status == 409
    assert (await ruled.call("PATCH", path, change)).status == 200
    tagged = await wait_for(client, WRITE, note("m", TEXT))
    entry = (await decide(ruled, f"cache:{tagged}", "approve"))["item"].partition(":")[2]
    answer = await client.call("PATCH", f"/api/psychic-cache/all/entries/{entry}", {"tags": ["zebra"]})
    assert answer.status == 409, answer
    put = {"path": "missions/m/plan.md", "text": TEXT}
    assert (await client.post("/api/vault/files", put)).status == 409
    alias = {"alias": "stripes", "entity": "zebra", "agent_name": "wren"}
    assert (await client.post("/api/kg/aliases", alias)).status == 409


async def test_a_rule_ends(ruled: Client, client: Client) -> None:
    waiting = await wait_for(client, WRITE, note("m", TEXT))
    assert (await ruled.delete(f"{REVIEW}/rules?mission=m")).status in (200, 204)
    listed = (await ruled.get(f"{REVIEW}/rules")).body["data"]
    assert [rule["scope"] for rule in listed] == ["agent:wren"]
    answer = await client.post(WRITE, note("m", "free again"))
    assert answer.body["data"]["id"] > 0
    assert "violet" not in await everywhere(client)
    assert [item["handle"] for item in await queue(ruled, kind="waiting")] == [f"cache:{waiting}"]
    events = (await ruled.get("/api/timeline?kind=review_rule&limit=100")).body["data"]
    assert [event["payload"]["required"] for event in events] == [True, True, False]


async def test_what_waits_is_bounded_by_agent(
    ruled: Client, client: Client, tenant: Tenant, sql: Connection
) -> None:
    await wait_for(client, WRITE, note("m", TEXT, agent_name="scout"))
    columns = (
        "tenant, store, state, scope, agent_name, subjects, content, body, writer, written_by, source_kind"
    )
    waiting = f"""
        insert into cache.reviews ({columns})
        select {columns} from cache.reviews, generate_series(1, $2) where tenant = $1"""
    await sql.execute(waiting, tenant.name, MOST_WAITING_OF_AGENT - 1)
    refused = await client.post(WRITE, note("m", TEXT, agent_name="scout"))
    assert (refused.status, refused.headers["retry-after"]) == (429, "60"), refused
    await wait_for(client, WRITE, note("m", TEXT, agent_name="heron"))
    page = await ruled.get(f"{REVIEW}?kind=waiting&agent=scout&limit=1")
    assert page.status == 200, page
    await decide(ruled, page.body["data"][0]["handle"], "forget")
    await wait_for(client, WRITE, note("m", TEXT, agent_name="scout"))
