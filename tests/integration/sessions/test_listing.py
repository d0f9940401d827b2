"""All objects of a session are listed, also those that its context no longer shows, and each is read at each level."""

from __future__ import annotations

from typing import Any

from shared.database.postgres import Connection
from tests.integration.sessions.calls import admitted, began, ok, pressure, summarized
from tests.integration.sessions.test_histories import objects, pages
from tests.support.cluster import Client


async def test_what_the_context_no_longer_shows_is_listed_too(client: Client) -> None:
    session = await began(client)
    ids = await objects(client, session, "the first text", "the second text", "the third text")
    await ok(client, "POST", f"{session}/objects/{ids[1]}/release", {"fidelity": 4})
    await ok(client, "POST", f"{session}/objects/{ids[2]}/pin", {"reason": "the rule"})
    listed = await pages(client, f"{session}/objects")
    assert [(each["id"], each["current_fidelity"], each["pinned"]) for each in listed] == [
        (ids[0], 0, False),
        (ids[1], 4, False),
        (ids[2], 0, True),
    ]


async def test_the_list_says_through_which_turn_an_object_is_pinned(client: Client) -> None:
    session = await began(client)
    first, second = await objects(client, session, "the first text", "the second text")
    await ok(client, "POST", f"{session}/objects/{first}/pin", {"turns": 2})
    await ok(client, "POST", f"{session}/objects/{second}/pin", {})
    listed = await pages(client, f"{session}/objects")
    through = (await ok(client, "GET", f"{session}/objects/{first}"))["data"]["pinned_until"]
    assert through is not None
    assert [(each["pinned"], each["pinned_until"]) for each in listed] == [(True, through), (True, None)]


async def test_levels_after_each_turn_follow_from_the_list_and_the_transitions(client: Client) -> None:
    """And add up to what the service counts."""
    session = await began(client)
    ids = await objects(client, session, "the first text", "the second text")
    await ok(client, "POST", f"{session}/turns", {"released": [ids[0]]})
    await admitted(client, session, "the third text", source_key="notes.md")
    await admitted(client, session, "the fourth text", source_key="notes.md")
    await ok(client, "POST", f"{session}/turns", {})
    listed = await pages(client, f"{session}/objects")
    levels = {each["id"]: 0 for each in listed}
    for move in await pages(client, f"{session}/transitions"):
        assert levels[move["object_id"]] == move["from_fidelity"]
        levels[move["object_id"]] = move["to_fidelity"]
    assert levels == {each["id"]: each["current_fidelity"] for each in listed}
    tokens = sum(_tokens(each, levels[each["id"]]) for each in listed)
    assert tokens == (await pressure(client, session))["total_context_tokens"]


def _tokens(each: dict[str, Any], level: int) -> int:
    return 0 if level == 4 else int(each[f"tokens_l{level}"] or each["tokens_l3"])


async def test_an_object_is_read_at_each_level_and_stays_as_it_is(client: Client, sql: Connection) -> None:
    session = await began(client)
    text = "Retries send no key.\n" + "\n".join(
        f"Case {number} fails at line {number}." for number in range(60)
    )
    kept = await admitted(client, session, text)
    await summarized(sql, session)
    path = f"{session}/objects/{kept['id']}"
    await ok(client, "POST", f"{path}/release", {"fidelity": 4})
    texts = [(await ok(client, "GET", f"{path}?fidelity={level}"))["data"]["content"] for level in range(4)]
    now = (await ok(client, "GET", path))["data"]
    assert texts[0] == text
    assert texts[3] == now["stub"]
    assert len(texts[0]) > len(texts[1]) >= len(texts[2]) >= len(texts[3])
    assert (now["current_fidelity"], now["content"], now["fault_count"]) == (4, None, 0)


async def test_a_fidelity_that_has_no_text_is_refused_by_name(client: Client) -> None:
    session = await began(client)
    (one,) = await objects(client, session, "a text")
    answer = await client.get(f"{session}/objects/{one}?fidelity=4")
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, "fidelity")
