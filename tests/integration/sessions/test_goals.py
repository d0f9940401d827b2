"""A goal brings up what the session holds about it, behind everything that was sent."""

from __future__ import annotations

from typing import Any

from tests.integration.sessions.calls import admitted, began, ok, pressure, shown
from tests.support.cluster import Client

GOAL = "Give refunds in the ledger an idempotency key"
ABOUT = "Refunds in the ledger lack an idempotency key.\n" * 12
OTHER = "The parser of timestamps reads offsets.\n" * 12


async def held(client: Client, session: str, **texts: str) -> dict[str, str]:
    return {
        name: (await admitted(client, session, text, object_type="tool_result", source_key=name))["id"]
        for name, text in texts.items()
    }


async def released(client: Client, session: str, *ids: str, fidelity: int = 3) -> None:
    for each in ids:
        await ok(client, "POST", f"{session}/objects/{each}/release", {"fidelity": fidelity})


async def aim(client: Client, session: str, goal: str | None = GOAL) -> Any:
    return await ok(client, "POST", f"{session}/goal", {"goal": goal})


async def test_what_is_about_the_goal_comes_up_at_the_end(client: Client) -> None:
    session = await began(client)
    ids = await held(client, session, about=ABOUT, other=OTHER)
    await released(client, session, *ids.values(), fidelity=4)
    before = await shown(client, session)
    assert await aim(client, session) == {"goal": GOAL, "raised": [ids["about"]], "kept": []}
    after = await shown(client, session)
    assert after["context_block"].startswith(before["context_block"])
    assert ABOUT.strip() in after["context_block"]
    moves = (await ok(client, "GET", f"{session}/transitions?object_id={ids['about']}"))["data"]
    assert [(move["trigger"], move["to_fidelity"]) for move in moves][-1] == ("goal_change", 0)
    assert (await ok(client, "GET", session))["data"]["goal"] == GOAL


async def test_what_is_whole_is_kept(client: Client) -> None:
    session = await began(client)
    ids = await held(client, session, about=ABOUT, other=OTHER)
    before = await shown(client, session)
    assert await aim(client, session) == {"goal": GOAL, "raised": [], "kept": [ids["about"]]}
    assert (await shown(client, session))["context_block"] == before["context_block"]
    assert (await ok(client, "GET", f"{session}/objects/{ids['about']}"))["data"]["access_count"] == 1


async def test_no_more_comes_up_than_there_is_room_for(client: Client) -> None:
    session = await began(client, config={"token_budget": 2_000})
    names = {f"note {number}": f"Note {number}. {ABOUT}" for number in range(14)}
    for name, text in names.items():
        ids = await held(client, session, **{name: text})
        await released(client, session, *ids.values())
    assert (await ok(client, "POST", f"{session}/turns", {}))["batch"]
    found = await aim(client, session)
    assert 0 < len(found["raised"]) < 14
    now = await pressure(client, session)
    assert now["block_tokens"] <= 0.94 * 2_000


async def test_a_goal_ends(client: Client) -> None:
    session = await began(client)
    await held(client, session, about=ABOUT)
    await aim(client, session)
    assert await aim(client, session, None) == {"goal": None, "raised": [], "kept": []}
    assert (await ok(client, "GET", session))["data"]["goal"] is None


async def test_a_closed_session_has_no_new_goal(client: Client) -> None:
    session = await began(client)
    await ok(client, "POST", f"{session}/complete", {})
    assert (await client.call("POST", f"{session}/goal", {"goal": GOAL})).status == 409
