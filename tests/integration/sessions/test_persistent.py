"""What is kept for a user over HTTP: it outlives its session, fades, is reinforced, and stays with its user."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from shared.database.postgres import Connection
from shared.search.experience import decayed, reinforced
from tests.integration.conftest import Tenant
from tests.integration.sessions.calls import admitted, assembled, began, ok
from tests.support.calls import Json, until
from tests.support.cluster import Client

KEPT = "/api/persistent-objects"
SAID = "ana deploys on Fridays only"
SET_BACK = """
update sessions.persistent_objects set last_reinforced = last_reinforced - $2::interval where id = $1
"""


async def persisted(client: Client, session: str, object_id: str, **more: Any) -> Json:
    answer: Json = await ok(client, "POST", f"{session}/objects/{object_id}/persist", more)
    return answer


async def kept(client: Client, content: str = SAID, user_id: str = "ana", **more: Any) -> Json:
    """Kept of a new session with the user."""
    session = await began(client, user_id=user_id)
    part = await admitted(client, session, content, object_type="design_decision")
    return await persisted(client, session, part["id"], **more)


async def read(client: Client, object_id: str) -> Json:
    data: Json = (await ok(client, "GET", f"{KEPT}/{object_id}"))["data"]
    return data


async def listed(client: Client, user_id: str = "ana", **more: Any) -> list[Json]:
    query = "".join(f"&{name}={value}" for name, value in more.items())
    page = await ok(client, "GET", f"{KEPT}?user_id={user_id}{query}")
    objects: list[Json] = page["data"]
    return objects


async def test_what_is_kept_outlives_its_session(client: Client) -> None:
    session = await began(client, user_id="ana")
    part = await admitted(client, session, SAID, object_type="design_decision")
    made = await persisted(client, session, part["id"])
    assert made["created"]
    data = await read(client, made["id"])
    assert (data["content"], data["user_id"], data["agent_name"]) == (SAID, "ana", "scout")
    assert (data["confidence"], data["reinforcements"]) == (1.0, 0)
    assert (data["source_object_id"], data["object_type"]) == (part["id"], "design_decision")
    assert session.endswith(data["source_session_id"])
    await ok(client, "DELETE", session)
    left = await read(client, made["id"])
    assert (left["content"], left["source_session_id"], left["source_object_id"]) == (SAID, None, None)
    assert [each["id"] for each in await listed(client)] == [data["id"]]


async def test_what_an_agent_puts_in_its_own_words_is_its_own(client: Client) -> None:
    session = await began(client, user_id="ana")
    part = await admitted(client, session, "def deploy(): ...", source_key="deploy.py")
    ids = [(await persisted(client, session, part["id"], **more))["id"] for more in ({}, {"content": SAID})]
    whole, own = [await read(client, object_id) for object_id in ids]
    assert (whole["content"], whole["source_kind"]) == ("def deploy(): ...", "document")
    assert (own["content"], own["source_kind"]) == (SAID, "agent")


async def test_the_same_content_reinforces_and_never_repeats(client: Client) -> None:
    first = await kept(client)
    again = await kept(client)
    assert (first["created"], again["created"]) == (True, False)
    assert again["id"] == first["id"]
    assert again["reinforcements"] == 1
    await kept(client, user_id="bo")
    assert (len(await listed(client)), len(await listed(client, "bo"))) == (1, 1)


async def test_confidence_follows_the_model_by_the_clock_of_the_database(
    client: Client, sql: Connection
) -> None:
    object_id = (await kept(client))["id"]
    expected = 1.0
    for days, by in ((30, "nobody"), (15, "name"), (45, "keeping"), (300, "name")):
        await sql.execute(SET_BACK, object_id, timedelta(days=days))
        row = await sql.fetchrow(
            "select confidence, last_reinforced, clock_timestamp() as now"
            " from sessions.persistent_objects where id = $1",
            object_id,
        )
        assert row is not None
        expected = decayed(row["confidence"], row["last_reinforced"], row["now"])
        (shown,) = await listed(client)
        assert shown["confidence"] == pytest.approx(expected, abs=1e-3)
        if by == "nobody":
            assert shown["confidence"] == pytest.approx(0.5, abs=1e-3)
            continue
        if by == "name":
            answer = (await ok(client, "POST", f"{KEPT}/{object_id}/reinforce"))["data"]
        else:
            answer = await kept(client)
        assert answer["confidence"] == pytest.approx(reinforced(expected), abs=1e-3)
    # Reads wrote nothing.
    assert answer["reinforcements"] == 3


async def test_eight_who_keep_the_same_at_once_leave_one_row(client: Client, sql: Connection) -> None:
    made = await asyncio.gather(*(kept(client) for _ in range(8)))
    assert sum(each["created"] for each in made) == 1
    assert len({each["id"] for each in made}) == 1
    (left,) = await listed(client)
    assert (left["reinforcements"], left["confidence"]) == (7, 1.0)


async def test_eight_reinforcements_at_once_all_count(client: Client, sql: Connection) -> None:
    object_id = (await kept(client))["id"]
    await sql.execute(SET_BACK, object_id, timedelta(days=60))
    await asyncio.gather(*(ok(client, "POST", f"{KEPT}/{object_id}/reinforce") for _ in range(8)))
    (left,) = await listed(client)
    assert left["reinforcements"] == 8
    assert left["confidence"] == pytest.approx(1 - 0.75 / 2**8, abs=1e-3)


async def test_a_repeated_request_with_a_key_counts_once(client: Client) -> None:
    session = await began(client, user_id="ana")
    part = await admitted(client, session, SAID)
    path, headers = f"{session}/objects/{part['id']}/persist", {"idempotency-key": "once"}
    first, again = [await client.call("POST", path, {}, headers=headers) for _ in range(2)]
    assert first.status == again.status == 201
    assert (first.body["created"], again.body["created"]) == (True, True)
    reinforce = f"{KEPT}/{first.body['id']}/reinforce"
    for _ in range(2):
        answer = await client.call("POST", reinforce, None, headers={"idempotency-key": "twice"})
        assert (answer.status, answer.body["data"]["reinforcements"]) == (200, 1)


async def test_a_session_with_no_user_keeps_nothing(client: Client) -> None:
    session = await began(client)
    part = await admitted(client, session, SAID)
    refused = await client.call("POST", f"{session}/objects/{part['id']}/persist", {})
    assert (refused.status, refused.body["errors"][0]["field"]) == (409, "user_id")
    nothing = "00000000-0000-4000-8000-000000000000"
    assert (await client.call("POST", f"{session}/objects/{nothing}/persist", {})).status == 404
    for user in ("", "&user_id=x&limit=0"):
        assert (await client.get(f"{KEPT}?{user}")).status == 400


async def test_what_is_kept_is_short(client: Client) -> None:
    session = await began(client, user_id="ana")
    part = await admitted(client, session, SAID)
    path = f"{session}/objects/{part['id']}/persist"
    for content in ("", "x" * 20_001):
        refused = await client.call("POST", path, {"content": content})
        assert (refused.status, refused.body["errors"][0]["field"]) == (400, "content")


async def test_a_session_that_ended_can_still_be_learned_from(client: Client) -> None:
    session = await began(client, user_id="ana")
    part = await admitted(client, session, SAID)
    await ok(client, "POST", f"{session}/complete", {})
    assert (await persisted(client, session, part["id"]))["created"]


async def test_pages_hold_every_object_once(client: Client) -> None:
    made = [(await kept(client, f"{SAID}, says {place}"))["id"] for place in range(5)]
    seen: list[str] = []
    cursor = ""
    while True:
        page = await ok(client, "GET", f"{KEPT}?user_id=ana&limit=2{cursor}")
        seen += [each["id"] for each in page["data"]]
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"
    assert seen == made[::-1]


async def test_what_is_forgotten_is_gone(client: Client) -> None:
    object_id = (await kept(client))["id"]
    assert (await ok(client, "DELETE", f"{KEPT}/{object_id}"))["id"] == object_id
    assert await listed(client) == []
    for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/reinforce")):
        assert (await client.call(method, f"{KEPT}/{object_id}{path}")).status == 404
    assert (await kept(client))["created"]


async def test_nothing_of_one_user_reaches_the_keys_of_another(
    tenant: Tenant, client: Client, tenants: tuple[Tenant, Tenant]
) -> None:
    object_id = (await kept(client))["id"]
    of_bo = await tenant.client("write", users=["bo"])
    stranger = await tenants[1].client("admin")
    for other in (of_bo, stranger):
        for method, path in (("GET", ""), ("POST", "/reinforce"), ("DELETE", "")):
            assert (await other.call(method, f"{KEPT}/{object_id}{path}")).status == 404
    assert (await of_bo.get(f"{KEPT}?user_id=ana")).status == 403
    assert await listed(stranger) == []
    of_ana = await tenant.client("write", users=["ana"])
    assert len(await listed(of_ana)) == 1
    session = await began(client, user_id="ana")
    part = await admitted(client, session, "what only ana may know")
    answer = await of_bo.call("POST", f"{session}/objects/{part['id']}/persist", {})
    assert answer.status == 404


async def test_keys_of_others_read_and_change_nothing(tenant: Tenant, client: Client) -> None:
    """As in the scope of a user in long-term memory."""
    object_id = (await kept(client))["id"]
    for bounds in ({"agent": "mallory"}, {"missions": ["moria"]}):
        other = await tenant.client("write", **bounds)
        assert (await other.get(f"{KEPT}/{object_id}")).status == 200
        for method, path in (("POST", "/reinforce"), ("DELETE", "")):
            assert (await other.call(method, f"{KEPT}/{object_id}{path}")).status == 403
        parties = {"agent_name": "mallory", "mission_id": "moria", "user_id": "ana"}
        session = await began(other, **parties)
        part = await admitted(other, session, SAID, object_type="design_decision")
        told = await persisted(other, session, part["id"])
        assert (told["id"], told["created"], told["reinforcements"]) == (object_id, False, 0)
    own = await tenant.client("write", agent="scout")
    assert (await own.call("DELETE", f"{KEPT}/{object_id}")).status == 200


@pytest.mark.parametrize(("purge", "left"), [
    ({"user_id": "ana"}, 0),
    ({"agent_name": "scout"}, 0),
    ({"mission_id": "apollo"}, 1),
])  # fmt: skip
async def test_a_purge_of_the_user_or_the_agent_leaves_nothing(
    tenant: Tenant, admin_client: Client, sql: Connection, purge: dict[str, str], left: int
) -> None:
    session = await began(admin_client, user_id="ana", mission_id="apollo")
    part = await admitted(admin_client, session, SAID)
    await persisted(admin_client, session, part["id"])
    await kept(admin_client, user_id="bo", content="bo stays") if "user_id" in purge else None
    await ok(admin_client, "POST", "/api/context/purge", purge)
    rows = await sql.fetch(
        "select * from sessions.persistent_objects where tenant = $1 and user_id = 'ana'", tenant.name
    )
    assert len(rows) == left
    assert all(row["source_session_id"] is None for row in rows)
    if "user_id" in purge:
        assert len(await listed(admin_client, "bo")) == 1


QUERY = "On which days does ana deploy?"
AGED = """
update sessions.persistent_objects
set last_reinforced = last_reinforced - $2::interval, created_at = created_at - $2::interval where id = $1
"""


def of_users(assembly: Json) -> list[Json]:
    return [source for source in assembly["sources"] if source["store"] == "persistent_objects"]


async def test_assemble_finds_what_an_earlier_session_kept_and_never_anothers(
    tenant: Tenant, client: Client, tenants: tuple[Tenant, Tenant]
) -> None:
    object_id = (await kept(client))["id"]
    await kept(client, "bo deploys on Mondays only", "bo")
    assembly = await assembled(client, QUERY, user_id="ana")
    (source,) = of_users(assembly)
    number = (await read(client, object_id))["number"]
    named = source["handle"], source["kind"], source["agent"]
    assert named == (f"persistent:{number}", "design_decision", "scout")
    assert SAID in assembly["context_block"]
    assert "Mondays" not in str(assembly)
    item = await ok(client, "GET", f"/api/context/sources/{source['handle']}")
    assert (item["item"]["id"], item["item"]["content"]) == (object_id, SAID)
    explained = await ok(client, "GET", f"/api/context/log/{assembly['assembly_id']}")
    replayed = await ok(client, "POST", f"/api/context/log/{assembly['assembly_id']}/replay", {})
    assert source["handle"] in str(explained)
    assert source["handle"] in str(replayed)
    assert of_users(await assembled(client, QUERY)) == []
    assert of_users(await assembled(client, QUERY, user_id="cyd")) == []
    assert of_users(await assembled(await tenants[1].client(), QUERY, user_id="ana")) == []
    of_bo = await tenant.client("write", users=["bo"])
    asked = {"query": QUERY, "caller": "scout", "user_id": "ana"}
    assert (await of_bo.call("POST", "/api/context/assemble", asked)).status == 403
    assert (await of_bo.get(f"/api/context/sources/{source['handle']}")).status == 404


async def test_a_score_follows_the_confidence(client: Client, sql: Connection) -> None:
    object_id = (await kept(client))["id"]
    (before,) = of_users(await assembled(client, QUERY, user_id="ana"))
    await sql.execute(AGED, object_id, timedelta(days=30))
    (after,) = of_users(await assembled(client, QUERY, user_id="ana"))
    assert (before["recency"], after["recency"]) == (
        pytest.approx(1, abs=1e-3),
        pytest.approx(0.75, abs=1e-3),
    )
    await ok(client, "POST", f"{KEPT}/{object_id}/reinforce")
    (again,) = of_users(await assembled(client, QUERY, user_id="ana"))
    assert again["recency"] == pytest.approx(0.875, abs=1e-3)


async def test_vectors_follow_and_leave_with_the_object(
    tenant: Tenant, client: Client, sql: Connection
) -> None:
    async def rows(table: str) -> int:
        count: int = await sql.fetchval(
            f"select count(*) from sessions.{table} where tenant = $1", tenant.name
        )
        return count

    object_id = (await kept(client))["id"]

    async def indexed() -> None:
        assert await rows("persistent_vec") == await rows("persistent_chunks") == 1
        waiting = "select count(*) from cache.index_queue where tenant = $1 and store = 'persistent_objects'"
        assert await sql.fetchval(waiting, tenant.name) == 0

    await until(indexed)
    await ok(client, "DELETE", f"{KEPT}/{object_id}")
    for table in ("persistent_objects", "persistent_chunks", "persistent_vec"):
        assert await rows(table) == 0
