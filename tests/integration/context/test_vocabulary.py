"""Short names and ids as strings are taken wherever the main names and numbers are, and a bound key says the rest."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.conftest import Tenant
from tests.integration.keys.test_grants import WRITE, assert_problem
from tests.support.calls import until
from tests.support.cluster import Client

ASSEMBLE = "/api/context/assemble"
REMEMBER = "/api/context/remember"
COMMIT = "/api/agent-memory/commit"
NOTE = {"context_type": "intel", "content": "the gate is shut", "intel_source": "the log"}
LESSON = {"content": "gates shut at nine", "memory_type": "lesson_learned"}
LEARNED = {"task_description": "gates", "skills_used": ["watching"], "outcome": "success"}


def fields(answer: Any) -> set[str]:
    assert_problem(answer, 400)
    return {error["field"] for error in answer.body["errors"]}


async def test_short_names_are_taken_in_every_body(tenant: Tenant) -> None:
    client = await tenant.client("admin")
    who, both = {"agent": "ana"}, {"agent": "ana", "mission": "m"}
    bodies: list[tuple[str, dict[str, Any]]] = [
        (WRITE, {**NOTE, **both}),
        ("/api/psychic-cache/write/batch", {"entries": [{**NOTE, **both, "content": "again"}]}),
        ("/api/psychic-cache/query", {"query": "gate", **both}),
        ("/api/dispatch/report", {"task": "watch", **both}),
        (COMMIT, {**LESSON, **who, "task_context": {**LEARNED, "mission": "m"}}),
        ("/api/agent-memory/batch", {"memories": [{**LESSON, **who, "content": "gates open at six"}]}),
        ("/api/agent-memory/query", {"query": "gates", **who}),
        ("/api/agent-memory/list", who),
        (ASSEMBLE, {"query": "gates", **both}),
        (REMEMBER, {"text": "the gate is red", **both}),
    ]
    for path, body in bodies:
        answer = await client.post(path, body)
        assert answer.status in (200, 201), (path, answer)
    listed = (await client.post("/api/agent-memory/list", {"agent_name": "ana"})).body["data"]
    assert {"m"} <= {(memory.get("task_context") or {}).get("mission_namespace") for memory in listed}
    answer = await client.call(
        "PUT", "/api/context/weights", {"agent": "ana", "source": "psychic_cache", "weight": 1}
    )
    assert answer.status == 200, answer
    purged = await client.post("/api/context/purge", {"mission": "m"})
    assert purged.body["scope"] == "mission:m"


async def test_short_names_are_taken_in_queries(tenant: Tenant) -> None:
    client = await tenant.client("admin")
    for name in ("ana", "eve"):
        await client.post(ASSEMBLE, {"query": "gates", "caller": name, "mission_namespace": f"of-{name}"})
        await client.post(
            "/api/dispatch/report", {"task": "x", "agent_name": name, "mission_id": f"of-{name}"}
        )

    async def logged() -> None:
        log = (await client.get("/api/context/log?agent=ana&mission=of-ana")).body["data"]
        assert [entry["caller"] for entry in log] == ["ana"]

    await until(logged)
    for path in ("/api/dispatch/?agent=ana", "/api/dispatch/?mission=of-ana&agent=ana"):
        assert [one["agent_name"] for one in (await client.get(path)).body["data"]] == ["ana"]
    answer = await client.get("/api/context/log?agent=ana&caller=eve")
    assert fields(answer) == {"agent", "caller"}
    assert (await client.delete("/api/context/budgets?agent=ana")).status == 204


@pytest.mark.parametrize(
    ("path", "body", "named"),
    [
        (WRITE, {**NOTE, "mission": "a", "mission_id": "b"}, {"mission", "mission_id"}),
        (ASSEMBLE, {"query": "x", "agent": "a", "caller": "b"}, {"agent", "caller"}),
        (
            COMMIT,
            {
                **LESSON,
                "agent_name": "a",
                "task_context": {**LEARNED, "mission": "a", "mission_namespace": "b"},
            },
            {"task_context.mission", "task_context.mission_namespace"},
        ),
    ],
)
async def test_names_that_differ_are_refused_by_both(
    tenant: Tenant, path: str, body: dict[str, Any], named: set[str]
) -> None:
    assert fields(await (await tenant.client()).post(path, body)) == named


async def test_ids_are_taken_as_strings(tenant: Tenant) -> None:
    client = await tenant.client()
    reported = await client.post("/api/dispatch/report", {"task": "x", "agent": "ana", "mission": "m"})
    dispatch = str(reported.body["data"]["id"])
    child = await client.post(
        "/api/dispatch/report", {"task": "y", "agent": "ana", "mission": "m", "parent_dispatch_id": dispatch}
    )
    assert child.body["data"]["parent_dispatch_id"] == int(dispatch)
    assert (await client.post(WRITE, {**NOTE, "mission_id": "m", "dispatch_id": dispatch})).status == 201
    assert (await client.post(COMMIT, {**LESSON, "agent": "ana", "dispatch_id": dispatch})).status == 201
    block = (await client.post(ASSEMBLE, {"query": "gate", "caller": "ana", "dispatch_id": dispatch})).body
    given = {"assembly_id": str(block["assembly_id"]), "used_source_ids": []}
    assert (await client.post("/api/context/feedback", given)).status == 200
    assert fields(await client.post("/api/context/feedback", {**given, "assembly_id": "x1"})) == {
        "assembly_id"
    }


async def test_a_key_of_one_agent_and_one_mission_says_both(tenant: Tenant) -> None:
    client = await tenant.client(agent="ana", missions=["m"])
    written = await client.post(WRITE, NOTE)
    assert written.status == 201, written
    entry = (await client.get(f"/api/psychic-cache/all/entries/{written.body['data']['id']}")).body["data"]
    assert (entry["mission_id"], entry["agent_name"]) == ("m", "ana")
    batch = await client.post("/api/psychic-cache/write/batch", {"entries": [{**NOTE, "content": "open"}]})
    assert batch.body["data"]["written"] == 1
    output = {"context_type": "output", "content": "done", "output_url": "/x", "dispatch_id": 1}
    assert (await client.post(WRITE, output)).status == 201
    found = (await client.post("/api/psychic-cache/query", {"query": "gate"})).body["data"]
    assert {one["mission_id"] for one in found["entries"]} == {"m"}
    reported = (await client.post("/api/dispatch/report", {"task": "watch"})).body["data"]
    assert (reported["agent_name"], reported["mission_id"]) == ("ana", "m")
    assert (await client.post(COMMIT, LESSON)).status == 201
    assert (await client.post("/api/agent-memory/batch", {"memories": [LESSON]})).status == 201
    assert len((await client.post("/api/agent-memory/list", {})).body["data"]) == 1
    assert len((await client.post("/api/agent-memory/query", {"query": "gates"})).body["memories"]) == 1
    block = (await client.post(ASSEMBLE, {"query": "gate", "fill": True})).body
    assert {source["store"] for source in block["sources"]} == {"psychic_cache", "agent_memory_own"}
    kept = (await client.post(REMEMBER, {"text": "The gate was painted green."})).body["items"]
    assert kept[0]["status"] in ("created", "pending")


async def test_without_a_binding_a_name_left_out_is_named(tenant: Tenant) -> None:
    client = await tenant.client()
    two = await tenant.client(missions=["a", "b"])
    assert fields(await client.post(WRITE, NOTE)) == {"mission_id"}
    assert fields(await two.post(WRITE, NOTE)) == {"mission_id"}
    assert fields(await client.post("/api/dispatch/report", {"task": "x"})) == {"mission_id", "agent_name"}
    assert fields(await client.post("/api/psychic-cache/query", {"query": "x"})) == {"mission_id"}
    assert fields(await client.post("/api/agent-memory/batch", {"memories": [LESSON]})) == {
        "memories[0].agent_name"
    }
    for path, body in ((ASSEMBLE, {"query": "x"}), (REMEMBER, {"text": "x"})):
        assert fields(await client.post(path, body)) == {"caller"}
    batch = await client.post("/api/psychic-cache/write/batch", {"entries": [NOTE]})
    assert batch.body["data"]["entries"][0]["error"]["errors"][0]["field"] == "mission_id"


async def test_a_key_is_not_filled_in_where_something_is_erased(tenant: Tenant) -> None:
    admin = await tenant.client("admin", agent="ana", missions=["m"])
    assert fields(await admin.post("/api/agent-memory/forget", {})) == {"agent_name"}
    assert fields(await admin.post("/api/context/purge", {})) == {"scope"}


async def test_one_idempotency_key_of_two_bound_keys_is_two_requests(tenant: Tenant) -> None:
    ana: Client = await tenant.client(agent="ana", missions=["m"])
    eve: Client = await tenant.client(agent="eve", missions=["n"])
    headers = {"idempotency-key": "again"}
    first, same = [await ana.post(WRITE, NOTE, headers=headers) for _ in range(2)]
    assert first.body == same.body
    others = await eve.post(WRITE, NOTE, headers=headers)
    assert others.status == 201
    assert others.body["data"]["id"] != first.body["data"]["id"]
