"""Sessions over HTTP: begun once, found by either name, closed, erased, and reached by no key but their own."""

from __future__ import annotations

import asyncio
from typing import Any

from shared.database.postgres import Connection
from tests.integration.conftest import Tenant
from tests.integration.sessions.calls import SESSIONS, admitted, began, ok, said
from tests.support.attacks.canaries import holding
from tests.support.cluster import Client

PARTIES = {"agent_name": "ana", "mission_id": "apollo", "user_id": "alice"}


async def test_a_session_is_found_by_its_id_and_by_the_hosts_name(client: Client) -> None:
    body = {**PARTIES, "external_id": "telegram:12 34", "config": {"token_budget": 16_000}}
    made = await ok(client, "POST", SESSIONS, body)
    again = await ok(client, "POST", SESSIONS, body)
    assert (made["created"], again["created"]) == (True, False)
    assert again["data"] == made["data"]
    for name in (made["data"]["id"], "telegram%3A12%2034"):
        found = (await ok(client, "GET", f"{SESSIONS}/{name}"))["data"]
        assert found == made["data"]
    assert found["config"]["token_budget"] == 16_000
    listed = await ok(client, "GET", f"{SESSIONS}?agent=ana&status=active")
    assert listed["data"] == [found]


async def test_many_hosts_that_begin_one_session_get_one(client: Client) -> None:
    body = {**PARTIES, "external_id": "one"}
    made = await asyncio.gather(*(ok(client, "POST", SESSIONS, body) for _ in range(8)))
    assert len({each["data"]["id"] for each in made}) == 1
    assert [each["created"] for each in made].count(True) == 1


async def test_the_name_of_another_agents_session_is_taken(client: Client) -> None:
    await began(client, external_id="theirs", agent_name="ana")
    answer = await client.post(SESSIONS, {"external_id": "theirs", "agent_name": "bo"})
    assert answer.status == 409


async def test_a_closed_session_is_read_and_takes_nothing_more(client: Client) -> None:
    session = await began(client)
    await said(client, session, "hello")
    closed = (await ok(client, "POST", f"{session}/complete", {"status": "abandoned"}))["data"]
    assert closed["status"] == "abandoned"
    assert closed["closed_at"]
    answer = await client.post(f"{session}/events", {"messages": [{"role": "user", "content": "more"}]})
    assert answer.status == 409
    assert (await client.post(f"{session}/complete", {})).status == 409
    assert len((await ok(client, "GET", f"{session}/history"))["data"]) == 1


async def test_a_session_that_is_erased_leaves_nothing(client: Client, sql: Connection) -> None:
    session = await began(client, external_id="hippogriff")
    await said(client, session, "hippogriff")
    await admitted(client, session, "hippogriff", source_key="hippogriff.py")
    await ok(client, "DELETE", session)
    assert (await client.get(session)).status == 404
    assert await holding(sql, "hippogriff") == {}


async def test_a_purge_of_a_party_erases_its_sessions(
    tenant: Tenant, admin_client: Client, sql: Connection
) -> None:
    purges: list[Any] = [{"user_id": "alice"}, {"mission_id": "apollo"}, {"agent_name": "ana"}]
    for purge in purges:
        session = await began(admin_client, **PARTIES, external_id="wyvern at noon")
        await said(admin_client, session, "wyvern")
        other = await began(admin_client, agent_name="bo", mission_id="gemini", user_id="bob")
        await admitted(admin_client, session, "wyvern")
        receipt = await ok(admin_client, "POST", "/api/context/purge", purge)
        assert receipt["erased"]["cache"]["sessions"] == receipt["erased"]["cache"]["trail"] == 1
        assert await holding(sql, "wyvern") == {}, purge
        assert (await admin_client.get(other)).status == 200


async def test_a_key_reaches_only_sessions_within_its_bounds(tenant: Tenant, client: Client) -> None:
    session = await began(client, **PARTIES)
    object_id = (await admitted(client, session, "treasure"))["id"]
    bounds: list[dict[str, Any]] = [
        {"agent": "bo"},
        {"missions": ["gemini"]},
        {"users": ["bob"]},
        {"agent": "ana", "missions": ["gemini"]},
    ]
    for grants in bounds:
        stranger = await tenant.client("admin", **grants)
        for path in ("", "/history", "/conversation", "/context", "/pressure", f"/objects/{object_id}"):
            assert (await stranger.get(session + path)).status == 404, (grants, path)
        asked = {
            "/events": {"messages": [{"role": "user", "content": "mine"}]},
            "/objects": {"content": "mine", "object_type": "plan"},
            f"/objects/{object_id}/fault": {},
            f"/objects/{object_id}/release": {},
            "/turns": {},
            "/compact": {"force": True},
            "/complete": {},
        }
        for path, body in asked.items():
            assert (await stranger.post(session + path, body)).status == 404, (grants, path)
        assert (await stranger.delete(session)).status == 404
        assert (await ok(stranger, "GET", SESSIONS))["data"] == []
        assert (await ok(stranger, "POST", f"{SESSIONS}/reset", {"all": True}))["sessions"] == []
    own = await tenant.client("write", agent="ana", missions=["apollo"], users=["alice"])
    assert (await own.get(session)).status == 200


async def test_a_bound_key_begins_sessions_of_its_own_only(tenant: Tenant) -> None:
    bound = await tenant.client("write", agent="ana", missions=["apollo", "gemini"], users=["alice"])
    assert (await bound.post(SESSIONS, {})).status == 403
    assert (await bound.post(SESSIONS, {"mission_id": "mercury"})).status == 403
    assert (await bound.post(SESSIONS, {"mission_id": "apollo", "user_id": "bob"})).status == 403
    made = await ok(bound, "POST", SESSIONS, {"mission_id": "apollo"})
    assert made["data"]["agent_name"] == "ana"


async def test_a_key_of_users_leaves_what_is_of_nobody_to_others(tenant: Tenant, client: Client) -> None:
    session = await began(client)
    bound = await tenant.client("write", users=["alice"])
    assert (await bound.get(session)).status == 200
    assert (await bound.post(f"{session}/turns", {})).status == 403
    assert (await bound.delete(session)).status == 403
    assert (await ok(bound, "POST", f"{SESSIONS}/reset", {"all": True}))["sessions"] == []
    mine = await began(bound)
    assert (await bound.post(f"{mine}/turns", {})).status == 200
