"""Paging over HTTP: files become parts, which shrink in batches and come back byte for byte."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from shared.database.postgres import Connection
from tests.integration.sessions.calls import began, ok, pressure, shown, summarized
from tests.support.cluster import Client

BUDGET = 4_000


def module(name: str, functions: int = 4) -> str:
    """Functions of some 250 tokens each."""
    return "".join(
        f'def {name}_{number}(event):\n    """Does step {number} of {name}."""\n'
        + "".join(f"    total_{line} = event.amount * {line} + {number}\n" for line in range(24))
        + f"    return total_{number}\n\n\n"
        for number in range(functions)
    )


async def read(client: Client, session: str, name: str) -> list[Any]:
    body = {"content": module(name), "object_type": "file_context", "source_key": f"src/{name}.py"}
    answer = await ok(client, "POST", f"{session}/objects", body)
    objects: list[Any] = answer["objects"]
    return objects


async def end_turn(client: Client, session: str) -> Any:
    return await ok(client, "POST", f"{session}/turns", {})


async def test_a_file_becomes_its_functions_and_is_all_there(client: Client, sql: Connection) -> None:
    session = await began(client)
    parts = await read(client, session, "ledger")
    assert len(parts) == 4
    await summarized(sql, session)
    found = [(await ok(client, "GET", f"{session}/objects/{part['id']}"))["data"] for part in parts]
    assert "".join(each["content"] for each in found) == module("ledger")
    assert [each["key_entities"][0] for each in found] == [f"ledger_{number}" for number in range(4)]
    assert [each["start_line"] for each in found] == [1, 30, 59, 88]
    # Batches decide by them where objects are worth the same.
    assert [part["id"] for part in parts] == sorted(part["id"] for part in parts)
    assert all(each["tokens_l3"] < each["tokens_l1"] < each["tokens_l0"] for each in found)
    scores = await sql.fetch(
        "select admitted, score_total from sessions.admission_scores where object_id = any($1)",
        [part["id"] for part in parts],
    )
    assert [score["admitted"] for score in scores] == [True] * 4


async def test_what_is_not_looked_at_shrinks_and_comes_back_whole(client: Client, sql: Connection) -> None:
    session = await began(client, config={"token_budget": BUDGET})
    files = {name: await read(client, session, name) for name in ("first",)}
    batches = []
    for name in ("second", "third", "fourth", "fifth", "sixth"):
        batches.append((await end_turn(client, session))["batch"])
        files[name] = await read(client, session, name)
        await summarized(sql, session)
    ended = await end_turn(client, session)
    assert ended["batch"] or any(batches)
    assert batches[0] is False
    found = await pressure(client, session)
    assert found["block_tokens"] <= BUDGET * 0.94
    assert found["objects_at_l1"] > 0
    small = next(each for each in (await shown(client, session))["objects"] if each["fidelity"] == 1)
    name, part = next(
        (name, part) for name, parts in files.items() for part in parts if part["id"] == small["id"]
    )
    older = (await ok(client, "GET", f"{session}/objects/{part['id']}"))["data"]
    assert older["current_fidelity"] == 1
    assert older["content"] not in module(name)
    back = await ok(client, "POST", f"{session}/objects/{part['id']}/fault", {})
    assert back["data"]["content"] in module(name)
    assert back["data"]["tokens_l0"] == part["tokens"]
    moves = await sql.fetch(
        "select from_fidelity, to_fidelity, trigger from sessions.fidelity_transitions"
        " where object_id = $1 order by number",
        part["id"],
    )
    assert moves[0]["trigger"] == "pressure"
    assert all(before["to_fidelity"] == after["from_fidelity"] for before, after in pairwise(moves))


async def test_a_batch_keeps_the_beginning_of_the_block(client: Client, sql: Connection) -> None:
    """Before it, the block only grows. After it, a whole object or more stands where it stood, byte for byte."""
    session = await began(client, config={"token_budget": BUDGET})
    before, kept = "", []
    for number in range(16):
        await read(client, session, f"file_{number}")
        await summarized(sql, session)
        block = (await shown(client, session))["context_block"]
        assert block.startswith(before)
        batch = (await end_turn(client, session))["batch"]
        after = (await shown(client, session))["context_block"]
        if batch:
            same = next(n for n in range(len(after)) if not block.startswith(after[: n + 1]))
            kept.append(same / len(after))
        before = after if batch else block
        assert batch or after == block
    assert len(kept) > 2
    assert max(kept) > 0.2


async def test_a_pinned_part_stays_whole_below_an_emergency(client: Client) -> None:
    session = await began(client, config={"token_budget": BUDGET})
    first = await read(client, session, "first")
    await ok(client, "POST", f"{session}/objects/{first[0]['id']}/pin", {})
    for name in ("second", "third"):
        await read(client, session, name)
        for _ in range(4):
            await end_turn(client, session)
    levels = {each["id"]: each["fidelity"] for each in (await shown(client, session))["objects"]}
    assert levels[first[0]["id"]] == 0


async def test_a_file_that_is_read_again_costs_nothing(client: Client) -> None:
    session = await began(client)
    await read(client, session, "ledger")
    before = await pressure(client, session)
    assert {part["status"] for part in await read(client, session, "ledger")} == {"touched"}
    assert (await pressure(client, session))["block_tokens"] == before["block_tokens"]
