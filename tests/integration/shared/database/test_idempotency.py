"""A keyed write happens once, however often and at what moment it is repeated."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from local.database import Database
from shared.database.housekeeping import sweep
from shared.database.idempotency import Records
from shared.database.postgres import Connection
from shared.database.postgres import Database as Pool
from tests.integration.conftest import Tenant
from tests.support.calls import lesson, note
from tests.support.cluster import Answer, Client, Cluster

WRITE = "/api/psychic-cache/write"
COMMIT = "/api/agent-memory/commit"
REPORT = "/api/dispatch/report"
TABLES = {WRITE: "cache.psychic_cache", COMMIT: "memory.agent_memory", REPORT: "cache.agent_dispatch"}
SCHEMAS = {WRITE: "cache", COMMIT: "memory", REPORT: "cache"}
ROUTES = pytest.mark.parametrize("path", TABLES)


def body(path: str, text: str = "Drain the node first.") -> dict[str, Any]:
    return {
        WRITE: note("m", text),
        COMMIT: lesson("ana", text),
        REPORT: {"mission_id": "m", "agent_name": "ana", "task": text},
    }[path]


async def send(client: Client, path: str, key: str | None, text: str = "Drain the node first.") -> Answer:
    headers = {} if key is None else {"idempotency-key": key}
    return await client.post(path, body(path, text), headers=headers)


async def rows(sql: Connection, tenant: Tenant, path: str) -> int:
    return int(await sql.fetchval(f"select count(*) from {TABLES[path]} where tenant = $1", tenant.name))


@ROUTES
async def test_a_repeat_gets_the_first_answer(
    client: Client, tenant: Tenant, sql: Connection, path: str
) -> None:
    first = await send(client, path, "k")
    assert first.status == 201, first
    for _ in range(3):
        again = await send(client, path, "k")
        assert (again.status, again.body) == (first.status, first.body)
    assert await rows(sql, tenant, path) == 1


@ROUTES
async def test_without_a_key_a_repeat_is_another_write(
    client: Client, tenant: Tenant, sql: Connection, path: str
) -> None:
    """The control: it is the key that makes one of two. Memories know their repeats without one."""
    first, again = [await send(client, path, None) for _ in range(2)]
    assert first.status == again.status == 201
    assert first.body != again.body
    assert await rows(sql, tenant, path) == (1 if path == COMMIT else 2)


@ROUTES
async def test_20_at_once_are_one(client: Client, tenant: Tenant, sql: Connection, path: str) -> None:
    for n in range(5):
        answers = await asyncio.gather(*(send(client, path, f"k{n}", f"fact number {n}") for _ in range(20)))
        assert {answer.status for answer in answers} == {201}, answers
        assert all(answer.body == answers[0].body for answer in answers)
    assert await rows(sql, tenant, path) == 5


@ROUTES
async def test_20_at_once_with_other_bodies_are_one_and_19_refusals(
    client: Client, tenant: Tenant, sql: Connection, path: str
) -> None:
    answers = await asyncio.gather(*(send(client, path, "k", f"fact number {n}") for n in range(20)))
    assert sorted(answer.status for answer in answers) == [201] + [422] * 19
    assert await rows(sql, tenant, path) == 1


@ROUTES
async def test_a_key_with_another_body_is_refused(
    client: Client, tenant: Tenant, sql: Connection, path: str
) -> None:
    first = await send(client, path, "k")
    other = await send(client, path, "k", "Never drain it.")
    assert other.status == 422
    assert (await send(client, path, "k")).body == first.body
    assert await rows(sql, tenant, path) == 1


async def test_a_key_on_another_route_of_the_owner_is_refused(client: Client) -> None:
    assert (await send(client, WRITE, "k")).status == 201
    assert (await send(client, REPORT, "k")).status == 422


async def test_each_owner_has_keys_of_its_own(client: Client) -> None:
    assert [(await send(client, path, "k")).status for path in (WRITE, COMMIT)] == [201, 201]


@ROUTES
async def test_the_same_key_of_another_tenant_is_another(
    tenants: tuple[Tenant, Tenant], sql: Connection, path: str
) -> None:
    clients = [await tenant.client() for tenant in tenants]
    answers = await asyncio.gather(
        *(send(client, path, "k", f"fact {n}") for n, client in enumerate(clients))
    )
    assert [answer.status for answer in answers] == [201, 201]
    assert [await rows(sql, tenant, path) for tenant in tenants] == [1, 1]


@ROUTES
@pytest.mark.parametrize("text", ["Drain the node first.", "Never drain it."])
async def test_the_same_key_from_another_caller_of_the_tenant_is_another(
    client: Client, tenant: Tenant, sql: Connection, path: str, text: str
) -> None:
    """Neither the answer to the first, nor the news that somebody used it."""
    first = await send(client, path, "k")
    other = await send(await tenant.client(), path, "k", text)
    assert other.status == 201
    assert other.body != first.body
    assert (await send(client, path, "k")).body == first.body
    known = path == COMMIT and text == "Drain the node first."
    assert await rows(sql, tenant, path) == (1 if known else 2)


async def test_remember_keeps_the_keys_of_callers_apart(client: Client, tenant: Tenant) -> None:
    other = await tenant.client()
    texts = {client: "Always drain the node first.", other: "The gate was painted green."}
    for _ in range(2):
        for caller, text in texts.items():
            body = {"caller": "ana", "mission_namespace": "m", "text": text}
            done = await caller.post("/api/context/remember", body, headers={"idempotency-key": "k"})
            assert (done.status, done.body["stored"]) == (200, 1), done


async def test_a_rotated_key_is_the_same_caller(
    client: Client, admin_client: Client, cluster: Cluster
) -> None:
    made = (await admin_client.post("/api/context/keys", {"name": "rotated"})).body
    rotate = f"/api/context/keys/{made['key']['id']}/rotate"
    async with Client(cluster.url(), made["token"]) as before:
        first = await send(before, WRITE, "k")
    rotated = (await admin_client.post(rotate, {})).body
    async with Client(cluster.url(), rotated["token"]) as after:
        assert (await send(after, WRITE, "k")).body == first.body


@ROUTES
async def test_a_record_of_the_release_before_answers_the_same_request(
    client: Client, tenant: Tenant, sql: Connection, path: str
) -> None:
    """Its key was stored without the caller."""
    first = await send(client, path, "k")
    await sql.execute(
        f"update {SCHEMAS[path]}.idempotency set key = split_part(key, ' ', 2) where tenant = $1", tenant.name
    )
    assert (await send(client, path, "k")).body == first.body
    assert await rows(sql, tenant, path) == 1
    assert (await send(client, path, "k", "Never drain it.")).status == 201
    assert (await send(client, path, "k")).status == 422


async def test_a_write_that_was_refused_does_not_use_up_its_key(client: Client) -> None:
    too_large = note("m", "x" * 40_001)
    headers = {"idempotency-key": "k"}
    assert (await client.post(WRITE, too_large, headers=headers)).status == 422
    assert (await client.post(WRITE, note("m", "x", typo=1), headers=headers)).status == 400
    first = await client.post(WRITE, note("m", "fits"), headers=headers)
    assert first.status == 201
    assert (await client.post(WRITE, note("m", "fits"), headers=headers)).body == first.body


async def test_a_repeat_after_the_entry_is_gone_still_gets_its_answer(client: Client) -> None:
    first = await send(client, WRITE, "k")
    assert (await client.delete("/api/psychic-cache/m?reason=operator")).body["data"]["deleted_count"] == 1
    assert (await send(client, WRITE, "k")).body == first.body
    assert (await client.get("/api/psychic-cache/m/entries")).body["data"] == []


async def test_a_key_does_not_open_a_mission(tenant: Tenant) -> None:
    """A key of another mission replays nothing."""
    await send(await tenant.client(), WRITE, "k")
    assert (await send(await tenant.client(missions=["other"]), WRITE, "k")).status == 403


@ROUTES
async def test_records_hold_no_content(client: Client, tenant: Tenant, sql: Connection, path: str) -> None:
    await send(client, path, "k", "The passphrase is swordfish.")
    (row,) = await sql.fetch(
        f"select r::text as row, scope from {SCHEMAS[path]}.idempotency r where tenant = $1", tenant.name
    )
    assert "swordfish" not in row["row"]
    assert row["scope"] == ("agent:ana" if path == COMMIT else "mission:m")


@pytest.mark.parametrize("key", ["k", "K" * 200, "~!@#$%^&*()", "0"])
async def test_keys_are_any_printable_ascii(client: Client, key: str) -> None:
    first = await send(client, WRITE, key)
    assert first.status == 201
    assert (await send(client, WRITE, key)).body == first.body


@pytest.mark.parametrize(
    ("schema", "service"), [("cache", "cache"), ("memory", "agent_memory"), ("context", "context")]
)
async def test_old_records_are_swept_and_young_ones_stay(
    tenant: Tenant, sql: Connection, database: Database, schema: str, service: str
) -> None:
    old = [(f"old {number}", "8 days") for number in range(5)]
    for key, age in [*old, ("young", "6 days")]:
        await sql.execute(
            f"""insert into {schema}.idempotency (tenant, key, route, scope, body_hash, status, answer, created_at)
                values ($1, $2, 'r', 'shared', '', 200, '{{}}', now() - $3::text::interval)""",
            tenant.name,
            key,
            age,
        )
    pool = Pool(database.services[service], connections=1)
    await pool.open()
    try:
        assert await sweep(pool, Records(schema), most=2) >= len(old)
    finally:
        await pool.close()
    left = await sql.fetch(f"select key from {schema}.idempotency where tenant = $1", tenant.name)
    assert [row["key"] for row in left] == ["young"]


async def test_an_import_that_gave_new_ids_answers_its_retry(admin_client: Client) -> None:
    line = {
        "id": 1,
        "agent_name": "ana",
        "memory_type": "lesson_learned",
        "written_by": "key:1",
        "source_kind": "agent",
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z",
    }
    answers = [
        await admin_client.call(
            "POST",
            "/api/agent-memory/import",
            data=json.dumps({**line, "content": content}).encode(),
            headers={"content-type": "application/x-ndjson", "idempotency-key": content},
        )
        for content in ("one", "two", "two")
    ]
    assert [answer.status for answer in answers] == [201, 201, 201]
    assert answers[1].body["remapped"]
    assert answers[2].body == answers[1].body
