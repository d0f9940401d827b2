"""The log of assemblies over HTTP: why an item was taken or dropped, replay, sources by handle, nothing lost."""

from __future__ import annotations

import asyncio
import hashlib
from typing import Any
from urllib.parse import quote

import pytest

from shared.database.postgres import Connection
from tests.integration.conftest import Tenant
from tests.support.calls import assert_unavailable, lesson, note, question, until, within
from tests.support.cluster import Answer, Client, Cluster
from tests.support.clusters import spare

FACTORS = ("weight", "relevance", "recency", "priority")


async def fill(client: Client, mission: str, entries: int = 12) -> None:
    """Entries and memories about one thing, and a memory that repeats an entry."""
    for number in range(entries):
        text = f"finding {number}: the orders database failover took {number + 3} minutes on shard {number}"
        assert (await client.post("/api/psychic-cache/write", note(mission, text))).status == 201
    for agent in ("scout", "medic"):
        text = f"{agent} learned that a failover of the orders database needs a fenced replica"
        assert (await client.post("/api/agent-memory/commit", lesson(agent, text))).status == 201
    repeat = "finding 0: the orders database failover took 3 minutes on shard 0"
    assert (await client.post("/api/agent-memory/commit", lesson("scout", repeat))).status == 201


async def assemble(client: Client, mission: str, **more: Any) -> dict[str, Any]:
    answer = await client.post("/api/context/assemble", question(mission, **more))
    assert answer.status == 200, answer
    assert answer.body["degraded"] == []
    return answer.body  # type: ignore[no-any-return]


async def explained(client: Client, assembly_id: int) -> dict[str, Any]:
    answer = await client.get(f"/api/context/log/{assembly_id}")
    assert answer.status == 200, answer
    return answer.body  # type: ignore[no-any-return]


async def test_every_candidate_is_there_with_its_reason(client: Client) -> None:
    await fill(client, "why")
    await client.post("/api/psychic-cache/write?wait=indexed", note("why", "the cafeteria has no soup today"))
    assembly = await assemble(client, "why", token_budget=150, fill=True)
    log = await explained(client, assembly["assembly_id"])
    by_outcome: dict[str, list[str]] = {}
    for one in log["candidates"]:
        by_outcome.setdefault(one["outcome"], []).append(one["handle"])
        if one["outcome"] != "floor":
            product = one["weight"] * one["relevance"] * one["recency"] * one["priority"]
            assert one["score"] == pytest.approx(product, abs=1e-3)
            assert one["tokens"] > 0
    assert set(by_outcome) >= {"taken", "budget", "repeat"}
    inside = [source["handle"] for source in assembly["sources"]]
    assert sorted(by_outcome["taken"] + by_outcome.get("cut", [])) == sorted(inside)
    repeats = [one for one in log["candidates"] if one["outcome"] == "repeat"]
    handles = {one["handle"] for one in log["candidates"]}
    assert all(one["same_as"] in handles for one in repeats)
    assert len(handles) == len(log["candidates"]) == 16
    assert (log["caller"], log["token_budget"]) == ("scout", 150)
    assert len(log["query_hash"]) == 64


async def test_a_logged_query_can_be_compared_but_not_guessed(tenants: tuple[Tenant, Tenant]) -> None:
    one, other = [await tenant.client("write") for tenant in tenants]

    async def hashed(client: Client, query: str) -> str:
        assembly = await assemble(client, "why", text=query)
        return str((await explained(client, assembly["assembly_id"]))["query_hash"])

    query = "is the merger off?"
    first = await hashed(one, query)
    assert await hashed(one, query) == first
    assert await hashed(one, f"{query} ") != first
    assert await hashed(other, query) != first
    assert first != hashlib.sha256(query.encode()).hexdigest()


async def test_a_logged_assembly_is_never_0(client: Client) -> None:
    empty = await assemble(client, "nothing-here", text="anything")
    assert empty["context_block"] == ""
    assert empty["assembly_id"] > 0
    assert (await explained(client, empty["assembly_id"]))["candidates"] == []
    assert (await assemble(client, "nothing-here", log=False))["assembly_id"] == 0


