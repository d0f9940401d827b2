"""Dispatches: their life, their heartbeat, and that a silent one is closed once."""

from __future__ import annotations

import asyncio
from typing import Any

from local.database import Database
from services.cache.dispatches.queries import close_stale, silent_tenants
from shared.database.postgres import EVERY_TENANT, Connection
from shared.database.postgres import Database as Pool
from shared.deadline import Deadline
from tests.integration.conftest import Tenant
from tests.support.calls import Json, note, until
from tests.support.cluster import Client

DISPATCH = "/api/dispatch"
WRITE = "/api/psychic-cache/write"
OUTPUT = {"context_type": "output", "content": "done", "output_url": "file:///x", "agent_name": "scout"}


async def reported(client: Client, **more: Any) -> Json:
    body = {"mission_id": "m", "agent_name": "scout", "task": "look into it", **more}
    answer = await client.post(f"{DISPATCH}/report", body)
    assert answer.status == 201, answer
    data: Json = answer.body["data"]
    return data


async def get(client: Client, dispatch_id: int) -> Json:
    data: Json = (await client.get(f"{DISPATCH}/{dispatch_id}")).body["data"]
    return data


async def test_a_life_and_its_events(client: Client) -> None:
    made = await reported(client)
    path = f"{DISPATCH}/{made['id']}"
    assert made["status"] == "dispatched"
    noted = (await client.post(f"{path}/progress", {"note": "half way", "percent": 50})).body["data"]
    assert (noted["status"], noted["progress"], noted["percent"]) == ("in_progress", "half way", 50)
    await client.post(WRITE, {**OUTPUT, "mission_id": "m", "dispatch_id": made["id"]})
    done = await client.post(f"{path}/complete", {"outcome": "success", "summary": "found it"})
    assert done.body["data"] == {
        "id": made["id"],
        "status": "completed",
        "outcome": "success",
        "output_missing": False,
    }
    for verb, body in (("complete", {"outcome": "failed"}), ("progress", {"percent": 1})):
        assert (await client.post(f"{path}/{verb}", body)).status == 409
    assert (await get(client, made["id"]))["closed_at"]

    async def seen() -> None:
        events = (await client.get(f"/api/timeline?dispatch_id={made['id']}")).body["data"]
        kinds = [e["kind"] for e in events]
        assert kinds == ["dispatch_report", "dispatch_progress", "cache_write", "dispatch_complete"]

    await until(seen)


async def test_an_output_counts_where_it_belongs_and_when_it_is_gone(client: Client) -> None:
    none, elsewhere, gone = [await reported(client) for _ in range(3)]
    await client.post(WRITE, {**OUTPUT, "mission_id": "other", "dispatch_id": elsewhere["id"]})
    await client.post(WRITE, note("m", "not an output", dispatch_id=none["id"]))
    entry = await client.post(WRITE, {**OUTPUT, "mission_id": "m", "dispatch_id": gone["id"]})
    await client.delete(f"/api/psychic-cache/all/entries/{entry.body['data']['id']}")
    for dispatch, missing in ((none, True), (elsewhere, True), (gone, False)):
        answer = await client.post(f"{DISPATCH}/{dispatch['id']}/complete", {"outcome": "partial"})
        assert answer.body["data"]["output_missing"] is missing


async def test_a_write_is_a_heartbeat_of_a_live_one(client: Client) -> None:
    live, closed = await reported(client), await reported(client)
    await client.post(f"{DISPATCH}/{closed['id']}/complete", {"outcome": "failed"})
    before = await get(client, closed["id"])
    ids = [live["id"], closed["id"], 2**62]
    answers = await asyncio.gather(*(client.post(WRITE, note("m", "beat", dispatch_id=i)) for i in ids * 5))
    assert {a.status for a in answers} == {201}
    assert (await get(client, live["id"]))["last_heartbeat"] > live["last_heartbeat"]
    assert await get(client, closed["id"]) == before


