"""A session's objects as a store of assembled context: what its context no longer shows whole."""

from __future__ import annotations

from typing import Any

from tests.integration.conftest import Tenant
from tests.integration.sessions.calls import admitted, assembled, began, ok
from tests.support.calls import Json
from tests.support.cluster import Client

RETRY = "def retry(event):\n    backoff.sleep(jitter)\n    send(event)\n"
QUERY = "Where does retry sleep with jitter before it sends the event again?"


def of_session(assembly: Json) -> list[Any]:
    return [source for source in assembly["sources"] if source["store"] == "session_objects"]


async def let_go(client: Client, session: str, **more: Any) -> Json:
    """An object of which only a line is left, also in the block."""
    made = await admitted(client, session, RETRY, source_key="worker.py", **more)
    await ok(client, "POST", f"{session}/objects/{made['id']}/release", {})
    await ok(client, "POST", f"{session}/turns", {})
    return made


async def test_what_shrank_is_found_and_what_stands_whole_is_not_repeated(client: Client) -> None:
    session = await began(client, external_id="incident", config={"token_budget": 1_000})
    made = await admitted(client, session, RETRY, source_key="worker.py")
    before = await assembled(client, QUERY, session_id="incident")
    assert of_session(before) == []
    assert of_session(await assembled(client, QUERY, session_id="incident", whole_objects=True))
    await ok(client, "POST", f"{session}/objects/{made['id']}/release", {})
    assert of_session(await assembled(client, QUERY, session_id="incident")) == []  # sent, and not made anew
    await admitted(client, session, "filler words " * 400)
    assert (await ok(client, "POST", f"{session}/turns", {}))["batch"]
    after = await assembled(client, QUERY, session_id="incident", debug=False)
    (source,) = of_session(after)
    assert RETRY.strip() in after["context_block"]
    assert (source["agent"], source["kind"], source["source_kind"]) == ("scout", "file_context", "tool")
    assert {"scope": "session:incident", "items": 2} in after["searched"]
    item = await ok(client, "GET", f"/api/context/sources/{source['handle']}")
    assert (item["item"]["id"], item["item"]["content"]) == (made["id"], RETRY)


async def test_an_assembly_with_objects_is_logged_and_explained(client: Client) -> None:
    session = await began(client)
    await admitted(client, session, RETRY)
    by_id = session.rpartition("/")[2]
    assembly = await assembled(client, QUERY, session_id=by_id, whole_objects=True)
    (source,) = of_session(assembly)
    log = await ok(client, "GET", f"/api/context/log/{assembly['assembly_id']}")
    assert source["handle"] in str(log)
    replayed = await ok(client, "POST", f"/api/context/log/{assembly['assembly_id']}/replay", {})
    assert source["handle"] in str(replayed)


async def test_only_who_reaches_the_session_finds_its_objects(client: Client, tenant: Tenant) -> None:
    session = await began(client, agent_name="other", mission_id="m", external_id="theirs")
    await admitted(client, session, RETRY)
    asked = {"session_id": "theirs", "whole_objects": True}
    (source,) = of_session(await assembled(client, QUERY, **asked))
    scouts = await tenant.client(agent="scout")
    assert of_session(await assembled(scouts, QUERY, **asked)) == []
    assert (await scouts.call("GET", f"/api/context/sources/{source['handle']}")).status == 404
    of_n = await tenant.client(missions=["n"])
    assert of_session(await assembled(of_n, QUERY, mission_namespace="n", **asked)) == []


async def test_a_session_that_nobody_began_changes_nothing(client: Client) -> None:
    session = await began(client, external_id="empty")
    known = await assembled(client, QUERY, session_id="empty")
    unknown = await assembled(client, QUERY, session_id="a name of the host's own")
    assert known["sources"] == unknown["sources"] == []
    assert known["degraded"] == unknown["degraded"] == []
    assert {"scope": "session:empty", "items": 0} in known["searched"]
    assert session
