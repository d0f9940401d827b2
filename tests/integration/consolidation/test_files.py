"""Files of the vault are learned from when they have changed, into the scope of their folder."""

from __future__ import annotations

import asyncio
from typing import Any

from services.agent_memory.consolidation.writing.vanishing import UNSAID
from shared.database.postgres import Connection
from tests.integration.conftest import Tenant
from tests.integration.consolidation.calls import CONSOLIDATE, RUNS, believed, changes, facts
from tests.integration.sessions.calls import ok
from tests.support.calls import Json
from tests.support.cluster import Client

PATH = "users/Ana/notes.txt"


async def put(client: Client, text: str, path: str = PATH) -> None:
    await ok(client, "POST", "/api/vault/files", {"path": path, "text": text})


async def learn(client: Client, path: str = PATH, **more: Any) -> Json:
    answer: Json = await ok(client, "POST", CONSOLIDATE, {"path": path, **more})
    return answer


async def test_a_changed_file_is_learned_from_once(client: Client, tenant: Tenant, sql: Connection) -> None:
    await put(client, "Bo lives in Lisbon.\n")
    every = await asyncio.gather(*(learn(client) for _ in range(3)))
    assert sorted(each["status"] for each in every) == ["finished", "nothing_new", "nothing_new"]
    (fact,) = await facts(client, "Bo")
    assert (fact["object"], fact["scope"], fact["user_id"]) == ("Lisbon", "user:Ana", "Ana")
    assert (fact["source_kind"], fact["source_claim"]) == ("derived", "document")
    before = await believed(sql, tenant.name)
    await put(client, "Bo lives in Lisbon.\nBo works at Acme.\n")
    done = await learn(client)
    assert (done["status"], done["opened"], done["confirmed"]) == ("finished", 1, 1)
    assert [each["turns"] for each in await changes(client, done["run_id"])] == [[1], [1]]
    await ok(client, "POST", f"{RUNS}/{done['run_id']}/undo")
    assert await believed(sql, tenant.name) == before


async def test_who_may_not_write_in_the_folder_learns_nothing(client: Client, tenant: Tenant) -> None:
    await put(client, "Bo lives in Lisbon.\n")
    of_bo = await tenant.client("write", users=["bo"])
    assert (await of_bo.post(CONSOLIDATE, {"path": PATH})).status == 404
    await put(client, "Bo lives in Lisbon.\n", "shared/notes.txt")
    assert (await of_bo.post(CONSOLIDATE, {"path": "shared/notes.txt"})).status == 403
    done = await learn(client)
    assert (await of_bo.get(f"{RUNS}/{done['run_id']}")).status == 404


async def test_a_file_of_nobody_needs_a_scope(client: Client) -> None:
    await put(client, "Bo lives in Lisbon.\n", "notes/bo.txt")
    refused = await client.post(CONSOLIDATE, {"path": "notes/bo.txt"})
    assert (refused.status, refused.body["errors"][0]["field"]) == (400, "scope")
    done = await learn(client, "notes/bo.txt", scope="mission:m")
    assert done["status"] == "finished"
    assert [each["scope"] for each in await facts(client, "Bo")] == ["mission:m"]


async def test_where_writes_wait_for_a_reviewer_nothing_is_learned(
    client: Client, admin_client: Client
) -> None:
    await ok(admin_client, "PUT", "/api/context/review/rules", {"mission_id": "m"})
    await put(client, "Bo lives in Lisbon.\n", "notes/bo.txt")
    assert (await client.post(CONSOLIDATE, {"path": "notes/bo.txt", "scope": "mission:m"})).status == 409
    assert await facts(client, "Bo") == []
    # Who reviews needs no reviewer.
    assert (await learn(admin_client, "notes/bo.txt", scope="mission:m"))["status"] == "finished"


async def test_what_a_file_in_somebodys_folder_teaches_lies_nowhere_else(
    client: Client, tenant: Tenant, sql: Connection
) -> None:
    """A purge of them would not find it."""
    for path in (PATH, "agents/scout/notes.txt", "missions/m/notes.txt"):
        await put(client, "Bo lives in Lisbon.\n", path)
        for scope in ("shared", "user:bo", "mission:other"):
            refused = await client.post(CONSOLIDATE, {"path": path, "scope": scope})
            assert (refused.status, refused.body["errors"][0]["field"]) == (400, "scope")
    assert (await believed(sql, tenant.name))["facts"] == []
    assert (await learn(client, scope="user:Ana"))["status"] == "finished"


async def test_either_a_session_or_a_file(client: Client) -> None:
    for body in ({}, {"session_id": "a", "path": "b"}, {"session_id": "a", "scope": "shared"}):
        assert (await client.post(CONSOLIDATE, body)).status == 400


async def test_what_a_file_no_longer_says_ends_and_undo_brings_it_back(
    client: Client, tenant: Tenant, sql: Connection
) -> None:
    await put(client, "Bo lives in Lisbon.\nBo likes tea.\nBo likes jazz.\n")
    await learn(client)
    # A second source, which goes on saying it.
    await put(client, "Bo likes jazz.\n", "users/Ana/more.txt")
    await learn(client, "users/Ana/more.txt")
    before = await believed(sql, tenant.name)
    await put(client, "Bo lives in Porto.\nBo likes tea.\n")
    done = await learn(client)
    assert (done["opened"], done["closed"], done["confirmed"]) == (1, 1, 1)
    assert {each["object"] for each in await facts(client, "Bo")} == {"Porto", "tea", "jazz"}
    (closed,) = (each for each in await changes(client, done["run_id"]) if each["action"] == "closed")
    assert closed["why"] == UNSAID
    await ok(client, "POST", f"{RUNS}/{done['run_id']}/undo")
    assert await believed(sql, tenant.name) == before
    await put(client, "Bo is here.\n")
    assert (await learn(client))["closed"] == 2
    assert {each["object"] for each in await facts(client, "Bo")} == {"jazz"}


async def test_what_somebody_stated_does_not_end_with_a_file(client: Client) -> None:
    stated = {"subject": "Bo", "predicate": "lives in", "object": "Lisbon", "scope": "user:Ana"}
    await ok(client, "POST", "/api/kg/write", {**stated, "user_id": "Ana"})
    await put(client, "Bo lives in Lisbon.\n")
    assert (await learn(client))["confirmed"] == 1
    await put(client, "Bo is here.\n")
    assert (await learn(client))["closed"] == 0
    assert [each["object"] for each in await facts(client, "Bo")] == ["Lisbon"]