async def test_the_log_is_listed_by_caller_and_mission(client: Client) -> None:
    for mission, caller in (("one", "scout"), ("two", "scout"), ("one", "medic")):
        await assemble(client, mission, caller=caller)
    ids = {}
    for query in ("", "?caller=scout", "?mission_namespace=one", "?caller=medic&mission_namespace=two"):
        answer = await until(lambda q=query: _listed(client, q))  # type: ignore[misc]
        ids[query] = [entry["id"] for entry in answer]
    assert [len(found) for found in ids.values()] == [3, 2, 2, 0]
    assert ids[""] == sorted(ids[""], reverse=True)
    assert (await client.get("/api/context/log/callers")).body == {"data": ["medic", "scout"], "next": None}


async def _listed(client: Client, query: str) -> list[dict[str, Any]]:
    everything = await client.get("/api/context/log")
    assert len(everything.body["data"]) == 3
    answer = await client.get("/api/context/log" + query)
    assert answer.status == 200
    return answer.body["data"]  # type: ignore[no-any-return]


async def test_who_may_see_an_assembly(tenants: tuple[Tenant, Tenant]) -> None:
    mine, theirs = tenants
    client = await mine.client("write")
    assembly_id = (await assemble(client, "secret"))["assembly_id"]
    for stranger in (
        await theirs.client("admin"),
        await mine.client("read", agent="medic"),
        await mine.client("read", missions=["other"]),
    ):
        assert (await stranger.get(f"/api/context/log/{assembly_id}")).status == 404
        assert (await stranger.post(f"/api/context/log/{assembly_id}/replay", {})).status == 404
        assert (await stranger.get("/api/context/log")).body == {"data": [], "next": None}
        assert (await stranger.get("/api/context/log/callers")).body == {"data": [], "next": None}
    for friend in (await mine.client("read", agent="scout"), await mine.client("read", missions=["secret"])):
        assert (await friend.get(f"/api/context/log/{assembly_id}")).status == 200


async def test_replay_unchanged_takes_the_same(client: Client) -> None:
    await fill(client, "again")
    for tokens in (60, 150, 300, 4000):
        assembly = await assemble(client, "again", token_budget=tokens)
        answer = await client.post(f"/api/context/log/{assembly['assembly_id']}/replay", {})
        assert answer.status == 200, answer
        assert (answer.body["added"], answer.body["removed"]) == ([], []), tokens
        assert answer.body["total_tokens"] == pytest.approx(assembly["total_tokens"], abs=15)


async def test_replay_under_other_settings(client: Client) -> None:
    await fill(client, "otherwise")
    assembly = await assemble(client, "otherwise", token_budget=150, fill=True)
    path = f"/api/context/log/{assembly['assembly_id']}/replay"
    more = (await client.post(path, {"token_budget": 4000})).body
    assert more["added"]
    assert more["removed"] == []
    assert more["token_budget"] == 4000
    without = (await client.post(path, {"weights": {"psychic_cache": 0.0}})).body
    ranked = [one["store"] for one in without["candidates"] if one["outcome"] not in ("floor", "repeat")]
    assert ranked[-1] == "psychic_cache"
    assert ranked[0] != "psychic_cache"
    # The repeat that was left out stands now for the entry that was taken.
    same = next(one for one in without["candidates"] if one["outcome"] == "repeat")
    assert same["handle"].startswith("cache:")
    # What another budget gives for real.
    real = await assemble(client, "otherwise", token_budget=4000, fill=True)
    assert {source["handle"] for source in real["sources"]} == {
        one["handle"] for one in more["candidates"] if one["taken"]
    }


@pytest.mark.parametrize("body", [{"weights": {"nowhere": 1}}, {"token_budget": 0}, {"other": 1}])
async def test_replay_refuses_what_it_does_not_know(client: Client, body: dict[str, Any]) -> None:
    assembly_id = (await assemble(client, "x"))["assembly_id"]
    assert (await client.post(f"/api/context/log/{assembly_id}/replay", body)).status == 400


async def test_what_is_not_there(client: Client) -> None:
    assert (await client.get("/api/context/log/999999999")).status == 404
    for wrong in ("0", "-1", str(2**63), "x"):
        assert (await client.get(f"/api/context/log/{wrong}")).status in (400, 404)
    for handle in (
        "cache:0x1",
        "own:",
        "nowhere:1",
        "cache:99999999999999999999",
        "cache:1#x",
        "cache",
        "vault:1",
    ):
        answer = await client.get(f"/api/context/sources/{quote(handle, safe='')}")
        assert answer.status == 404, (handle, answer)


