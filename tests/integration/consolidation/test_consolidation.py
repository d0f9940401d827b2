"""Sessions are learned from over HTTP: once, with links to their turns, and undone row by row."""

from __future__ import annotations

from services.agent_memory.consolidation.extraction.rules import MOST_NAMES
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
from tests.integration.sessions.calls import began, ok
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


async def test_learning_from_the_start_after_several_runs_opens_nothing(
    client: Client, sql: Connection, tenant: Tenant
) -> None:
    """It takes the same steps as the runs before it, so that its episodes are theirs."""
    session = await began(client, user_id="Ana")
    for day in range(1, 4):
        about = ("the boat in the harbour", "sails of the boat", "a storm that broke the mast", "its repair")
        await say(client, session, *(f"On day {day} we talked about {each}." for each in about), day=day)
        assert (await consolidated(client, session))["opened"] == 1
    before = await believed(sql, tenant.name)
    anew = await consolidated(client, session, from_start=True)
    assert (anew["status"], anew["position"], anew["opened"], anew["confirmed"]) == ("finished", 12, 0, 3)
    assert await believed(sql, tenant.name) == before


async def test_a_turn_of_many_names_is_learned_from(client: Client) -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    names = " ".join(f"Bo{one}{two} aka Al{one}{two}." for one in letters for two in letters[:20])
    session = await talked(client, *(8 * [names]))
    done = await consolidated(client, session)
    assert done["status"] == "finished"
    kinds = [each["kind"] for each in await changes(client, done["run_id"])]
    assert kinds.count("alias") == MOST_NAMES


async def test_undo_gives_names_back_what_was_stated_under_them(
    client: Client, sql: Connection, tenant: Tenant
) -> None:
    """Of two facts that a name makes one, both are believed again."""
    session = await talked(client, "Elizabeth lives in Lisbon.", "Liz lives in Lisbon.", "Liz likes tea.")
    await consolidated(client, session)
    before = await believed(sql, tenant.name)
    assert len(before["facts"]) == 3
    await say(client, session, "Elizabeth, also known as Liz, is here.", "Liz works at Acme.", day=2)
    done = await consolidated(client, session)
    assert {each["object"] for each in await facts(client, "Elizabeth")} == {"Lisbon", "tea", "Acme"}
    folded = [each for each in await changes(client, done["run_id"]) if each["action"] == "replaced"]
    assert [each["kind"] for each in folded] == ["fact"]
    undone = await ok(client, "POST", f"{RUNS}/{done['run_id']}/undo")
    assert (undone["withdrawn"], undone["reopened"], undone["kept"]) == (2, 1, 0)
    assert await believed(sql, tenant.name) == before
    assert {each["object"] for each in await facts(client, "Elizabeth")} == {"Lisbon"}
    assert {each["object"] for each in await facts(client, "Liz")} == {"Lisbon", "tea"}


async def test_undo_of_a_name_leads_the_names_before_it_back(
    client: Client, sql: Connection, tenant: Tenant
) -> None:
    session = await talked(client, "Lizzy likes tea.", "Liz, also known as Lizzy, is here.")
    await consolidated(client, session)
    before = await believed(sql, tenant.name)
    assert [(row["alias_key"], row["entity_key"]) for row in before["names"]] == [("lizzy", "liz")]
    await say(client, session, "Elizabeth, also known as Liz, is here.", day=2)
    done = await consolidated(client, session)
    led = {(row["alias_key"], row["entity_key"]) for row in (await believed(sql, tenant.name))["names"]}
    assert led == {("lizzy", "elizabeth"), ("liz", "elizabeth")}
    await ok(client, "POST", f"{RUNS}/{done['run_id']}/undo")
    assert await believed(sql, tenant.name) == before
    assert {each["object"] for each in await facts(client, "Liz")} == {"tea"}


_BROKEN_OFF = """
with run as (
    update memory.consolidation_runs set position = after, finished_at = null where tenant = $1 returning *
)
update memory.consolidation_state s set position = run.after, run_id = run.id from run where s.tenant = $1
"""


async def test_a_run_that_was_broken_off_leaves_what_was_said_since_to_the_next(
    client: Client, sql: Connection, tenant: Tenant
) -> None:
    session = await talked(client, "I live in Lisbon.")
    first = await consolidated(client, session)
    await say(client, session, "I live in Porto.", day=2)
    await sql.execute(_BROKEN_OFF, tenant.name)
    done = await consolidated(client, session)
    assert (done["status"], done["run_id"], done["through"]) == ("unfinished", first["run_id"], 1)
    done = await consolidated(client, session)
    assert (done["status"], done["position"], done["closed"]) == ("finished", 2, 1)


async def test_learning_from_the_start_takes_the_place_of_a_run_that_was_broken_off(
    client: Client, sql: Connection, tenant: Tenant
) -> None:
    session = await talked(client, "I live in Lisbon.")
    await consolidated(client, session)
    await say(client, session, "I like tea.", day=2)
    broken = await consolidated(client, session)
    await sql.execute(
        _BROKEN_OFF.replace("tenant = $1 returning", "tenant = $1 and after > 0 returning"), tenant.name
    )
    done = await consolidated(client, session, from_start=True)
    assert (done["status"], done["confirmed"], done["position"]) == ("finished", 2, 2)
    assert done["run_id"] != broken["run_id"]
