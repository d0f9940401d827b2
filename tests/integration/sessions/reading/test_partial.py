"""Parts of files over HTTP: lines of a known object bring it back, others are new, and nothing else changes."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from shared.database.postgres import Connection
from shared.render import parse_block
from tests.integration.sessions.calls import began, ok, shown
from tests.integration.sessions.test_paging import module
from tests.support.cluster import Client

PATH = "src/ledger.py"


def numbered(text: str) -> list[str]:
    return [f"{number:6}→{line}\n" for number, line in enumerate(text.splitlines(), 1)]


async def read(client: Client, session: str, lines: list[str], **more: Any) -> Any:
    body = {"content": "".join(lines), "object_type": "file_context", "source_key": PATH, **more}
    return await ok(client, "POST", f"{session}/objects", body)


async def levels(client: Client, session: str) -> dict[str, int]:
    return {each["id"]: each["current_fidelity"] for each in (await shown(client, session))["objects"]}


@pytest.mark.parametrize("more", [{}, {"partial": True}])
async def test_a_part_brings_back_what_holds_it_and_leaves_the_rest(client: Client, more: Any) -> None:
    session = await began(client)
    lines = numbered(module("ledger"))
    ids = [each["id"] for each in (await read(client, session, lines))["objects"]]
    await ok(client, "POST", f"{session}/turns", {"released": ids})
    answer = await read(client, session, lines[35:40], **more)
    assert [(each["status"], each["id"]) for each in answer["objects"]] == [("touched", ids[1])]
    assert answer["stale"] == []
    assert await levels(client, session) == {ids[0]: 3, ids[1]: 0, ids[2]: 3, ids[3]: 3}
    texts = [text for _, text in parse_block((await shown(client, session))["context_block"])]
    assert texts[-1] == "".join(lines[29:58])


async def test_how_it_came_back_is_recorded(client: Client, sql: Connection) -> None:
    session = await began(client)
    lines = numbered(module("ledger"))
    made = (await read(client, session, lines))["objects"]
    await ok(client, "POST", f"{session}/turns", {"released": [made[0]["id"]]})
    await read(client, session, lines[:3])
    moves = await sql.fetch(
        "select from_fidelity, to_fidelity, trigger from sessions.fidelity_transitions"
        " where object_id = $1 order by number",
        made[0]["id"],
    )
    assert [tuple(move) for move in moves] == [(0, 3, "cooperative"), (3, 0, "access")]


async def test_lines_beyond_what_is_known_become_objects_of_their_own(client: Client) -> None:
    session = await began(client)
    lines = numbered(module("ledger"))
    (first,) = (await read(client, session, lines[:20], partial=True))["objects"]
    answer = await read(client, session, lines[15:29], partial=True)
    assert [each["status"] for each in answer["objects"]] == ["touched", "created"]
    assert answer["objects"][0]["id"] == first["id"]
    made = (await ok(client, "GET", f"{session}/objects/{answer['objects'][1]['id']}"))["data"]
    assert made["content"] == "".join(lines[20:29])
    (whole,) = {each["status"] for each in (await read(client, session, lines[:29]))["objects"]}
    assert whole == "touched"


async def test_an_edited_line_replaces_the_part_that_had_its_number(client: Client) -> None:
    session = await began(client)
    lines = numbered(module("ledger"))
    ids = [each["id"] for each in (await read(client, session, lines))["objects"]]
    edited = [line.replace("total", "sum") for line in lines[31:35]]
    answer = await read(client, session, edited, partial=True)
    (new,) = answer["objects"]
    assert (new["status"], new["supersedes"]) == ("superseding", ids[1])
    assert await levels(client, session) == {ids[0]: 0, ids[1]: 3, ids[2]: 0, ids[3]: 0, new["id"]: 0}


async def test_a_whole_version_says_so_where_it_could_be_a_part(client: Client) -> None:
    session = await began(client)
    lines = numbered(module("ledger"))
    ids = [each["id"] for each in (await read(client, session, lines))["objects"]]
    answer = await read(client, session, lines[:58], partial=False)
    assert [each["id"] for each in answer["objects"]] == ids[:2]
    assert answer["stale"] == ids[2:]


async def test_random_parts_and_edits_leave_what_was_read_in_the_context(client: Client) -> None:
    chance = random.Random(7)
    session = await began(client, config={"token_budget": 1_000_000})
    text = module("ledger", 8).splitlines()
    for _ in range(25):
        start = chance.randrange(len(text))
        if chance.random() < 0.4:
            text[start] = f"    edited = {chance.random()}"
        part = numbered("\n".join(text))[start : start + chance.randint(1, 60)]
        if chance.random() < 0.3:
            released = [*await levels(client, session)][:3]
            await ok(client, "POST", f"{session}/turns", {"released": released})
        answer = await read(client, session, part, partial=True)
        block = parse_block((await shown(client, session))["context_block"])
        shown_lines = {line for _, body in block for line in body.split("\n")}
        assert {line.removesuffix("\n") for line in part} <= shown_lines
        current = await levels(client, session)
        assert {current[each["id"]] for each in answer["objects"]} == {0}


async def test_parts_that_come_at_once_are_taken_once(client: Client) -> None:
    session = await began(client)
    lines = numbered(module("ledger"))
    await asyncio.gather(*(read(client, session, lines[:29], partial=True) for _ in range(6)))
    assert len((await shown(client, session))["objects"]) == 1
