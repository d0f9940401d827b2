"""Faults, changes of fidelity and admissions are listed in their order, and relationships can be stated."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from tests.integration.conftest import Tenant
from tests.integration.sessions.calls import admitted, began, ok
from tests.support.cluster import Client


async def pages(client: Client, path: str, limit: int = 2) -> list[Any]:
    """All items, page by page."""
    items: list[Any] = []
    cursor = ""
    while True:
        page = await ok(client, "GET", f"{path}{'&' if '?' in path else '?'}limit={limit}{cursor}")
        items += page["data"]
        if page["next"] is None:
            return items
        cursor = f"&cursor={page['next']}"


async def objects(client: Client, session: str, *texts: str) -> list[str]:
    return [(await admitted(client, session, text))["id"] for text in texts]


async def test_what_shrank_and_came_back_is_listed_in_order(client: Client) -> None:
    session = await began(client)
    ids = await objects(client, session, "the first text", "the second text", "the third text")
    for each in ids:
        await ok(client, "POST", f"{session}/objects/{each}/release", {})
        await ok(client, "POST", f"{session}/objects/{each}/fault", {"fault_type": "entropy_triggered"})
    moves = await pages(client, f"{session}/transitions")
    assert [(move["object_id"], move["from_fidelity"], move["to_fidelity"]) for move in moves] == [
        change for each in ids for change in ((each, 0, 3), (each, 3, 0))
    ]
    assert [move["trigger"] for move in moves] == ["cooperative", "fault"] * 3
    faults = await pages(client, f"{session}/faults")
    assert [fault["object_id"] for fault in faults] == ids
    assert {fault["fault_type"] for fault in faults} == {"entropy_triggered"}
    assert all("question" not in fault for fault in faults)
    (one,) = await pages(client, f"{session}/faults?object_id={ids[1]}")
    assert one == faults[1]


async def test_each_admission_is_listed_with_its_score(client: Client) -> None:
    session = await began(client)
    ids = await objects(client, session, "why it is so", "and what follows")
    found = await pages(client, f"{session}/admissions", 1)
    assert [each["object_id"] for each in found] == ids
    assert all(each["admitted"] and each["score_total"] >= each["threshold"] for each in found)
    assert found[0]["content_preview"] == "why it is so"


@pytest.mark.parametrize("kind", ["faults", "transitions", "admissions", "relationships", "objects"])
async def test_a_cursor_of_another_list_is_refused(client: Client, kind: str) -> None:
    session = await began(client)
    first, second, third = await objects(client, session, "one text", "another text", "a third one")
    for other in (second, third):
        edge = {"source_id": first, "target_id": other, "relationship": "references"}
        await ok(client, "POST", f"{session}/relationships", edge)
    lists = ["admissions", "relationships"]
    cursors = {name: (await ok(client, "GET", f"{session}/{name}?limit=1"))["next"] for name in lists}
    strange = cursors["admissions" if kind != "admissions" else "relationships"]
    answer = await client.get(f"{session}/{kind}?cursor={strange}")
    assert answer.status == 400
    assert "cursor" in answer.body["detail"]


async def test_a_relationship_is_stated_once(client: Client) -> None:
    session = await began(client)
    file, note = await objects(client, session, "def pay(): ...", "pay must be called once")
    edge = {"source_id": note, "target_id": file, "relationship": "depends_on"}
    first = await ok(client, "POST", f"{session}/relationships", {**edge, "metadata": {"by": "ana"}})
    again = await ok(client, "POST", f"{session}/relationships", {**edge, "metadata": {"by": "bo"}})
    assert (first["created"], again["created"]) == (True, False)
    assert first["data"]["id"] == again["data"]["id"]
    (listed,) = await pages(client, f"{session}/relationships")
    assert listed["metadata"] == {"by": "bo"}
    assert await pages(client, f"{session}/relationships?relationship=caused_by") == []
    assert len(await pages(client, f"{session}/relationships?object_id={file}")) == 1
    gone = await ok(client, "DELETE", f"{session}/relationships/{listed['id']}")
    assert gone == {"id": listed["id"]}
    assert (await client.call("DELETE", f"{session}/relationships/{listed['id']}")).status == 404
    assert await pages(client, f"{session}/relationships") == []


async def test_what_depends_on_an_object_brings_it_up(client: Client) -> None:
    session = await began(client)
    file, note = await objects(client, session, "def pay(): ...\n" * 20, "pay must be called once\n" * 20)
    edge = {"source_id": note, "target_id": file, "relationship": "depends_on"}
    await ok(client, "POST", f"{session}/relationships", edge)
    for each in (file, note):
        await ok(client, "POST", f"{session}/objects/{each}/release", {"fidelity": 4})
    back = await ok(client, "POST", f"{session}/objects/{note}/fault", {})
    assert back["related"] == [file]


@pytest.mark.parametrize("end", ["source_id", "target_id"])
async def test_both_ends_are_of_the_session(tenants: tuple[Tenant, Tenant], client: Client, end: str) -> None:
    session, elsewhere = await began(client), await began(client)
    first, second = await objects(client, session, "one text", "another text")
    (strange,) = await objects(client, elsewhere, "a text of another session")
    edge = {"source_id": first, "target_id": second, "relationship": "references"}
    for wrong in (strange, str(uuid4()), first if end == "target_id" else second):
        answer = await client.call("POST", f"{session}/relationships", {**edge, end: wrong})
        assert answer.status in (400, 422), answer
        assert "_id" in answer.body["detail"]
