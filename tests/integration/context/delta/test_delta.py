"""A session is given each item once, and told once what became of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import pytest

import scrubjay
from local.database import Database
from services.context.assembly.asking import Ask
from services.context.assembly.schemas import AssembleContextInput
from services.context.delta import queries
from services.context.delta.queries import Gift, Whose
from services.context.delta.service import Sessions
from services.context.forwarding.owners import Owners
from shared.auth import Principal
from shared.database.postgres import Database as Pool
from shared.deadline import Deadline
from tests.integration.conftest import Tenant
from tests.support.calls import lesson, note, question
from tests.support.cluster import Client

MISSION = "delta"
ENTRIES = "/api/psychic-cache/write?wait=indexed"
COMMIT = "/api/agent-memory/commit"
TEXTS = (
    "The orders database fails over to Lisbon.",
    "The orders database keeps its backups for a month.",
    "The orders database has eleven replicas.",
)


async def write(client: Client, text: str, **more: Any) -> int:
    answer = await client.post(ENTRIES, note(MISSION, text, **more))
    assert answer.status == 201, answer
    return int(answer.body["data"]["id"])


async def commit(client: Client, text: str, **more: Any) -> int:
    answer = await client.post(COMMIT, lesson("scout", text, **more))
    assert answer.status == 201, answer
    return int(answer.body["memory_id"])


async def ask(client: Client, session: str = "s", **more: Any) -> Any:
    body = question(MISSION, text="What of the orders database?", session_id=session, **more)
    answer = await client.post("/api/context/assemble", {"delta": True, **body})
    assert answer.status == 200, answer
    assert answer.body["degraded"] == [], answer
    return answer.body


async def changes(client: Client, session: str = "s", **more: Any) -> Any:
    asked = {"session_id": session, "caller": "scout", **more}
    answer = await client.get("/api/context/changes", params=asked)
    assert answer.status == 200, answer
    return answer.body


def of_changes(answer: Any) -> list[tuple[str, str, str | None]]:
    return sorted((each["handle"], each["what"], each.get("by")) for each in answer["corrections"])


def handles(answer: Any) -> list[str]:
    return [source["handle"] for source in answer["sources"]]


def corrected(answer: Any) -> list[tuple[str, str, str | None]]:
    return [(each["handle"], each["what"], each.get("by")) for each in answer["delta"]["corrections"]]


def _whole(answer: Any) -> set[str]:
    return {source["handle"] for source in answer["sources"] if not source["cut"]}


async def test_what_a_session_was_given_does_not_come_again(client: Client) -> None:
    ids = [await write(client, text) for text in TEXTS[:2]]
    first = await ask(client)
    assert sorted(handles(first)) == [f"cache:{number}" for number in ids]
    nothing = await ask(client)
    assert (nothing["context_block"], handles(nothing), corrected(nothing)) == ("", [], [])
    assert nothing["total_tokens"] == 0
    assert nothing["delta"]["position"] == first["delta"]["position"]
    later = await write(client, TEXTS[2])
    assert handles(await ask(client)) == [f"cache:{later}"]
    log = (await client.get(f"/api/context/log/{nothing['assembly_id']}")).body
    assert {each["outcome"] for each in log["candidates"] if each["handle"] == f"cache:{ids[0]}"} == {"given"}
    replay = await client.post(f"/api/context/log/{nothing['assembly_id']}/replay", {"token_budget": 900})
    assert replay.body["added"] == []


async def test_a_session_begins_anew_after_a_compaction(client: Client) -> None:
    await write(client, TEXTS[0])
    first = await ask(client)
    anew = await ask(client, delta=False)
    assert handles(anew) == handles(first)
    assert handles(await ask(client)) == []


async def test_requests_without_delta_are_as_before(client: Client) -> None:
    await write(client, TEXTS[0])
    first = await ask(client, delta=None)
    assert "delta" not in first
    assert handles(await ask(client, delta=None)) == handles(first)
    assert handles(await ask(client)) == handles(first)


async def test_sessions_callers_and_keys_are_apart(tenant: Tenant, client: Client) -> None:
    await write(client, TEXTS[0])
    first = await ask(client)
    assert handles(await ask(client, "another")) == handles(first)
    assert handles(await ask(client, caller="subagent")) == handles(first)
    assert handles(await ask(await tenant.client("write"))) == handles(first)
    assert handles(await ask(client)) == []


async def test_what_was_lost_on_its_way_comes_again(client: Client) -> None:
    first_id = await write(client, TEXTS[0])
    arrived = await ask(client)
    lost_id = await write(client, TEXTS[1])
    lost = await ask(client)
    assert handles(lost) == [f"cache:{lost_id}"]
    again = await ask(client, since=arrived["delta"]["position"])
    assert handles(again) == handles(lost)
    assert f"cache:{first_id}" not in handles(again)
    assert handles(await ask(client, since=again["delta"]["position"])) == []


@pytest.fixture
async def pool(database: Database) -> AsyncIterator[Pool]:
    """As the context service has one."""
    pool = Pool(database.services["context"], connections=1)
    await pool.open()
    yield pool
    await pool.close()


@pytest.mark.parametrize(
    ("body", "age", "forgotten"),
    [
        ({"delta": True, "since": 0}, 0, True),
        ({"delta": True, "since": 0}, 60, False),  # told while this request was here
        ({"delta": True}, 0, False),
        ({"delta": False}, 60, True),
    ],
)
async def test_what_an_answer_at_once_tells_is_not_lost(
    tenant: Tenant, pool: Pool, body: dict[str, Any], age: float, forgotten: bool
) -> None:
    request = AssembleContextInput(query="What?", caller="scout", session_id="s", **body)
    asked = SimpleNamespace(
        principal=Principal(tenant.name, "k", frozenset()), request=request, request_id="r"
    )
    whose, gift = Whose(tenant.name, "k", "scout", "s"), Gift("profile:agent:scout", 0, "x", [])
    await pool.run(tenant.name, lambda c: queries.give(c, whose, [gift]), Deadline(30))
    sessions = Sessions(pool, Owners())
    session = await sessions.look(cast("Ask", asked), time.perf_counter() - age, Deadline(30))
    assert session.degraded == []
    assert set(session.known) == (set() if forgotten else {gift.handle})


async def test_gifts_are_written_in_one_order(tenant: Tenant, pool: Pool) -> None:
    """Or two answers at once, each with its own ranking, would wait for each other."""
    whose = Whose(tenant.name, "k", "scout", "s")
    for ranked in (["own:7", "cache:3", "own:2"], ["own:5", "cache:9", "cache:8"]):
        gifts = [Gift(handle, 0, "x", []) for handle in ranked]
        await pool.run(tenant.name, partial(queries.give, whose=whose, gifts=gifts), Deadline(30))
    rows = await pool.run(tenant.name, lambda c: queries.known(c, whose, 9), Deadline(30))
    newest_last = [row["handle"] for row in reversed(rows)]
    assert newest_last == ["cache:3", "own:2", "own:7", "cache:8", "cache:9", "own:5"]


async def test_changes_are_told_once(client: Client) -> None:
    edited = await commit(client, "The orders database alerts page Ann.")
    deleted = await commit(client, "The orders database uses port 6001 for replication.")
    old = await write(client, TEXTS[0])
    first = await ask(client)
    assert sorted(handles(first)) == sorted([f"own:{edited}", f"own:{deleted}", f"cache:{old}"])
    await client.call(
        "PATCH", f"/api/agent-memory/{edited}", {"content": "The orders database alerts page Bob."}
    )
    assert (await client.delete(f"/api/agent-memory/{deleted}")).status in (200, 204)
    new = await write(client, "Lisbon is closed: Porto takes over the orders database.", supersedes=old)
    expected = sorted(
        [
            (f"own:{edited}", "edited", None),
            (f"own:{deleted}", "gone", None),
            (f"cache:{old}", "superseded", f"cache:{new}"),
        ]
    )
    for _ in range(2):  # to look is not to be told
        seen = await changes(client)
        assert (of_changes(seen), seen["degraded"]) == (expected, [])
        assert seen["position"] == first["delta"]["position"]
    told = await ask(client)
    assert sorted(corrected(told)) == expected
    assert handles(told) == [f"cache:{new}"]
    block, nonce = told["context_block"], told["nonce"]
    assert f"[update own:{edited} now says {nonce}] The orders database alerts page Bob." in block
    assert f"[update cache:{old} superseded by cache:{new} {nonce}]" in block
    assert [item.handle for item in scrubjay.parse_block(block, nonce)] == [f"cache:{new}"]
    again = await ask(client)
    assert (corrected(again), again["context_block"]) == ([], "")
    assert (await changes(client))["corrections"] == []


async def test_an_edit_that_is_taken_back_is_told_too(client: Client) -> None:
    number = await commit(client, "The orders database alerts page Ann.")
    await ask(client)
    for name in ("Bob", "Ann", "Bob"):
        body = {"content": f"The orders database alerts page {name}."}
        assert (await client.call("PATCH", f"/api/agent-memory/{number}", body)).status == 200
        told = await ask(client)
        assert corrected(told) == [(f"own:{number}", "edited", None)]
        assert f"page {name}." in told["context_block"]


async def test_an_edited_item_stands_once_in_a_block(client: Client) -> None:
    """The session has a passage of one item, and the other is background: both might be given again."""
    other = await commit(client, "Falcons hunt at dusk.")
    assert handles(await ask(client, background=True)) == [f"own:{other}"]
    filler = "Nothing else was of note on that day. " * 20
    long = await commit(client, f"The orders database fails over to Lisbon. {filler}")
    assert [source["cut"] for source in (await ask(client, token_budget=60))["sources"]] == [True]
    for number, text in (
        (long, "The orders database fails over to Porto."),
        (other, "Falcons hunt at dawn."),
    ):
        answer = await client.call("PATCH", f"/api/agent-memory/{number}", {"content": text})
        assert answer.status == 200, answer
    told = await ask(client, background=True)
    assert sorted(corrected(told)) == sorted((f"own:{number}", "edited", None) for number in (long, other))
    assert handles(told) == []
    assert told["context_block"].count("Porto") == told["context_block"].count("dawn") == 1


async def test_an_item_that_an_edit_makes_longer_is_compared_as_a_whole(client: Client) -> None:
    """Its chunks have their own texts by then."""
    number = await commit(client, "The orders database alerts page Ann.")
    assert handles(await ask(client)) == [f"own:{number}"]
    longer = "The orders database alerts page Bob. " + "Nothing else was of note on that day. " * 80
    for end in ("", "And then it rained."):
        answer = await client.call("PATCH", f"/api/agent-memory/{number}", {"content": longer + end})
        assert answer.status == 200, answer
        told = await ask(client, query="Whom do falcons hunt?")
        assert (corrected(told), told["degraded"]) == ([(f"own:{number}", "edited", None)], [])
    assert corrected(await ask(client, query="Whom do falcons hunt?")) == []


async def test_what_the_search_finds_overtaken_is_told_once(client: Client) -> None:
    old = await write(client, "The orders database is db-7.")
    assert handles(await ask(client)) == [f"cache:{old}"]
    new = await write(client, "The orders database is db-9.")
    told = await ask(client)
    assert handles(told) == [f"cache:{new}"]
    assert corrected(told) == [(f"cache:{old}", "superseded", f"cache:{new}")]
    assert corrected(await ask(client)) == []


async def test_the_same_words_do_not_come_again_from_another_item(client: Client) -> None:
    first = await write(client, TEXTS[0])
    assert handles(await ask(client)) == [f"cache:{first}"]
    assert await write(client, TEXTS[0]) != first
    again = await ask(client)
    assert (again["context_block"], corrected(again)) == ("", [])


async def test_more_of_a_long_item_comes_with_another_question(client: Client) -> None:
    filler = "Nothing else was of note on that day. " * 12
    lines = ("The orders database fails over to Lisbon.", "The mail relay listens on port 2525.")
    await write(client, filler.join(["", *lines, ""]))
    first = await ask(client, token_budget=60)
    assert lines[0] in first["context_block"]
    assert lines[1] not in first["context_block"]
    body = question(MISSION, text="Which port has the mail relay?", session_id="s", token_budget=60)
    second = (await client.post("/api/context/assemble", {**body, "delta": True})).body
    assert lines[1] in second["context_block"]
    third = (await client.post("/api/context/assemble", {**body, "delta": True})).body
    assert third["context_block"] == ""


async def test_a_long_memory_keeps_its_parts_apart(client: Client) -> None:
    text = " ".join(f"The orders database step {number} drains replica {number}." for number in range(400))
    answer = await client.post(COMMIT, lesson("scout", text))
    assert answer.status == 201, answer
    first = await ask(client, token_budget=600)
    assert first["sources"]
    second = await ask(client, token_budget=600)
    assert not _whole(first) & set(handles(second))
    assert corrected(second) == []


async def test_parallel_answers_share_what_is_new(client: Client) -> None:
    things = (
        "a backup in Rome",
        "eleven replicas",
        "slow disks",
        "an owner named Ann",
        "an alert at noon",
        "no cache",
    )
    ids = {f"cache:{await write(client, f'The orders database has {thing}.')}" for thing in things}
    answers = await asyncio.gather(*(ask(client) for _ in range(6)))
    given = [handle for answer in answers for handle in handles(answer)]
    assert len(given) == len(set(given))
    assert set(given) <= ids
    assert set(given) | set(handles(await ask(client))) == ids


async def test_changes_are_those_of_the_session_alone(tenant: Tenant, client: Client) -> None:
    number = await commit(client, "The orders database alerts page Ann.")
    await ask(client)
    assert (await client.delete(f"/api/agent-memory/{number}")).status in (200, 204)
    assert of_changes(await changes(client)) == [(f"own:{number}", "gone", None)]
    for other in ({"session": "t"}, {"caller": "heron"}):
        assert await changes(client, **other) == {"position": 0, "corrections": [], "degraded": []}
    assert (await changes(await tenant.client("write")))["corrections"] == []
    refused = await client.get("/api/context/changes", params={"session_id": "s"})
    assert (refused.status, refused.body["errors"][0]["field"]) == (400, "caller")
    bound = await tenant.client("read", agent="heron")
    asked = {"session_id": "s", "caller": "scout"}
    assert (await bound.get("/api/context/changes", params=asked)).status == 403


async def test_corrections_say_nothing_beyond_the_keys_bounds(tenant: Tenant, client: Client) -> None:
    mine = await tenant.client("write", agent="reader")
    shared = await commit(client, "The orders database alerts page Ann.")
    first = await ask(mine, caller="reader")
    assert handles(first) == [f"peer:{shared}"]
    secret = {"content": "The orders database alerts page nobody, says Eve.", "private": True}
    edited = await client.call("PATCH", f"/api/agent-memory/{shared}", secret)
    if edited.status != 200:
        edited = await client.delete(f"/api/agent-memory/{shared}")
    told = await ask(mine, caller="reader")
    assert corrected(told) == [(f"peer:{shared}", "gone", None)]
    assert "Eve" not in told["context_block"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"delta": True}, "session_id"),
        ({"delta": True, "session_id": "s", "as_of": "2026-01-01T00:00:00Z"}, "as_of"),
        ({"delta": False, "session_id": "s", "style": "factual"}, "style"),
        ({"delta": False, "session_id": "s", "since": 3}, "since"),
        ({"session_id": "s", "since": 3}, "since"),
        ({"delta": True, "session_id": "s", "since": -1}, "since"),
        ({"delta": "yes", "session_id": "s"}, "delta"),
    ],
)
async def test_what_makes_no_sense_is_refused(client: Client, body: dict[str, Any], field: str) -> None:
    answer = await client.post("/api/context/assemble", {"query": "What?", "caller": "agent", **body})
    assert answer.status == 400
    assert field in str(answer.body["errors"])