async def test_listed_by_mission_agent_and_status(tenant: Tenant, client: Client) -> None:
    ids = [(await reported(client, mission_id=m, agent_name=a))["id"] for m in "pq" for a in "ab"]
    await client.post(f"{DISPATCH}/{ids[0]}/complete", {"outcome": "success"})

    async def listed(caller: Client, query: str) -> list[int]:
        answer = await caller.get(DISPATCH + query)
        assert answer.status == 200, answer
        return [d["id"] for d in answer.body["data"]]

    assert await listed(client, "") == ids[::-1]
    assert await listed(client, "?mission_id=p") == [ids[1], ids[0]]
    assert await listed(client, "?agent_name=b&status=dispatched") == [ids[3], ids[1]]
    narrow = await tenant.client("write", missions=["q"], agent="a")
    assert await listed(narrow, "") == [ids[3], ids[2]]
    assert (await narrow.get(f"{DISPATCH}?mission_id=p")).status == 403
    assert (await narrow.get(f"{DISPATCH}/{ids[0]}")).status == 404
    assert (await narrow.post(f"{DISPATCH}/{ids[3]}/progress", {})).status == 403
    assert (await client.get(f"{DISPATCH}?status=asleep")).status == 400


async def test_a_key_of_users_sees_no_session(tenant: Tenant, client: Client) -> None:
    """Nor when it changes the dispatch: nothing says whom the session is with."""
    dispatch = await reported(client, session_id="with ana")
    assert dispatch["session_id"] == "with ana"
    bound, path = await tenant.client("write", users=["eve"]), f"{DISPATCH}/{dispatch['id']}"
    for headers in ({}, {"idempotency-key": "a-note"}):
        answer = await bound.post(f"{path}/progress", {"note": "half way"}, headers=headers)
        assert answer.status == 200, answer
        noted = answer.body["data"]
        assert (noted["progress"], noted["session_id"]) == ("half way", None)
    assert (await get(bound, dispatch["id"]))["session_id"] is None
    assert (await get(client, dispatch["id"]))["session_id"] == "with ana"


async def test_keyed_calls_happen_once(client: Client) -> None:
    body = {"mission_id": "m", "agent_name": "scout", "task": "once"}
    made = [await client.post(f"{DISPATCH}/report", body, headers={"idempotency-key": "r"}) for _ in range(2)]
    assert made[0].body == made[1].body
    path = f"{DISPATCH}/{made[0].body['data']['id']}/complete"
    done = [
        await client.post(path, {"outcome": "success"}, headers={"idempotency-key": "c"}) for _ in range(2)
    ]
    assert [a.status for a in done] == [200, 200]
    assert done[0].body == done[1].body


async def test_a_silent_one_is_closed_by_exactly_one(
    client: Client, sql: Connection, database: Database, tenant: Tenant
) -> None:
    silent = [(await reported(client))["id"] for _ in range(20)]
    fresh = (await reported(client))["id"]
    await sql.execute(
        "update cache.agent_dispatch set last_heartbeat = last_heartbeat - interval '61 minutes'"
        " where id = any($1)",
        silent,
    )
    pools = [Pool(database.services["cache"], connections=2) for _ in range(3)]
    for pool in pools:
        await pool.open()

    async def sweep(pool: Pool) -> list[int]:
        return await pool.run(tenant.name, lambda c: close_stale(c, tenant.name, 60), Deadline(10))

    assert tenant.name in await pools[0].run(EVERY_TENANT, lambda c: silent_tenants(c, 60), Deadline(10))
    closed = await asyncio.gather(*(sweep(pool) for pool in pools * 2))
    assert tenant.name not in await pools[0].run(EVERY_TENANT, lambda c: silent_tenants(c, 60), Deadline(10))
    for pool in pools:
        await pool.close()
    assert sorted(i for part in closed for i in part) == silent
    assert (await get(client, fresh))["status"] == "dispatched"
    assert (await get(client, silent[0]))["status"] == "stale"
    events = await sql.fetch(
        "select dispatch_id from timeline.events where tenant = $1 and kind = 'dispatch_stale'", tenant.name
    )
    assert sorted(e["dispatch_id"] for e in events) == silent
    assert (await client.post(f"{DISPATCH}/{silent[0]}/progress", {})).status == 409
    late = await client.post(f"{DISPATCH}/{silent[0]}/complete", {"outcome": "success"})
    assert late.body["data"]["status"] == "completed"
