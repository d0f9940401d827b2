"""Sessions are learned from over HTTP: once, with links to their turns, and undone row by row."""

from __future__ import annotations

from shared.database.postgres import Connection
from tests.integration.conftest import Tenant
from tests.integration.consolidation.calls import (
    RUNS,
    believed,
    changes,
    consolidated,
    facts,
    say,
    talked,
)
from tests.integration.sessions.calls import ok
from tests.support.cluster import Client


async def test_a_session_teaches_facts_with_the_turns_they_come_from(client: Client) -> None:
    session = await talked(client, "Hello there.", "I live in Lisbon.", "I work at Acme.")
    done = await consolidated(client, session)
    assert (done["status"], done["position"], done["opened"]) == ("finished", 3, 2)
    learned = await facts(client)
    assert {(each["predicate"], each["object"]) for each in learned} == {
        ("lives in", "Lisbon"),
        ("works at", "Acme"),
    }
    assert {(each["source_kind"], each["source_claim"]) for each in learned} == {("derived", "user")}
    made = await changes(client, done["run_id"])
    assert [(each["kind"], each["action"], each["turns"]) for each in made] == [
        ("fact", "opened", [2]),
        ("fact", "opened", [3]),
    ]
    assert {each["item_id"] for each in made} == {each["id"] for each in learned}


async def test_twice_changes_nothing(client: Client, sql: Connection, tenant: Tenant) -> None:
    session = await talked(client, "I live in Lisbon.", "I'll send the report by 2030-05-01.")
    await consolidated(client, session)
    once = await believed(sql, tenant.name)
    again = await consolidated(client, session)
    assert (again["status"], again["run_id"]) == ("nothing_new", None)
    anew = await consolidated(client, session, from_start=True)
    assert (anew["opened"], anew["closed"], anew["confirmed"]) == (0, 0, 2)
    assert await believed(sql, tenant.name) == once


async def test_a_run_goes_on_where_the_last_one_ended(client: Client) -> None:
    session = await talked(client, "I live in Lisbon.")
    await consolidated(client, session)
    await say(client, session, "I live in Porto.", day=2)
    done = await consolidated(client, session)
    assert (done["opened"], done["closed"], done["position"]) == (1, 1, 2)
    assert [(each["object"], each["valid_from"]) for each in await facts(client)] == [
        ("Porto", "2026-03-02T10:00:00Z")
    ]


async def test_undo_restores_what_was_there_row_by_row(
    client: Client, sql: Connection, tenant: Tenant
) -> None:
    session = await talked(client, "I live in Lisbon.")
    await consolidated(client, session)
    before = await believed(sql, tenant.name)
    await say(client, session, "I live in Porto.", "I work at Acme.", "I'll call by 2030-05-01.", day=2)
    done = await consolidated(client, session)
    assert await believed(sql, tenant.name) != before
    undone = await ok(client, "POST", f"{RUNS}/{done['run_id']}/undo")
    assert (undone["withdrawn"], undone["reopened"], undone["kept"]) == (3, 1, 0)
    assert undone["run"]["status"] == "undone"
    assert await believed(sql, tenant.name) == before
    again = await ok(client, "POST", f"{RUNS}/{done['run_id']}/undo")
    assert (again["withdrawn"], again["reopened"], again["kept"]) == (0, 0, 0)
    assert await believed(sql, tenant.name) == before


async def test_undo_leaves_what_somebody_stated_after_the_run(client: Client) -> None:
    session = await talked(client, "I live in Lisbon.")
    await consolidated(client, session)
    await say(client, session, "I live in Porto.", day=2)
    done = await consolidated(client, session)
    stated = {"subject": "Ana", "predicate": "lives in", "object": "Faro", "scope": "user:Ana"}
    await ok(client, "POST", "/api/kg/write", {**stated, "valid_from": "2026-03-03T00:00:00Z"})
    undone = await ok(client, "POST", f"{RUNS}/{done['run_id']}/undo")
    assert undone["kept"] == 1
    assert [each["object"] for each in await facts(client)] == ["Faro"]
