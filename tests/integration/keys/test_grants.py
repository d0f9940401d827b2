"""What a key may do: its access, its agent, its missions and its users, on every operation there is."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
import pytest

from services.context.keys import hash_token
from services.context.keys.verification import KNOWN_SECONDS
from shared.auth import Principal
from shared.database.postgres import Connection
from tests.integration.conftest import Operation, Tenant, operations
from tests.support.calls import PROBLEM, Stream, lesson, note, page_through, until
from tests.support.cluster import Answer, Client, Cluster
from tests.unit.cache.test_entries import COMMON, ENTRIES

OPERATIONS = operations()
PUBLIC = [operation for operation in OPERATIONS if not operation.path.startswith("/internal")]
INTERNAL = [operation for operation in OPERATIONS if operation.path.startswith("/internal")]
REACH = {"read": ["read"], "write": ["read", "write"], "admin": ["read", "write", "admin"]}
# Reads that take a body.
# What only admins read.
ADMINS = (
    "/api/context/keys",
    "/api/context/audit",
    "/api/webhooks",
    "/api/context/costs/ceilings",
    "/api/context/review/rules",
)
READING_POSTS = {
    "/api/psychic-cache/query",
    "/api/agent-memory/query",
    "/api/agent-memory/list",
    "/api/agent-memory/peer-query",
    "/api/memory/search",
    "/api/vault/search",
    "/api/sessions/{session_id:str}/query",
    "/api/kg/query",
    "/api/checkpoints/list",
    "/api/sessions/{session_id:str}/search",
    "/api/context/assemble",
    "/api/context/prompt",
    "/api/context/log/{assembly_id:int}/replay",
    "/internal/search",
    "/internal/states",
    "/internal/review",
    "/internal/languages",
    "/internal/references",
    "/internal/turns",
    "/internal/links",
}
# All agents need more access than one does; and JSON Lines are not what a client of JSON reads.
_QUERIES = {"/api/agent-memory/export": "?agent_name=ana&limit=0"}
WRITE = "/api/psychic-cache/write"


def label(operation: Operation) -> str:
    return f"{operation.method} {operation.service}:{operation.path}"


async def call(client: Client, operation: Operation, **headers: str) -> Answer:
    """With a body that is no JSON: who may not call must not learn that."""
    body = None if operation.method == "GET" else b"{garbage"
    headers = {"content-type": "application/json", **headers}
    path = f"{operation.address()}{_QUERIES.get(operation.path, '')}"
    return await client.call(operation.method, path, None, data=body, headers=headers)


def assert_problem(answer: Answer, status: int) -> None:
    assert answer.status == status, answer
    assert answer.headers["content-type"] == PROBLEM
    assert answer.body["status"] == status


def test_what_changes_anything_needs_more_than_read() -> None:
    assert len(PUBLIC) > 30
    for operation in OPERATIONS:
        reads = operation.method == "GET" or operation.path in READING_POSTS
        reads = reads and not operation.path.startswith(ADMINS)
        assert (operation.access == "read") == reads, operation
    admin = {operation.path for operation in PUBLIC if operation.access == "admin"}
    assert {"/api/context/purge", "/api/context/eval", "/api/psychic-cache/{mission_id:str}/limits"} <= admin


@pytest.mark.parametrize("operation", PUBLIC, ids=label)
async def test_access_decides_before_the_body_is_read(
    cluster: Cluster, tenant: Tenant, operation: Operation
) -> None:
    async with Client(cluster.url(), None) as nobody:
        answer = await call(nobody, operation)
        assert_problem(answer, 401)
        assert answer.headers["www-authenticate"] == "Bearer"
    for access, reach in REACH.items():
        answer = await call(await tenant.client(access), operation)  # type: ignore[arg-type]
        if operation.access not in reach:
            assert_problem(answer, 403)
        else:
            assert answer.status not in (401, 403), answer
            assert answer.status < 500


@pytest.mark.parametrize("operation", OPERATIONS, ids=label)
async def test_an_owner_hears_only_the_context_service(
    cluster: Cluster, tenant: Tenant, operation: Operation
) -> None:
    if operation.service == "context":
        return
    other = "cache" if operation.service == "agent_memory" else "agent_memory"
    admin = Principal(tenant.name, "forged", frozenset({"read", "write", "admin"}))
    stolen = cluster.tokens.identity(other, admin)
    for token in (None, "x", await tenant.key("admin"), cluster.tokens.admin, cluster.tokens.cache):
        async with Client(cluster.url(operation.service), token) as stranger:
            assert_problem(await call(stranger, operation, **stolen), 401)


@pytest.mark.parametrize("operation", INTERNAL, ids=label)
async def test_the_door_has_nothing_internal(tenant: Tenant, operation: Operation) -> None:
    assert_problem(await call(await tenant.client("admin"), operation), 404)


@pytest.mark.parametrize("name", ["context", "cache", "agent_memory"])
@pytest.mark.parametrize("path", ["/livez", "/readyz", "/metrics"])
async def test_probes_need_no_token(cluster: Cluster, name: str, path: str) -> None:
    async with Client(cluster.url(name), None) as nobody:
        assert (await nobody.get(path)).status == 200


async def test_unknown_expired_and_revoked_keys_look_the_same(
    cluster: Cluster, tenant: Tenant, sql: Connection
) -> None:
    expired, revoked = await tenant.key("admin"), await tenant.key("admin")
    for token in (expired, revoked):
        async with Client(cluster.url(), token) as client:
            assert (await client.get("/api/timeline")).status == 200
    await _set(sql, expired, "expires_at = now() - interval '1 second'")
    await _set(sql, revoked, "revoked_at = now()")
    await asyncio.sleep(KNOWN_SECONDS)
    others = ["sj_unknown", "sj_", "unknown", expired[:-1], expired + "x", cluster.tokens.cache]
    answers = []
    for token in [expired, revoked, *others]:
        async with Client(cluster.url(), token) as client:
            for path in ("/api/timeline", "/api/psychic-cache/all/entries", "/api/agent-memory/export"):
                answer = await client.get(path)
                assert_problem(answer, 401)
                answers.append(answer.body)
    assert all(body == answers[0] for body in answers)


async def _set(sql: Connection, token: str, change: str) -> None:
    await sql.execute(f"update context.api_keys set {change} where token_hash = $1", hash_token(token))


async def test_two_keys_are_valid_at_once_for_rotation(
    cluster: Cluster, tenant: Tenant, sql: Connection
) -> None:
    old, new = await tenant.key("write"), await tenant.key("write")
    async with Client(cluster.url(), old) as before, Client(cluster.url(), new) as after:
        for client in (before, after):
            assert (await client.post(WRITE, note("m", "rotating"))).status == 201
        await _set(sql, old, "revoked_at = now()")
        await asyncio.sleep(KNOWN_SECONDS)
        assert (await before.post(WRITE, note("m", "too late"))).status == 401
        assert (await after.post(WRITE, note("m", "goes on"))).status == 201


async def test_only_hashes_of_keys_are_stored(tenant: Tenant, sql: Connection) -> None:
    token = await tenant.key()
    rows = await sql.fetch("select k::text as row from context.api_keys k where tenant = $1", tenant.name)
    assert rows
    assert all(token not in row["row"] and token.removeprefix("sj_") not in row["row"] for row in rows)


async def test_tokens_of_the_environment_are_one_tenant(cluster: Cluster) -> None:
    body = note("environment", "who may")
    for name, status in (("read", 403), ("write", 201), ("admin", 201)):
        async with cluster.client(name) as client:
            assert (await client.post(WRITE, body)).status == status
            listed = await client.get("/api/psychic-cache/environment/entries")
            assert listed.status == 200
    async with cluster.client("cache") as client:
        assert (await client.get("/api/timeline")).status == 401


async def test_an_identity_of_ones_own_making_is_dropped(
    cluster: Cluster, tenant: Tenant, tenants: tuple[Tenant, Tenant]
) -> None:
    reader, victim = await tenant.client("read"), await tenants[1].client("write")
    await victim.post(WRITE, note("m", "theirs"))
    admin = Principal(tenants[1].name, "forged", frozenset({"read", "write", "admin"}))
    for header, signed in cluster.tokens.identity("cache", admin).items():
        for spelling in (header, header.upper(), header.title()):
            forged = {spelling: signed}
            listed = await reader.get("/api/psychic-cache/m/entries", headers=forged)
            assert listed.body["data"] == []
            assert (await reader.post(WRITE, note("m", "x"), headers=forged)).status == 403


async def test_a_token_stands_in_its_header_only(cluster: Cluster, tenant: Tenant) -> None:
    token = await tenant.key("admin")
    async with Client(cluster.url(), None) as nobody:
        for path in (f"/api/timeline?token={token}", f"/api/timeline?access_token={token}"):
            assert_problem(await nobody.get(path), 401)
        for header in (
            {"X-Api-Key": token},
            {"Cookie": f"authorization=Bearer {token}"},
            {"Authorization": token},
        ):
            assert_problem(await nobody.get("/api/timeline", headers=header), 401)


# --- one agent ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("context_type", ENTRIES)
async def test_a_key_of_an_agent_writes_as_that_agent(tenant: Tenant, context_type: str) -> None:
    ana = await tenant.client("write", agent="ana")
    body = {"context_type": context_type, **COMMON, **ENTRIES[context_type]}
    assert_problem(await ana.post(WRITE, body | {"agent_name": "bo"}), 403)
    assert (await ana.post(WRITE, body | {"agent_name": "ana"})).status == 201


async def test_what_an_agent_writes_without_a_name_is_its_own(tenant: Tenant) -> None:
    ana = await tenant.client("write", agent="ana")
    assert (await ana.post(WRITE, note("m", "unsigned"))).status == 201
    (entry,) = (await ana.get("/api/psychic-cache/m/entries")).body["data"]
    assert entry["agent_name"] == "ana"


async def test_a_key_of_an_agent_calls_as_that_agent(tenant: Tenant) -> None:
    ana, anyone = await tenant.client("write", agent="ana"), await tenant.client("write")
    for name in ("ana", "bo"):
        assert (
            await anyone.post("/api/agent-memory/commit", lesson(name, f"what {name} knows"))
        ).status == 201
    calls: dict[str, tuple[str, dict[str, Any]]] = {
        "/api/agent-memory/commit": ("agent_name", lesson("ana", "more")),
        "/api/agent-memory/query": ("agent_name", {"query": "q"}),
        "/api/agent-memory/list": ("agent_name", {}),
        "/api/context/assemble": ("caller", {"query": "q"}),
    }
    for path, (name, body) in calls.items():
        assert (await ana.post(path, body | {name: "ana"})).status < 300, path
        assert_problem(await ana.post(path, body | {name: "bo"}), 403)
        assert_problem(await ana.post(path, body | {name: "Ana"}), 403)
        assert (await anyone.post(path, body | {name: "bo"})).status < 300
    listed = await ana.post("/api/agent-memory/peer-query", {"target_agent": "bo", "query": "what bo knows"})
    assert {memory["agent_name"] for memory in listed.body["memories"]} == {"bo"}


async def test_a_key_of_an_agent_sees_its_own_events(tenant: Tenant) -> None:
    ana, anyone = await tenant.client("write", agent="ana"), await tenant.client("write")
    for name in ("ana", "bo", "ana"):
        await anyone.post(WRITE, note("m", f"by {name}", agent_name=name))
    everything = await until(lambda: _pages(anyone, 3))
    own = await page_through(ana, "/api/timeline?kind=cache_write")
    assert [event["agent_name"] for event in own] == ["ana", "ana"]
    assert [event["seq"] for event in own] == [e["seq"] for e in everything if e["agent_name"] == "ana"]


async def _pages(client: Client, count: int) -> list[dict[str, Any]]:
    events = await page_through(client, "/api/timeline?kind=cache_write")
    assert len(events) == count
    return events


# --- some missions -----------------------------------------------------------------------------------------


@pytest.fixture
async def two_missions(tenant: Tenant) -> tuple[Client, Client]:
    """A key for mission `mine` beside one for all; each mission has an entry, a checkpoint and events."""
    anyone, bound = await tenant.client("admin"), await tenant.client("admin", missions=["mine", "empty"])
    for mission in ("mine", "other"):
        await anyone.post(f"{WRITE}?wait=indexed", note(mission, f"the pelican of {mission}"))
        body = {"context_type": "thread_checkpoint", **COMMON, **ENTRIES["thread_checkpoint"]}
        await anyone.post(
            WRITE, body | {"mission_id": mission, "session_id": f"s-{mission}", "content": "pelican"}
        )
    await until(lambda: _pages(anyone, 4))
    return anyone, bound


async def test_a_mission_without_a_grant_is_forbidden(two_missions: tuple[Client, Client]) -> None:
    _, bound = two_missions
    forbidden = [
        bound.post(WRITE, note("other", "x")),
        bound.post("/api/psychic-cache/query", {"mission_id": "other", "query": "pelican"}),
        bound.get("/api/psychic-cache/other/entries"),
        bound.get("/api/psychic-cache/other/stats"),
        bound.delete("/api/psychic-cache/other?reason=operator"),
        bound.call("PUT", "/api/psychic-cache/other/limits", {"token_budget": 5}),
        bound.post("/api/context/assemble", {"query": "q", "caller": "a", "mission_namespace": "other"}),
        bound.post("/api/context/assemble", {"query": "q", "caller": "a", "scopes": ["mission:other"]}),
        bound.post("/api/context/purge", {"scope": "mission:other"}),
        bound.get("/api/timeline?mission=other"),
        bound.get("/api/timeline?mission=other", headers={"accept": "text/event-stream"}),
    ]
    for answer in await asyncio.gather(*forbidden):
        assert_problem(answer, 403)


async def test_a_granted_mission_is_all_that_is_seen(two_missions: tuple[Client, Client]) -> None:
    anyone, bound = two_missions
    assert (await bound.post(WRITE, note("mine", "more of mine"))).status == 201
    found = await bound.post("/api/psychic-cache/query", {"mission_id": "*", "query": "pelican"})
    assert {entry["mission_id"] for entry in found.body["data"]["entries"]} == {"mine"}
    assert found.body["data"]["cache_size"] == 3
    listed = await bound.get("/api/psychic-cache/all/entries")
    assert {entry["mission_id"] for entry in listed.body["data"]} == {"mine"}
    assert (await bound.get("/api/psychic-cache/checkpoint/s-mine")).status == 200
    assert (await bound.get("/api/psychic-cache/checkpoint/s-other")).status == 404
    assert (await anyone.get("/api/psychic-cache/checkpoint/s-other")).status == 200
    named = await bound.get("/api/psychic-cache/all/missions")
    assert "other" not in json.dumps(named.body)
    await until(lambda: _pages(anyone, 5))
    assert {event["mission_id"] for event in await page_through(bound, "/api/timeline?limit=1000")} == {
        "mine"
    }
    async with Stream(bound, "/api/timeline", after=0) as stream:
        await until(lambda: _heard(stream, 3))
        assert {event["mission_id"] for event in stream.events} == {"mine"}


async def _heard(stream: Stream, count: int) -> None:
    assert len(stream.events) >= count


async def test_entries_of_other_missions_are_not_there_by_id(two_missions: tuple[Client, Client]) -> None:
    anyone, bound = two_missions
    ids = {
        mission: (await anyone.get(f"/api/psychic-cache/{mission}/entries")).body["data"][0]["id"]
        for mission in ("mine", "other")
    }
    assert (await bound.get(f"/api/psychic-cache/all/entries/{ids['mine']}")).status == 200
    path = f"/api/psychic-cache/all/entries/{ids['other']}"
    for answer in (
        await bound.get(path),
        await bound.delete(path),
        await bound.call("PATCH", path, {"tags": ["taken"]}),
    ):
        assert_problem(answer, 404)
    assert_problem(await bound.get(f"/api/context/sources/cache:{ids['other']}"), 404)


async def test_assembly_stays_within_the_grants(two_missions: tuple[Client, Client]) -> None:
    _, bound = two_missions
    answer = await bound.post(
        "/api/context/assemble",
        {"query": "pelican", "caller": "ana", "mission_namespace": "mine", "debug": True},
    )
    assert answer.status == 200
    assert len(answer.body["sources"]) == 2
    assert "other" not in json.dumps(answer.body)


async def test_no_mission_is_no_access_to_any(tenant: Tenant) -> None:
    anyone, nothing = await tenant.client("write"), await tenant.client("write", missions=[])
    await anyone.post(WRITE, note("m", "hidden"))
    assert_problem(await nothing.post(WRITE, note("m", "x")), 403)
    assert (await nothing.get("/api/psychic-cache/all/entries")).body["data"] == []
    found = await nothing.post("/api/psychic-cache/query", {"mission_id": "*", "query": "hidden"})
    assert found.body["data"]["entries"] == []


# --- some users --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"user_id": "eve"}, 200),
        ({"user_id": "mallory"}, 403),
        ({"scopes": ["user:eve"]}, 200),
        ({"scopes": ["user:eve", "user:mallory"]}, 403),
        ({"scopes": ["project:x", "shared"]}, 200),
        ({}, 200),
    ],
)
async def test_a_key_of_users_asks_for_them_only(tenant: Tenant, body: dict[str, Any], status: int) -> None:
    bound = await tenant.client("write", users=["eve"])
    answer = await bound.post("/api/context/assemble", {"query": "q", "caller": "ana", **body})
    assert answer.status == status, answer


async def test_a_key_of_users_purges_them_only(tenant: Tenant) -> None:
    bound = await tenant.client("admin", users=["eve"])
    assert (await bound.post("/api/context/purge", {"scope": "user:eve"})).status == 200
    assert_problem(await bound.post("/api/context/purge", {"scope": "user:mallory"}), 403)


async def test_a_key_of_an_agent_purges_that_agent_only(tenant: Tenant) -> None:
    bound = await tenant.client("admin", agent="ana")
    assert (await bound.post("/api/context/purge", {"scope": "agent:ana"})).status == 200
    assert_problem(await bound.post("/api/context/purge", {"scope": "agent:bo"}), 403)


async def test_an_assembly_is_its_callers(tenant: Tenant) -> None:
    ana, bo = await tenant.client("write", agent="ana"), await tenant.client("write", agent="bo")
    made = await ana.post("/api/context/assemble", {"query": "q", "caller": "ana"})
    log = f"/api/context/log/{made.body['assembly_id']}"
    body = {"assembly_id": made.body["assembly_id"], "used_source_ids": []}
    assert (await ana.post("/api/context/feedback", body)).status == 200
    assert (await until(lambda: _logged(ana))) == [made.body["assembly_id"]]
    assert (await ana.get(log)).status == 200
    assert (await ana.post(f"{log}/replay", {})).status == 200
    assert_problem(await bo.post("/api/context/feedback", body), 404)
    assert (await bo.get("/api/context/log")).body["data"] == []
    assert_problem(await bo.get(log), 404)
    assert_problem(await bo.post(f"{log}/replay", {}), 404)


async def _logged(client: Client) -> list[int]:
    data = (await client.get("/api/context/log")).body["data"]
    assert data
    return [entry["id"] for entry in data]


async def test_debug_is_for_admins(tenant: Tenant) -> None:
    body = {"query": "q", "caller": "ana", "debug": True}
    assert_problem(await (await tenant.client("write")).post("/api/context/assemble", body), 403)
    answer = await (await tenant.client("admin")).post("/api/context/assemble", body)
    assert answer.body["candidates"] == []


async def test_a_stream_needs_a_token(cluster: Cluster) -> None:
    async with (
        aiohttp.ClientSession(cluster.url()) as session,
        session.get("/api/timeline", headers={"accept": "text/event-stream"}) as response,
    ):
        assert response.status == 401
