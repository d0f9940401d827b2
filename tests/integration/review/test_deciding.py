"""The queue beyond what waits, and who may decide what, how often."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

from tests.integration.conftest import Tenant
from tests.integration.review.reviewing import REVIEW, TEXT, decide, learned, queue, wait_for
from tests.support.calls import note, until
from tests.support.cluster import Client

WRITE = "/api/psychic-cache/write"
COMMIT = "/api/agent-memory/commit"


async def rule(admin: Client, **named: str) -> None:
    answer = await admin.call("PUT", f"{REVIEW}/rules", named)
    assert answer.status == 200, answer


async def learn(client: Client, agent: str, text: str, **more: Any) -> int:
    answer = await client.post(COMMIT, learned(agent, text, **more))
    assert answer.status == 201, answer
    return int(answer.body["memory_id"])


async def test_near_duplicates_stand_side_by_side(admin_client: Client, client: Client) -> None:
    """Two that differ in a figure are no repeats: only a reviewer can say whether they are."""
    older = await learn(client, "scout", "The pool of the ledger holds 20 connections at most")
    newer = await learn(client, "scout", "The pool of the ledger holds 40 connections at most")
    await learn(client, "scout", "Falcons hunt at dusk")
    assert older != newer
    (item,) = await queue(client, kind="near_duplicate")
    assert (item["handle"], item["other"]["handle"]) == (f"peer:{newer}", f"peer:{older}")
    assert item["other"]["content"].endswith("20 connections at most")
    decided = await decide(admin_client, item["handle"], "merge", into=item["other"]["handle"])
    assert (decided["state"], decided["item"]) == ("merged", f"peer:{older}")
    assert await decide(admin_client, item["handle"], "merge", into=item["other"]["handle"]) == decided
    merged = (await client.get(f"/api/agent-memory/{newer}")).body["memory"]
    assert merged["superseded_by"] == older
    kept = (await client.get(f"/api/agent-memory/{older}")).body["memory"]
    assert kept["confirmed_count"] == 1
    assert await queue(client, kind="near_duplicate") == []


async def test_what_a_merge_keeps_holds_again(admin_client: Client, client: Client) -> None:
    """Also where what is merged only repeated what had been recalled."""
    older = await learn(client, "scout", "The pool of the ledger holds 20 connections at most")
    text = "The gate of the ledger opens at 40 requests"
    newer = await learn(client, "scout", text, supersedes=older, recalled_from=1)
    await decide(admin_client, f"peer:{newer}", "merge", into=f"peer:{older}")
    marks = [
        (await client.get(f"/api/agent-memory/{id_}")).body["memory"].get("superseded_by")
        for id_ in (older, newer)
    ]
    assert marks == [None, older]


async def test_disputes_low_trust_and_what_is_derived(admin_client: Client, client: Client) -> None:
    fact = {"subject": "gateway", "predicate": "runs on", "scope": "shared"}
    for value, kind in (("port 80", "user"), ("port 81", "tool")):
        answer = await client.post("/api/kg/write", {**fact, "object": value, "source_kind": kind})
        assert answer.status == 201, answer
    (item,) = await queue(client, kind="disputed")
    assert (item["content"], item["other"]["content"]) == (
        "gateway — runs on — port 81",
        "gateway — runs on — port 80",
    )
    await learn(client, "scout", "A page says that falcons nest on ledges", source_kind="document")
    kept = {"kind": "knowledge", "content": "Ledges are cold", "scope": "shared", "source_kind": "derived"}
    assert (await client.post("/api/memory", kept)).status == 201
    assert (await client.post(WRITE, note("m", "A tool printed this", source_kind="tool"))).status == 201
    low = await queue(client, kind="low_trust", limit=1)
    assert [each["handle"].partition(":")[0] for each in low] == ["cache", "peer", "kg"]
    (derived,) = await queue(client, kind="derived")
    assert derived["content"] == "Ledges are cold"
    for each in [*low[:2], derived]:
        await decide(admin_client, each["handle"], "approve")
    await decide(admin_client, item["handle"], "forget")
    assert await queue(client) == []
    current = (await client.post("/api/kg/query", {"entity": "gateway"})).body["data"]
    assert [each["object"] for each in current] == ["port 80"]


async def test_filters_and_refusals(admin_client: Client, client: Client) -> None:
    for path in ("?kind=other", "?limit=0", "?limit=101", "?cursor=x", "?agent=%00"):
        assert (await client.get(REVIEW + path)).status == 400, path
    bad: list[dict[str, Any]] = [
        {"handle": "vault:1", "decision": "approve"},
        {"handle": "cache:0", "decision": "approve"},
        {"handle": "cache:1", "decision": "merge"},
        {"handle": "cache:1", "decision": "edit"},
        {"handle": "cache:1", "decision": "approve", "content": "x"},
        {"handle": "cache:1", "decision": "merge", "into": "peer:1"},
        {"handle": "cache:1", "decision": "merge", "into": "cache:-1"},
        {"handle": "cache:1", "decision": "eat"},
    ]
    for body in bad:
        answer = await admin_client.post(f"{REVIEW}/decide", body)
        assert (answer.status, bool(answer.body["errors"])) == (400, True), body
    for handle in (
        "cache:999999999",
        "cache:-999999999",
        "peer:-1",
        "kg:999999999",
        "memory:-999999999999999999",
    ):
        answer = await admin_client.post(f"{REVIEW}/decide", {"handle": handle, "decision": "approve"})
        assert answer.status == 404, handle
    for body in ({}, {"mission_id": "m", "agent_name": "a"}, {"mission_id": "a/b"}):
        assert (await admin_client.call("PUT", f"{REVIEW}/rules", body)).status == 400, body
    assert (await admin_client.delete(f"{REVIEW}/rules")).status == 400
    for mission in ("all", "a/b", "a\x1ab", "a\x00b"):
        refused = await admin_client.delete(f"{REVIEW}/rules", params={"mission": mission})
        assert (refused.status, refused.body["errors"][0]["field"]) == (400, "mission"), mission
    await rule(admin_client, mission_id="m")
    await rule(admin_client, agent_name="wren")
    await wait_for(client, WRITE, note("m", "one", agent_name="robin"))
    await wait_for(client, COMMIT, learned("wren", "two"))
    for narrowed, count in (({}, 2), ({"mission": "m"}, 1), ({"agent": "wren"}, 1), ({"agent": "owl"}, 0)):
        assert len(await queue(admin_client, **narrowed)) == count, narrowed


async def test_keys_see_and_decide_within_their_bounds(
    tenant: Tenant, admin_client: Client, client: Client
) -> None:
    await rule(admin_client, agent_name="wren")
    await rule(admin_client, mission_id="m")
    await rule(admin_client, mission_id="n")
    memory = await wait_for(client, COMMIT, learned("wren", TEXT, user_id="ana"))
    entry = await wait_for(client, WRITE, note("m", TEXT))
    other = await wait_for(client, WRITE, note("n", TEXT))
    everything = {f"peer:{memory}", f"cache:{entry}", f"cache:{other}"}
    seen: list[tuple[dict[str, Any], set[str]]] = [
        ({"access": "admin"}, everything),
        ({"access": "admin", "missions": ["m"]}, {f"cache:{entry}"}),
        ({"access": "admin", "users": ["bob"]}, {f"cache:{entry}", f"cache:{other}"}),
        ({"access": "admin", "users": ["ana"]}, everything),
        # Its own writes, to know what became of them.
        ({"access": "write", "agent": "wren"}, {f"peer:{memory}"}),
        ({"access": "admin", "agent": "wren"}, {f"peer:{memory}"}),
        ({"access": "write", "agent": "robin"}, set()),
        ({"access": "write"}, set()),
        ({"access": "read", "missions": ["m"]}, set()),
    ]
    for key, expected in seen:
        by = await tenant.client(**key)
        assert {item["handle"] for item in await queue(by, kind="waiting")} == expected, key
        for handle in sorted(everything):
            answer = await by.post(
                f"{REVIEW}/decide", {"handle": handle, "decision": "merge", "into": handle.replace("-", "")}
            )
            if key["access"] != "admin" or "agent" in key:
                assert answer.status == 403, (key, handle)
            else:
                assert answer.status in ((400, 409) if handle in expected else (404,)), (key, handle, answer)
    bound = await tenant.client("admin", missions=["m"])
    assert (await bound.call("PUT", f"{REVIEW}/rules", {"mission_id": "m"})).status == 403
    assert (await decide(bound, f"cache:{entry}", "approve"))["state"] == "approved"


async def test_one_decision_however_often_it_is_asked(admin_client: Client, client: Client) -> None:
    await rule(admin_client, mission_id="m")
    waiting = await wait_for(client, WRITE, note("m", TEXT))
    body = {"handle": f"cache:{waiting}", "decision": "approve"}
    answers = await asyncio.gather(*(admin_client.post(f"{REVIEW}/decide", body) for _ in range(8)))
    assert {answer.status for answer in answers} == {200}
    assert len({answer.body["item"] for answer in answers}) == 1

    async def told() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (await client.get("/api/timeline?kind=review_decide&limit=100")).body[
            "data"
        ]
        assert found
        return found

    events = await until(told)
    (event,) = events
    assert event["payload"]["state"] == "approved"
    assert "violet" not in str(events)
    assert len((await client.get("/api/psychic-cache/m/entries")).body["data"]) == 1
    audit = (await admin_client.get("/api/context/audit?action=review_decide")).body["data"]
    assert len(audit) == 1


async def test_a_purge_erases_what_waits(
    tenant: Tenant, admin_client: Client, client: Client, sql: Any
) -> None:
    await rule(admin_client, mission_id="m")
    await rule(admin_client, agent_name="wren")
    by_mission = await wait_for(client, WRITE, note("m", TEXT))
    by_agent = await wait_for(client, COMMIT, learned("wren", TEXT))
    by_user = await wait_for(client, COMMIT, learned("wren", f"{TEXT} too", user_id="ana"))
    purges = [
        ({"user_id": "ana"}, f"peer:{by_user}"),
        ({"agent_name": "wren"}, f"peer:{by_agent}"),
        ({"mission_id": "m"}, f"cache:{by_mission}"),
    ]
    for body, handle in purges:
        assert handle in {item["handle"] for item in await queue(admin_client, kind="waiting")}
        answer = await admin_client.post("/api/context/purge", body)
        assert answer.status == 200, answer
        assert handle not in {item["handle"] for item in await queue(admin_client, kind="waiting")}
        answer = await admin_client.post(f"{REVIEW}/decide", {"handle": handle, "decision": "approve"})
        assert answer.status == 404, handle
    for schema in ("cache", "memory"):
        assert (
            await sql.fetchval(f"select count(*) from {schema}.reviews where tenant = $1", tenant.name) == 0
        )


async def test_nothing_of_the_past_shows_what_waited_then(admin_client: Client, client: Client) -> None:
    await rule(admin_client, mission_id="m")
    waiting = await wait_for(client, WRITE, note("m", TEXT))
    then = datetime.now(UTC)
    await decide(admin_client, f"cache:{waiting}", "approve")
    asked = {"query": "zebra violet certificate", "caller": "scout", "mission_namespace": "m"}
    assert "violet" in (await client.post("/api/context/assemble", asked)).body["context_block"]
    past = await client.post("/api/context/assemble", {**asked, "as_of": then.isoformat()})
    assert "violet" not in past.body["context_block"]


async def test_who_was_given_it(tenant: Tenant, admin_client: Client, client: Client) -> None:
    item = await learn(client, "wren", TEXT)
    asked = {"query": "Which certificate does the zebra deployment need?", "token_budget": 500}
    for caller, mission in (("wren", "m"), ("scout", "m"), ("scout", "n")):
        body = {**asked, "caller": caller, "mission_namespace": mission}
        answer = await client.post("/api/context/assemble", body)
        assert "violet" in answer.body["context_block"], answer
    given = "/api/context/log/given"

    async def pages(by: Client, handle: str, more: str = "") -> list[tuple[str, str, str]]:
        found: list[tuple[str, str, str]] = []
        cursor: str | None = ""
        while cursor is not None:
            answer = await by.get(f"{given}?handle={handle}&limit=1{more}{cursor}")
            assert answer.status == 200, answer
            found += [(one["handle"], one["caller"], one["mission_namespace"]) for one in answer.body["data"]]
            cursor = None if answer.body["next"] is None else f"&cursor={answer.body['next']}"
        return found

    everyone = [(f"peer:{item}", "scout", "n"), (f"peer:{item}", "scout", "m"), (f"own:{item}", "wren", "m")]

    async def all_are_logged() -> None:
        assert await pages(client, f"own:{item}") == everyone

    await until(all_are_logged)
    assert await pages(client, f"peer:{item}") == everyone
    assert await pages(client, f"peer:{item}", "&caller=scout&mission_namespace=m") == everyone[1:2]
    assert await pages(await tenant.client("read", agent="wren"), f"own:{item}") == everyone[2:]
    assert await pages(client, f"peer:{item + 1}") == []
    assert (await client.get(f"{given}?handle=nothing")).status == 404
    assert (await client.get(given)).status == 400
