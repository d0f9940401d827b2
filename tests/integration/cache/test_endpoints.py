"""The cache through the public door: its endpoints, and each limitation of the document it comes from."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from shared.database.postgres import Connection
from tests.integration.conftest import Tenant
from tests.support.calls import Json, nine, note, tokens_of, until
from tests.support.cluster import Answer, Client

CACHE = "/api/psychic-cache"


async def written(client: Client, body: Json, status: int = 201) -> Json:
    answer = await client.post(f"{CACHE}/write", body)
    assert answer.status == status, answer
    data: Json = answer.body["data"]
    return data


async def stats(client: Client, mission: str) -> Json:
    answer = await client.get(f"{CACHE}/{mission}/stats")
    assert answer.status == 200, answer
    data: Json = answer.body["data"]
    return data


def fields(answer: Answer) -> list[str]:
    assert answer.status == 400, answer
    return [error["field"] for error in answer.body["errors"]]


async def test_all_nine_are_found_listed_and_counted(client: Client) -> None:
    for body in nine("m"):
        data = await written(client, body)
        assert data["token_count"] == tokens_of(body)
        assert data["evicted_count"] == 0
    assert data["cache_total_tokens"] == (await stats(client, "m"))["total_tokens"]
    found = await client.post(
        f"{CACHE}/query", {"mission_id": "m", "query": "failover of the orders database"}
    )
    assert {e["context_type"] for e in found.body["data"]["entries"]} == {
        b["context_type"] for b in nine("m")
    }
    assert found.body["data"]["cache_size"] == 9
    listed = (await client.get(f"{CACHE}/m/entries")).body["data"]
    assert [e["id"] for e in listed] == sorted((e["id"] for e in listed), reverse=True)
    assert len((await client.get(f"{CACHE}/all/entries")).body["data"]) == 9
    by_type = (await stats(client, "m"))["by_type"]
    assert by_type == {b["context_type"]: 1 for b in nine("m")}
    checkpoint = await client.get(f"{CACHE}/checkpoint/m-session")
    assert checkpoint.body["data"]["turn_count"] == 3
    assert (await client.get(f"{CACHE}/checkpoint/other")).status == 404


async def test_a_clear_needs_a_reason_and_the_timeline_keeps_it(client: Client) -> None:
    await written(client, note("m", "to be cleared"))
    cases: list[tuple[str, object]] = [
        ("", None),
        ("?reason=bored", None),
        ("", {"reason": "bored"}),
        ("", {"reason": 1}),
    ]
    for path, body in cases:
        answer = await client.call("DELETE", f"{CACHE}/m{path}", body)
        assert fields(answer) == ["reason"]
        assert "mission_complete" in answer.body["errors"][0]["allowed"]
    assert (await stats(client, "m"))["entry_count"] == 1
    answer = await client.call("DELETE", f"{CACHE}/m", {"reason": "superseded"})
    assert answer.body["data"] == {"deleted_count": 1, "freed_tokens": 4}

    async def kept() -> None:
        events = (await client.get("/api/timeline?mission=m&kind=cache_clear")).body["data"]
        assert [e["payload"]["reason"] for e in events] == ["superseded"]

    await until(kept)


async def test_a_star_is_every_mission_that_the_key_may_read(tenant: Tenant, client: Client) -> None:
    for mission in ("one", "two", "three"):
        await written(client, note(mission, f"the failover seen from {mission}"))
    everything = {"mission_id": "*", "query": "failover"}
    found = (await client.post(f"{CACHE}/query", everything)).body["data"]
    assert {e["mission_id"] for e in found["entries"]} == {"one", "two", "three"}
    narrow = await tenant.client("read", missions=["one", "two"])
    found = (await narrow.post(f"{CACHE}/query", everything)).body["data"]
    assert {e["mission_id"] for e in found["entries"]} == {"one", "two"}
    assert {m["mission_id"] for m in (await narrow.get(f"{CACHE}/all/missions")).body["data"]} == {
        "one",
        "two",
    }


async def test_times_are_instants_of_the_database(client: Client, sql: Connection) -> None:
    before = await sql.fetchval("select clock_timestamp()")
    entry_id = (await written(client, note("m", "when"), 201))["id"]
    after = await sql.fetchval("select clock_timestamp()")
    stamp = (await client.get(f"{CACHE}/all/entries/{entry_id}")).body["data"]["created_at"]
    assert stamp.endswith("Z")
    assert before <= datetime.fromisoformat(stamp).astimezone(UTC) <= after
    default = await sql.fetchval(
        "select column_default from information_schema.columns"
        " where table_schema = 'cache' and table_name = 'psychic_cache' and column_name = 'created_at'"
    )
    assert default is None


async def test_a_direct_query_prefers_the_fresh(client: Client, sql: Connection) -> None:
    old = (await written(client, note("m", "the pool was drained by the migration")))["id"]
    new = (await written(client, note("m", "the pool was drained by the migration")))["id"]
    await sql.execute(
        "update cache.psychic_cache set created_at = created_at - interval '5 hours' where id = $1", old
    )
    found = await client.post(f"{CACHE}/query", {"mission_id": "m", "query": "what drained the pool"})
    entries = found.body["data"]["entries"]
    assert [e["id"] for e in entries] == [new, old]
    assert entries[0]["recency"] > entries[1]["recency"] >= 0.6


async def test_filters_narrow_and_empty_ones_do_not(client: Client) -> None:
    await written(client, note("m", "the failover by a", agent_name="a", tags=["x"], dispatch_id=4))
    await written(client, note("m", "the failover by b", agent_name="b", tags=["y", "z"]))
    await written(
        client,
        {
            "context_type": "decision",
            "mission_id": "m",
            "content": "the failover decided",
            "decision_rationale": "why not",
        },
    )

    async def ask(**filters: object) -> list[str]:
        answer = await client.post(f"{CACHE}/query", {"mission_id": "m", "query": "failover", **filters})
        assert answer.status == 200, answer
        return sorted(e["content"][-1] for e in answer.body["data"]["entries"])

    assert await ask(context_types=[], tags=[]) == ["a", "b", "d"]
    assert await ask(context_types=["decision"]) == ["d"]
    assert await ask(tags=["x", "z"]) == ["a", "b"]
    assert await ask(agent_name="b") == ["b"]
    assert await ask(dispatch_id=4) == ["a"]
    assert await ask(tags=["none"]) == []
    answer = await client.post(
        f"{CACHE}/query", {"mission_id": "m", "query": "failover", "context_types": ["rumour"]}
    )
    assert fields(answer) == ["context_types[...]"] or fields(answer)[0].startswith("context_types")
    small = await client.post(f"{CACHE}/query", {"mission_id": "m", "query": "failover", "token_budget": 20})
    assert 0 < small.body["data"]["total_tokens"] <= 20


async def test_a_query_leaves_an_event(client: Client) -> None:
    await written(client, note("m", "a thing to ask for"))
    await client.post(f"{CACHE}/query", {"mission_id": "m", "query": "thing"})

    async def noted() -> None:
        events = (await client.get("/api/timeline?mission=m&kind=cache_query")).body["data"]
        assert [e["payload"]["entries"] for e in events] == [1]

    await until(noted)


async def test_one_entry_is_read_retagged_and_deleted(tenant: Tenant, client: Client) -> None:
    entry_id = (await written(client, note("m", "the plain text of it", tags=["before"])))["id"]
    path = f"{CACHE}/all/entries/{entry_id}"
    edited = await client.call("PATCH", path, {"tags": ["zebra", "stripe"]})
    assert edited.body["data"]["tags"] == ["zebra", "stripe"]

    async def ask(text: str) -> list[int]:
        answer = await client.post(f"{CACHE}/query", {"mission_id": "m", "query": text, "tags": ["zebra"]})
        return [e["id"] for e in answer.body["data"]["entries"]]

    assert await ask("zebra") == [entry_id]
    assert await ask("plain text") == [entry_id]
    stranger = await tenant.client("write", missions=["other"])
    for method in ("GET", "PATCH", "DELETE"):
        body: object = {"tags": []} if method == "PATCH" else None
        assert (await stranger.call(method, path, body)).status == 404
    freed = tokens_of(note("m", "the plain text of it", tags=["zebra", "stripe"]))
    assert (await client.delete(path)).body["data"] == {"deleted_count": 1, "freed_tokens": freed}
    assert (await client.get(path)).status == (await client.delete(path)).status == 404
    left = await stats(client, "m")
    assert (left["entry_count"], left["total_tokens"], left["cleared_count"]) == (0, 0, 1)


async def test_each_entry_of_a_batch_has_its_own_result(client: Client, admin_client: Client) -> None:
    await admin_client.call("PUT", f"{CACHE}/tight/limits", {"token_budget": 10})
    entries = [
        note("m", "one"),
        {"context_type": "intel", "mission_id": "m", "content": "no source"},
        note("tight", "x" * 41),
        note("tight", "x" * 37),
        note("m", "two", surprise=1),
        note("m", "three"),
    ]
    for headers in ({}, {"idempotency-key": "batch-1"}, {"idempotency-key": "batch-1"}):
        answer = await client.post(f"{CACHE}/write/batch", {"entries": entries}, headers=headers)
        assert answer.status == 200, answer
        items = answer.body["data"]["entries"]
        assert [item["status"] for item in items] == [201, 400, 422, 201, 400, 201]
        assert items[1]["error"]["errors"] == [{"field": "intel_source", "message": "is required"}]
        assert items[4]["error"]["errors"] == [{"field": "surprise", "message": "unknown field"}]
        assert items[0]["data"]["id"] < items[5]["data"]["id"]
        assert answer.body["data"]["written"] == 3
    assert (await stats(client, "m"))["written_count"] == 4
    assert (await stats(client, "tight"))["evicted_count"] == 1
    assert fields(await client.post(f"{CACHE}/write/batch", {"entries": []})) == ["entries"]


async def test_an_entry_of_a_batch_that_may_not_supersede_stops_no_other(client: Client) -> None:
    older = await client.post(f"{CACHE}/write", note("m", "db-7"))
    good = note("m", "db-9") | {"supersedes": older.body["data"]["id"]}
    body = {"entries": [good, note("m", "db-8") | {"supersedes": 2**40}, note("m", "another")]}
    for headers in ({"idempotency-key": "batch-2"}, {"idempotency-key": "batch-2"}, {}):
        answer = await client.post(f"{CACHE}/write/batch", body, headers=headers)
        assert [item["status"] for item in answer.body["data"]["entries"]] == [201, 400, 201], answer
        assert answer.body["data"]["entries"][1]["error"]["errors"][0]["field"] == "supersedes"
    told = (await client.get(f"{CACHE}/m/stats")).body["data"]
    assert told["entry_count"] == 5


async def test_each_long_entry_of_a_batch_has_its_own_result(client: Client) -> None:
    """The process for long texts reads them."""
    long = "A word of many. " * 2_000
    entries = [note("m", long), note("m", long, occurred_at="0001-01-01T00:00:00+14:00"), note("m", "short")]
    answer = await client.post(f"{CACHE}/write/batch", {"entries": entries})
    items = answer.body["data"]["entries"]
    assert [item["status"] for item in items] == [201, 400, 201]
    assert [error["field"] for error in items[1]["error"]["errors"]] == ["occurred_at"]


async def test_many_at_once_answer_as_one_after_the_other(client: Client, admin_client: Client) -> None:
    await admin_client.call("PUT", f"{CACHE}/hot/limits", {"token_budget": 100, "entry_budget": 10})
    sizes = [4 * (1 + n % 30) - 3 for n in range(150)]
    turns = asyncio.Semaphore(48)  # what comes beyond that at once is refused, as too much

    async def write(size: int) -> Answer:
        async with turns:
            return await client.post(f"{CACHE}/write", note("hot", "x" * size))

    answers = await asyncio.gather(*(write(size) for size in [*sizes, 401, 405]))
    assert [a.status for a in answers] == [201] * 150 + [422] * 2
    done = sorted((a.body["data"] for a in answers[:150]), key=lambda data: data["id"])
    held: list[int] = []
    for data in done:  # what the model of one writer says, in the order of the ids
        evicted = 0
        while sum(held) + data["token_count"] > 100 or len(held) + 1 > 10:
            held.pop(0)
            evicted += 1
        held.append(data["token_count"])
        assert (data["cache_total_tokens"], data["evicted_count"]) == (sum(held), evicted)


async def test_a_lowered_budget_holds_at_once(client: Client, admin_client: Client) -> None:
    for number in range(5):
        await written(client, note("m", f"{number}" * 37))
    await admin_client.call("PUT", f"{CACHE}/m/limits", {"token_budget": 25})
    held = await stats(client, "m")
    assert (held["total_tokens"], held["evicted_count"], held["token_budget"]) == (20, 3, 25)


@pytest.mark.parametrize("path", ["/write", "/query", "/m"])
async def test_a_reader_may_only_read(tenant: Tenant, client: Client, path: str) -> None:
    reader = await tenant.client("read")
    if path == "/query":
        assert (await reader.post(CACHE + path, {"mission_id": "m", "query": "q"})).status == 200
    elif path == "/write":
        assert (await reader.post(CACHE + path, note("m", "no"))).status == 403
    else:
        assert (await reader.delete(f"{CACHE}/m?reason=operator")).status == 403


async def test_all_missions_may_be_none(tenant: Tenant) -> None:
    client = await tenant.client("write")
    found = await client.post("/api/psychic-cache/query", {"mission_id": "*", "query": "failover"})
    assert (found.status, found.body["data"]["entries"]) == (200, []), found
