"""Keys made, listed, rotated, withdrawn, by route and by command, and what a key may not give to another."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from local.database import ROOT, Database
from services.context.keys.verification import KNOWN_SECONDS
from shared.database.postgres import Connection
from tests.integration.conftest import Tenant
from tests.integration.keys.test_grants import WRITE, assert_problem
from tests.support.calls import Stream, note, page_through, pages, until
from tests.support.cluster import Answer, Client, Cluster
from tests.support.clusters import spare

KEYS = "/api/context/keys"
IN_A_DAY = (datetime.now(UTC) + timedelta(days=1)).isoformat()


async def make(admin: Client, **given: Any) -> tuple[int, str]:
    answer = await admin.post(KEYS, {"name": "worker", **given})
    assert answer.status == 201, answer
    return answer.body["key"]["id"], answer.body["token"]


async def status_of(cluster_url: str, token: str) -> int:
    async with Client(cluster_url, token) as client:
        return (await client.get("/api/psychic-cache/all/missions")).status


async def test_a_key_is_made_listed_and_withdrawn(cluster: Cluster, admin_client: Client) -> None:
    given = {"agent": "ana", "missions": ["m"], "users": ["eve"], "burst": 7, "requests_per_day": 100}
    key_id, token = await make(admin_client, access="write", expires_at=IN_A_DAY, **given)
    key = (await admin_client.get(f"{KEYS}/{key_id}")).body
    assert key == {
        **key,
        **given,
        "name": "worker",
        "access": "write",
        "status": "active",
        "revoked_at": None,
    }
    assert datetime.fromisoformat(key["expires_at"]) == datetime.fromisoformat(IN_A_DAY)
    async with Client(cluster.url(), token) as worker:
        assert (await worker.post(WRITE, note("m", "by its agent"))).status == 201
        assert_problem(await worker.post(WRITE, note("other", "x")), 403)
        assert_problem(await worker.get(KEYS), 403)
        listed = await admin_client.get(KEYS)
        assert token not in json.dumps(listed.body)
        for _ in range(2):
            withdrawn = await admin_client.delete(f"{KEYS}/{key_id}")
            assert withdrawn.body["status"] == "revoked"
        assert_problem(await worker.get("/api/psychic-cache/m/entries"), 401)
    assert (await admin_client.get(f"{KEYS}/{key_id}")).body["status"] == "revoked"


async def test_keys_come_in_pages(admin_client: Client, tenant: Tenant) -> None:
    ids = [(await make(admin_client, name=f"worker {n}"))[0] for n in range(5)]
    seen = [key["id"] for page in await pages(admin_client, KEYS, 2) for key in page]
    assert seen == sorted(seen)
    assert set(ids) <= set(seen)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": ""}, "name"),
        ({"name": "x", "access": "root"}, "access"),
        ({"name": "x", "expires_at": "2001-01-01T00:00:00Z"}, "expires_at"),
        ({"name": "x", "expires_at": "0001-01-01T00:00:00+23:00"}, "expires_at"),
        ({"name": "x", "expires_at": "9999-12-31T23:59:59-23:00"}, "expires_at"),
        ({"name": "x", "missions": [""]}, "missions[0]"),
        ({"name": "x", "missions": ["a\x00"]}, "missions"),
        ({"name": "x", "requests_per_second": 0}, "requests_per_second"),
        ({"name": "x", "burst": 0}, "burst"),
        ({"name": "x", "tokens_per_day": 1.5}, "tokens_per_day"),
        ({"name": "x", "tenant": ""}, "tenant"),
    ],
)
async def test_a_bad_key_is_named(admin_client: Client, body: dict[str, Any], field: str) -> None:
    answer = await admin_client.post(KEYS, body)
    assert_problem(answer, 400)
    assert [error["field"] for error in answer.body["errors"]] == [field]


async def test_the_installations_admin_makes_a_key_of_another_tenant(
    cluster: Cluster, admin_client: Client, tenant: Tenant
) -> None:
    given = {"name": "first", "tenant": f"{tenant.name}-new", "access": "admin"}
    headers = {"idempotency-key": f"first-of-{tenant.name}"}
    async with cluster.client("admin") as installation:
        made, again = [await installation.post(KEYS, given, headers=headers) for _ in range(2)]
        assert made.status == 201, made
        assert made.body["key"]["tenant"] == given["tenant"]
        assert (again.body["key"], again.body["token"]) == (made.body["key"], None)
        assert_problem(await installation.get(f"{KEYS}/{made.body['key']['id']}"), 404)
        own = await installation.post(KEYS, {"name": "own", "access": "read"})
        assert own.body["key"]["tenant"] == "default"
    async with Client(cluster.url(), made.body["token"]) as theirs:
        listed = (await theirs.get(KEYS)).body["data"]
        assert [(key["name"], key["tenant"]) for key in listed] == [("first", given["tenant"])]
        assert_problem(await theirs.post(KEYS, {**given, "tenant": "default"}), 403)
        assert (await theirs.post(KEYS, given)).status == 201
    assert_problem(await admin_client.post(KEYS, given), 403)


async def test_two_secrets_are_valid_for_the_overlap(cluster: Cluster, admin_client: Client) -> None:
    key_id, first = await make(admin_client)

    async def rotate(seconds: int) -> str:
        answer = await admin_client.post(f"{KEYS}/{key_id}/rotate", {"overlap_seconds": seconds})
        assert answer.status == 200, answer
        return str(answer.body["token"])

    second = await rotate(60)
    assert [await status_of(cluster.url(), token) for token in (first, second)] == [200, 200]
    assert (await admin_client.get(f"{KEYS}/{key_id}")).body["old_secret_until"]
    third = await rotate(1)
    assert [await status_of(cluster.url(), token) for token in (first, second, third)] == [401, 200, 200]
    await asyncio.sleep(1.1)
    assert [await status_of(cluster.url(), token) for token in (second, third)] == [401, 200]
    last = await rotate(0)
    assert [await status_of(cluster.url(), token) for token in (third, last)] == [401, 200]
    await admin_client.delete(f"{KEYS}/{key_id}")
    assert_problem(await admin_client.post(f"{KEYS}/{key_id}/rotate", {}), 409)


async def test_a_revoked_key_stops_on_every_replica(cluster: Cluster, admin_client: Client) -> None:
    key_id, token = await make(admin_client)
    async with (
        spare(cluster, "context") as other,
        Client(other.url, token) as there,
        Stream(there, "/api/timeline?kind=cache_write", after=0) as stream,
    ):
        assert (await there.post(WRITE, note("m", "heard"))).status == 201
        await until(lambda: _heard(stream, 1))
        await admin_client.delete(f"{KEYS}/{key_id}")
        assert await status_of(cluster.url(), token) == 401
        await asyncio.sleep(KNOWN_SECONDS)
        assert await status_of(other.url, token) == 401
        await admin_client.post(WRITE, note("m", "not heard"))
        await stream.ended(20)
        assert len(stream.events) == 1


async def _heard(stream: Stream, count: int) -> None:
    assert len(stream.events) >= count


async def test_a_keyed_call_makes_one_key(admin_client: Client) -> None:
    body, headers = {"name": "once"}, {"Idempotency-Key": "make-once"}
    first = await admin_client.post(KEYS, body, headers=headers)
    again = await admin_client.post(KEYS, body, headers=headers)
    assert first.body["token"]
    assert again.status == 201
    assert again.body == {"key": first.body["key"], "token": None}
    assert_problem(await admin_client.post(KEYS, {"name": "other"}, headers=headers), 422)
    path, headers = f"{KEYS}/{first.body['key']['id']}/rotate", {"Idempotency-Key": "rotate-once"}
    assert (await admin_client.post(path, {}, headers=headers)).body["token"]
    assert (await admin_client.post(path, {}, headers=headers)).body["token"] is None


async def test_a_key_is_changed(admin_client: Client) -> None:
    key_id, _ = await make(admin_client, requests_per_day=5, tokens_per_day=6)
    changed = await admin_client.call(
        "PATCH", f"{KEYS}/{key_id}", {"name": "renamed", "requests_per_day": None, "burst": 3}
    )
    key = changed.body
    assert (key["name"], key["requests_per_day"], key["tokens_per_day"], key["burst"]) == (
        "renamed",
        None,
        6,
        3,
    )
    assert_problem(await admin_client.call("PATCH", f"{KEYS}/{key_id}", {"name": None}), 400)


async def test_changes_are_in_the_timeline_without_secrets(admin_client: Client) -> None:
    key_id, token = await make(admin_client)
    await admin_client.call("PATCH", f"{KEYS}/{key_id}", {"name": "renamed"})
    rotated = await admin_client.post(f"{KEYS}/{key_id}/rotate", {})
    for _ in range(2):
        await admin_client.delete(f"{KEYS}/{key_id}")

    async def told() -> list[dict[str, Any]]:
        events = [
            e for e in await page_through(admin_client, "/api/timeline?limit=1000") if "key" in e["kind"]
        ]
        assert len(events) == 4
        return events

    events = await until(told)
    assert [event["kind"] for event in events] == ["key_make", "key_change", "key_rotate", "key_revoke"]
    assert {event["scope"] for event in events} == {f"key:{key_id}"}
    for secret in (token, rotated.body["token"]):
        assert secret not in json.dumps(events)


# --- what a key may not give -------------------------------------------------------------------------------


@pytest.fixture
async def bound(tenant: Tenant) -> Client:
    return await tenant.client(
        "admin",
        agent="ana",
        missions=["m", "n"],
        users=["eve"],
        expires_at=datetime.fromisoformat(IN_A_DAY),
        requests_per_second=100.0,
        requests_per_day=1000,
    )


@pytest.mark.parametrize(
    "more",
    [
        {"agent": "bo"},
        {"missions": ["m", "other"]},
        {"users": ["mallory"]},
        {"expires_at": (datetime.now(UTC) + timedelta(days=2)).isoformat()},
        {"requests_per_second": 101},
        {"burst": 1_000},
        {"requests_per_day": 1001},
    ],
)
async def test_a_key_gives_no_more_than_it_has(bound: Client, more: dict[str, Any]) -> None:
    assert_problem(await bound.post(KEYS, {"name": "x", "access": "admin", **more}), 403)


async def test_what_is_left_out_is_the_makers_own(bound: Client) -> None:
    made = (await bound.post(KEYS, {"name": "x", "access": "admin", "missions": ["m"]})).body["key"]
    assert (made["agent"], made["missions"], made["users"]) == ("ana", ["m"], ["eve"])
    assert (made["requests_per_second"], made["requests_per_day"]) == (100.0, 1000)
    assert datetime.fromisoformat(made["expires_at"]) == datetime.fromisoformat(IN_A_DAY)


async def test_a_bound_key_manages_what_lies_within_its_bounds(bound: Client, admin_client: Client) -> None:
    within, _ = await make(bound, missions=["m"])
    others: list[dict[str, Any]] = [
        {},
        {"agent": "bo", "missions": ["m"], "users": ["eve"]},
        {"agent": "ana", "users": ["eve"]},
        {"agent": "ana", "missions": ["m", "other"], "users": ["eve"]},
        {"agent": "ana", "missions": ["m"]},
    ]
    for grants in others:
        key_id, _ = await make(admin_client, **grants)
        for answer in await on_one(bound, key_id):
            assert_problem(answer, 404)
    assert {key["id"] for key in (await bound.get(KEYS)).body["data"]} >= {within}
    assert not {key["id"] for key in (await bound.get(KEYS)).body["data"]} & {key_id}
    assert [answer.status for answer in await on_one(bound, within)] == [200, 200, 200, 200]


async def test_a_secret_of_a_key_that_may_do_more_is_not_had_by_rotation(
    bound: Client, admin_client: Client
) -> None:
    grants = {"agent": "ana", "missions": ["m"], "users": ["eve"]}
    limits = {"requests_per_second": 100, "burst": 100, "requests_per_day": 1000}
    for more in ({}, {"expires_at": IN_A_DAY, "requests_per_day": 5}, limits):
        key_id, _ = await make(admin_client, **grants, **more)
        assert_problem(await bound.post(f"{KEYS}/{key_id}/rotate", {}), 403)
    key_id, _ = await make(admin_client, **grants, **limits, expires_at=IN_A_DAY)
    assert (await bound.post(f"{KEYS}/{key_id}/rotate", {})).status == 200
    assert_problem(await bound.call("PATCH", f"{KEYS}/{key_id}", {"requests_per_day": None}), 403)


async def on_one(client: Client, key_id: int) -> list[Answer]:
    path = f"{KEYS}/{key_id}"
    return [
        await client.get(path),
        await client.call("PATCH", path, {"name": "taken"}),
        await client.post(f"{path}/rotate", {}),
        await client.delete(path),
    ]


async def test_another_tenants_keys_are_not_there(tenants: tuple[Tenant, Tenant]) -> None:
    first, second = [await tenant.client("admin") for tenant in tenants]
    key_id, _ = await make(first)
    for answer in await on_one(second, key_id):
        assert_problem(answer, 404)
    assert key_id not in {key["id"] for key in (await second.get(KEYS)).body["data"]}


# --- use ---------------------------------------------------------------------------------------------------


async def test_use_is_counted(cluster: Cluster, admin_client: Client) -> None:
    key_id, token = await make(admin_client)
    assert (await admin_client.get(f"{KEYS}/{key_id}")).body["last_used_at"] is None
    async with Client(cluster.url(), token) as worker:
        for number in range(5):
            assert (await worker.post(WRITE, note("m", f"entry {number}"))).status == 201
        await worker.get("/api/psychic-cache/m/entries")
        assert (await worker.post("/api/psychic-cache/write", {})).status == 400

    async def counted() -> dict[str, Any]:
        key: dict[str, Any] = (await admin_client.get(f"{KEYS}/{key_id}")).body
        assert key["requests_today"] == 7
        return key

    key = await until(counted)
    assert 5 * 20 < key["tokens_today"] < 5 * 60
    assert key["last_used_at"]


# --- the command -------------------------------------------------------------------------------------------


async def command(database: Database, *arguments: str) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "services.context", "key", *arguments),
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": database.services["context"]},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode().strip(), err.decode().strip()


async def test_the_command(cluster: Cluster, database: Database, tenant: Tenant) -> None:
    async def run(*arguments: str) -> Sequence[str]:
        code, out, err = await command(database, arguments[0], "--tenant", tenant.name, *arguments[1:])
        assert code == 0, err
        return out.splitlines()

    (token,) = await run("make", "--name", "ci", "--access", "read", "--mission", "m", "--mission", "n")
    assert await status_of(cluster.url(), token) == 200
    (line,) = await run("list")
    key = json.loads(line)
    assert (key["name"], key["access"], key["missions"]) == ("ci", "read", ["m", "n"])
    (rotated,) = await run("rotate", str(key["id"]), "--overlap-seconds", "0")
    assert await status_of(cluster.url(), rotated) == 200
    (line,) = await run("revoke", str(key["id"]))
    assert json.loads(line)["status"] == "revoked"
    code, out, err = await command(database, "revoke", "--tenant", tenant.name, "999999999")
    assert (code, out, err) == (1, "", "no key 999999999")


async def test_only_hashes_are_stored(admin_client: Client, tenant: Tenant, sql: Connection) -> None:
    key_id, token = await make(admin_client)
    rotated = (await admin_client.post(f"{KEYS}/{key_id}/rotate", {})).body["token"]
    rows = await sql.fetch("select k::text as row from context.api_keys k where tenant = $1", tenant.name)
    rows += await sql.fetch("select i::text as row from context.idempotency i where tenant = $1", tenant.name)
    for secret in (token, rotated):
        assert all(secret not in row["row"] and secret.removeprefix("sj_") not in row["row"] for row in rows)


async def test_a_key_names_as_many_missions_and_users_as_fit_in_a_header(
    cluster: Cluster, admin_client: Client
) -> None:
    users = [f"{n:03}{'ä' * 97}" for n in range(100)]
    missions = [f"{n:03}{'ä' * 77}" for n in range(100)]
    _, token = await make(admin_client, access="write", missions=missions, users=users)
    async with Client(cluster.url(), token) as worker:
        assert (await worker.post(WRITE, note(missions[99], "kept"))).status == 201
        assert (await worker.get(f"/api/psychic-cache/{missions[0]}/entries")).status == 200
    longer = [*missions, *(f"{n:03}{'ä' * 97}" for n in range(100, 150))]
    answer = await admin_client.post(KEYS, {"name": "worker", "missions": longer, "users": users})
    assert_problem(answer, 400)
    assert [error["field"] for error in answer.body["errors"]] == ["missions"]