async def test_as_of_shows_what_was_there_then(client: Client) -> None:
    await client.post("/api/psychic-cache/write", note("then", "the failover plan is version one"))
    early = await assemble(client, "then", text="failover plan version")
    then = early["sources"][0]["at"]
    await client.post("/api/psychic-cache/write", note("then", "the failover plan needs a second version"))
    now = await assemble(client, "then", text="failover plan version")
    assert len(now["sources"]) == 2
    back = await assemble(client, "then", text="failover plan version", as_of=then)
    assert [source["handle"] for source in back["sources"]] == [early["sources"][0]["handle"]]
    assert back["sources"][0]["recency"] == 1.0
    before = await assemble(client, "then", text="failover plan version", as_of="2001-01-01T00:00:00Z")
    assert before["sources"] == []
    log = await explained(client, before["assembly_id"])
    assert log["as_of"] == "2001-01-01T00:00:00Z"


async def test_what_came_later_does_not_hide_what_was_there_then(client: Client) -> None:
    entry, memory = "the failover plan is version one", "scout knows that the failover plan is version one"
    await client.post("/api/agent-memory/commit", lesson("scout", memory))
    await client.post("/api/psychic-cache/write", note("much", entry))
    early = await assemble(client, "much", text="failover plan version")
    then = max(source["at"] for source in early["sources"])
    later = [f"the failover plan is version {number + 2}" for number in range(120)]
    for start in range(0, 120, 60):
        texts = later[start : start + 60]
        entries = [note("much", text) for text in texts]
        answer = await client.post("/api/psychic-cache/write/batch", {"entries": entries})
        assert answer.status == 200, answer
        memories = [lesson("scout", f"scout knows that {text}") for text in texts]
        answer = await client.post("/api/agent-memory/batch", {"memories": memories})
        assert answer.status == 201, answer
    back = await assemble(client, "much", text="failover plan version", as_of=then)
    assert {one["handle"] for one in back["sources"]} == {one["handle"] for one in early["sources"]}
    assert len(back["sources"]) == 2


async def test_nothing_is_lost_under_load(client: Client, sql: Connection, tenant: Tenant) -> None:
    turns = asyncio.Semaphore(8)

    async def one(number: int) -> dict[str, Any]:
        async with turns:
            return await assemble(client, f"load-{number % 5}")

    answers = await asyncio.gather(*map(one, range(200)))
    ids = [answer["assembly_id"] for answer in answers]
    assert len(set(ids)) == 200
    assert 0 not in ids

    async def all_there() -> None:
        rows = await sql.fetch("select id from context.context_assembly_log where tenant = $1", tenant.name)
        logged = sorted(row["id"] for row in rows)
        # A busy machine may answer too late what it logs, and is then asked again.
        assert set(logged) >= set(ids)
        events = await sql.fetch(
            "select 1 from timeline.events where tenant = $1 and kind = 'assemble'", tenant.name
        )
        assert len(events) == len(logged) == len(set(logged))

    await until(all_there)


async def test_a_log_that_cannot_be_written_refuses(
    cluster: Cluster, tenant: Tenant, sql: Connection
) -> None:
    """On a replica of its own, so that the others' log stays as it is."""
    async with spare(cluster, "context") as service:
        url, token = service.url, await tenant.key("write")
        async with Client(url, token) as client:
            await assemble(client, "stuck")
            transaction = sql.transaction()
            await transaction.start()
            await sql.execute("lock table context.context_assembly_log in access exclusive mode")
            try:
                first = await _ask(client)
                assert first.status == 200
                await until(lambda: _refuses(client))
                for _ in range(3):
                    await _refuses(client)
                unlogged = await client.post("/api/context/assemble", question("stuck", log=False))
                assert unlogged.status == 200
            finally:
                await transaction.rollback()

            async def well() -> None:
                assert (await _ask(client)).status == 200

            await until(well)
            log = await client.get(f"/api/context/log/{first.body['assembly_id']}")
            assert log.status == 200, log


async def _refuses(client: Client) -> None:
    assert_unavailable(await _ask(client), "postgres")


async def _ask(client: Client) -> Answer:
    return await client.post("/api/context/assemble", question("stuck"), headers=within(600))


async def test_a_drained_service_writes_what_waits(cluster: Cluster, tenant: Tenant, sql: Connection) -> None:
    async with spare(cluster, "context") as service, Client(service.url, await tenant.key("write")) as client:
        answers = await asyncio.gather(*(assemble(client, "drained") for _ in range(8)))
        stopping = asyncio.to_thread(service.stop)
        await stopping
    rows = await sql.fetch("select id from context.context_assembly_log where tenant = $1", tenant.name)
    assert {row["id"] for row in rows} == {answer["assembly_id"] for answer in answers}
