"""Keys that are bound consolidate, see and undo only what they reach, and users stay apart."""

from __future__ import annotations

import asyncio

import pytest

from shared.database.postgres import Connection
from tests.integration.conftest import Tenant
from tests.integration.consolidation.calls import (
    CONSOLIDATE,
    RUNS,
    believed,
    consolidated,
    facts,
    say,
    talked,
)
from tests.integration.sessions.calls import began, ok
from tests.support.cluster import Client


@pytest.mark.parametrize("bound", [{"users": ["bo"]}, {"agent": "other"}, {"missions": ["other"]}])
async def test_a_bound_key_reaches_no_other_sessions_and_runs(
    client: Client, tenant: Tenant, sql: Connection, bound: dict[str, object]
) -> None:
    session = await talked(client, "I live in Lisbon.", mission_id="m")
    done = await consolidated(client, session)
    before = await believed(sql, tenant.name)
    stranger = await tenant.client("write", **bound)
    asked = await stranger.post(CONSOLIDATE, {"session_id": session.rpartition("/")[2], "from_start": True})
    assert asked.status == 404
    assert (await stranger.get(f"{RUNS}/{done['run_id']}")).status == 404
    assert (await stranger.get(f"{RUNS}/{done['run_id']}/changes")).status == 404
    assert (await stranger.post(f"{RUNS}/{done['run_id']}/undo", None)).status == 404
    assert (await ok(stranger, "GET", RUNS))["data"] == []
    assert await believed(sql, tenant.name) == before


async def test_what_one_user_teaches_is_no_other_users(client: Client, tenant: Tenant) -> None:
    await consolidated(client, await talked(client, "I live in Lisbon."))
    await consolidated(client, await talked(client, "I live in Porto.", user_id="bo"))
    assert [(each["object"], each["scope"]) for each in await facts(client, "Ana")] == [
        ("Lisbon", "user:Ana")
    ]
    of_bo = await tenant.client("write", users=["bo"])
    assert await facts(of_bo, "Ana") == []
    assert [each["object"] for each in await facts(of_bo, "bo")] == ["Porto"]


async def test_a_key_of_the_agent_learns_as_this_agent(client: Client, tenant: Tenant) -> None:
    session = await talked(client, "I live in Lisbon.")
    scout = await tenant.client("write", agent="scout")
    done = await consolidated(scout, session)
    assert (done["status"], done["opened"]) == ("finished", 1)
    (fact,) = await facts(client)
    # The agent's key does not speak for users.
    assert (fact["agent_name"], fact["source_claim"]) == ("scout", "agent")


async def test_reading_keys_only_read(client: Client, tenant: Tenant) -> None:
    done = await consolidated(client, await talked(client, "I live in Lisbon."))
    reader = await tenant.client("read")
    assert (await ok(reader, "GET", f"{RUNS}/{done['run_id']}"))["tally"]["opened"] == 1
    assert (await reader.post(f"{RUNS}/{done['run_id']}/undo", None)).status == 403
    assert (await reader.post(CONSOLIDATE, {"session_id": "any"})).status == 403


async def test_a_trusted_statement_stands_and_both_are_disputed(client: Client) -> None:
    stated = {"subject": "Ana", "predicate": "lives in", "object": "Faro", "scope": "user:Ana"}
    await ok(client, "POST", "/api/kg/write", {**stated, "source_kind": "user"})
    done = await consolidated(client, await talked(client, "I live in Lisbon."))
    assert (done["closed"], done["disputed"]) == (0, 1)
    found = {each["object"]: each.get("disputed", False) for each in await facts(client, every_time=True)}
    assert found.keys() == {"Faro", "Lisbon"}


async def test_many_at_once_do_the_work_once(client: Client, tenant: Tenant, sql: Connection) -> None:
    session = await began(client, user_id="Ana")
    for day in range(1, 4):
        towns = [
            f"I live in Town{day}{chr(97 + number // 26)}{chr(97 + number % 26)}." for number in range(50)
        ]
        await say(client, session, *towns, day=day)
    every = await asyncio.gather(*(consolidated(client, session) for _ in range(6)))
    assert sum(each["status"] == "finished" for each in every) == 1
    assert {each["status"] for each in every} <= {"finished", "under_way", "nothing_new"}
    (run,) = (await ok(client, "GET", RUNS))["data"]
    assert (run["position"], run["status"]) == (150, "finished")
    rows = await believed(sql, tenant.name)
    assert len(rows["facts"]) == 150
    assert run["tally"]["opened"] == 150 + len(rows["memories"])
