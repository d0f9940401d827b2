"""The end of a turn takes in what the next one begins with."""

from __future__ import annotations

from typing import Any

from tests.integration.sessions.calls import began, ok, pressure
from tests.support.cluster import Client

PLAN = {"content": "Send every retry with an idempotency key.", "object_type": "plan", "source_key": "plan"}


def log(name: str, lines: int = 60) -> dict[str, Any]:
    text = "\n".join(f"{name} step {n} took {n * 7} ms and wrote {n * 13} rows" for n in range(lines))
    return {"content": text, "object_type": "tool_result"}


async def test_one_call_does_what_three_do(client: Client) -> None:
    one, three = await began(client), await began(client)
    first = await ok(client, "POST", f"{one}/turns", {"admit": [PLAN, log("build")], "context": True})
    await ok(client, "POST", f"{three}/turns", {})
    for body in (PLAN, log("build")):
        await ok(client, "POST", f"{three}/objects", body)
    context = await ok(client, "GET", f"{three}/context")
    assert [each["objects"][0]["status"] for each in first["admitted"]] == ["created", "created"]
    assert [each["tokens"] for each in first["context"]["objects"]] == [
        each["tokens"] for each in context["objects"]
    ]
    assert first["context"] == await ok(client, "GET", f"{one}/context")
    assert first["pressure"] == await pressure(client, one) == await pressure(client, three)
    assert first["turn"] == 1


async def test_contents_of_one_call_know_each_other(client: Client) -> None:
    session = await began(client)
    newer = PLAN | {"content": "Send no retry at all."}
    ended = await ok(
        client, "POST", f"{session}/turns", {"admit": [PLAN, log("build"), newer, newer, log("build")]}
    )
    plan, build, version, again, copy = (each["objects"][0] for each in ended["admitted"])
    assert (version["status"], version["supersedes"]) == ("superseding", plan["id"])
    assert (again["status"], again["id"]) == ("touched", version["id"])
    assert (copy["status"], copy["like"]) == ("rejected", build["id"])
    assert ended["pressure"] == await pressure(client, session)
    assert "context" not in ended or ended["context"] is None


async def test_what_comes_in_stands_whole_behind_the_batch_of_the_turn_before(client: Client) -> None:
    session = await began(client, config={"token_budget": 4_000})
    ended: Any = {"batch": False}
    turns = 0
    while not ended["batch"] and turns < 10:
        turns += 1
        ended = await ok(
            client, "POST", f"{session}/turns", {"admit": [log(f"step{turns}")], "context": True}
        )
    assert ended["batch"]
    assert ended["context"]["objects"][-1]["fidelity"] == 0
    assert log(f"step{turns}")["content"] in ended["context"]["context_block"]
    assert ended["pressure"]["turn"] == turns


async def test_a_replay_takes_nothing_in_twice(client: Client) -> None:
    session = await began(client)
    answers = [
        await client.post(
            f"{session}/turns",
            {"admit": [log("build")], "context": True},
            headers={"Idempotency-Key": "turn-1"},
        )
        for _ in range(2)
    ]
    assert [answer.status for answer in answers] == [200, 200]
    assert answers[0].body == answers[1].body
    assert answers[0].body["pressure"]["objects_at_l0"] == 1


async def test_a_refusal_names_the_content(client: Client) -> None:
    session = await began(client)
    answer = await client.post(f"{session}/turns", {"admit": [PLAN, {**PLAN, "content": ""}]})
    assert answer.status == 400
    assert [error["field"] for error in answer.body["errors"]] == ["admit[1].content"]
    assert (await pressure(client, session))["turn"] == 0
