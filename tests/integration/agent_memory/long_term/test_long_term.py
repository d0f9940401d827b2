"""Documents, episodes and commitments: what is written is found, read, changed and deleted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.calls import until
from tests.support.cluster import Client

MEMORY = "/api/memory"
ASSEMBLE = "/api/context/assemble"


def preference(text: str = "Ana wants numbers first, then reasons.", **more: Any) -> dict[str, Any]:
    return {"kind": "preference", "content": text, "user_id": "ana"} | more


def promise(text: str = "Send Ana the invoice of March.", **more: Any) -> dict[str, Any]:
    due = datetime.now(UTC) + timedelta(days=2)
    return {"kind": "commitment", "content": text, "scope": "shared", "due_at": due.isoformat()} | more


async def write(client: Client, body: dict[str, Any]) -> int:
    answer = await client.post(MEMORY, body)
    assert answer.status == 201, answer
    return int(answer.body["id"])


async def block(client: Client, query: str, **more: Any) -> list[dict[str, Any]]:
    answer = await client.post(ASSEMBLE, {"query": query, "caller": "scout"} | more)
    assert answer.status == 200, answer
    assert answer.body["degraded"] == [], answer
    return [source for source in answer.body["sources"] if source["store"] == "memory"]


async def test_a_preference_is_found_for_its_user_in_every_mission(client: Client) -> None:
    memory_id = await write(client, preference())
    for mission in ("moria", "lorien", None):
        found = await block(client, "Does Ana want numbers?", user_id="ana", mission_namespace=mission)
        assert [source["handle"] for source in found] == [f"memory:{memory_id}"]
    assert await block(client, "Does Ana want numbers?", user_id="ben") == []
    assert await block(client, "Does Ana want numbers?") == []


async def test_what_is_shared_or_of_a_project_is_found_in_its_scope(client: Client) -> None:
    text = "The ledger answers 409 to a webhook that was applied."
    for scope in ("shared", "project:payments", "mission:moria", "agent:scout", "agent:wren"):
        await write(client, {"kind": "knowledge", "content": f"{text} ({scope})", "scope": scope})

    async def scopes(**more: Any) -> set[str]:
        body = {"query": "What does the ledger answer to a webhook?", "agent_name": "scout"} | more
        answer = await client.post(f"{MEMORY}/search", body)
        assert answer.status == 200, answer
        return {memory["scope"] for memory in answer.body["memories"]}

    assert await scopes() == {"shared", "agent:scout"}
    assert await scopes(scopes=["project:payments"]) == {"shared", "agent:scout", "project:payments"}
    assert await scopes(scopes=["mission:moria"]) == {"shared", "agent:scout", "mission:moria"}


async def test_what_is_written_is_read_changed_and_deleted(client: Client) -> None:
    episode = {
        "kind": "episode",
        "content": "We rolled back the deploy, and payments recovered.",
        "scope": "project:payments",
        "occurred_at": "2026-03-02T09:00:00Z",
        "ended_at": "2026-03-02T11:00:00Z",
        "topics": ["rollback"],
        "tone": "relieved",
        "agent_name": "scout",
    }
    memory_id = await write(client, episode)
    read = (await client.get(f"{MEMORY}/{memory_id}")).body
    assert episode.items() <= read.items()
    edited = await client.call(
        "PATCH", f"{MEMORY}/{memory_id}", {"content": "We rolled forward.", "tone": "tired"}
    )
    assert (edited.body["content"], edited.body["tone"]) == ("We rolled forward.", "tired")
    assert (await client.delete(f"{MEMORY}/{memory_id}")).body == {"deleted": memory_id}
    assert (await client.get(f"{MEMORY}/{memory_id}")).status == 404


async def test_an_edited_memory_is_found_by_its_new_words_only(client: Client) -> None:
    memory_id = await write(
        client, {"kind": "knowledge", "content": "The ferry leaves at seven.", "scope": "shared"}
    )
    await client.call("PATCH", f"{MEMORY}/{memory_id}", {"content": "The tram stops at noon."})

    async def found(query: str) -> list[int]:
        answer = await client.post(f"{MEMORY}/search", {"query": query})
        return [memory["id"] for memory in answer.body["memories"]]

    assert await found("When does the tram stop?") == [memory_id]

    async def embedded_anew() -> None:
        assert await found("When does the ferry leave?") == []

    await until(embedded_anew)


async def test_a_repeat_is_known_and_changes_nothing(client: Client) -> None:
    first = (await client.post(MEMORY, preference())).body
    again = (await client.post(MEMORY, preference("ana wants numbers first then reasons"))).body
    assert (first["status"], again["status"]) == ("created", "known")
    assert again["id"] == first["id"]
    same = promise()
    batch = await client.post(f"{MEMORY}/batch", {"memories": [preference(), same, same]})
    assert batch.body["results"][0]["status"] == "known"
    assert len({result["id"] for result in batch.body["results"]}) == 2


async def test_a_list_has_pages_by_kind_scope_and_user(client: Client) -> None:
    ids = [await write(client, preference(f"Ana likes tea number {number}.")) for number in range(5)]
    await write(client, promise())
    seen: list[int] = []
    cursor: str | None = ""
    while cursor is not None:
        params = {"kind": "preference", "in_scope": "user:ana", "limit": "2"} | (
            {"cursor": cursor} if cursor else {}
        )
        page = (await client.get(MEMORY, params=params)).body
        seen += [memory["id"] for memory in page["data"]]
        cursor = page["next"]
    assert seen == ids[::-1]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"kind": "preference", "due_at": "2030-01-01T00:00:00Z"}, "due_at"),
        ({"kind": "knowledge", "tone": "calm"}, "tone"),
        ({"kind": "rumour"}, "kind"),
        ({"scope": "team:blue"}, "scope"),
        ({"scope": "user:ben"}, "user_id"),
        ({"scope": "mission:all"}, "scope"),
        ({"user_id": None}, "scope"),
        ({"occurred_at": "2999-01-01T00:00:00Z"}, "occurred_at"),
    ],
)
async def test_a_wrong_field_is_named(client: Client, changes: dict[str, Any], field: str) -> None:
    answer = await client.post(MEMORY, preference() | changes)
    assert answer.status == 400, answer
    assert field in [error["field"] for error in answer.body["errors"]]


async def test_a_newer_memory_takes_the_place_of_the_one_it_supersedes(client: Client) -> None:
    older = await write(client, preference("Ana drinks coffee in the morning."))
    newer = await write(client, preference("Ana drinks tea in the morning.", supersedes=older))
    found = await block(client, "What does Ana drink in the morning?", user_id="ana")
    assert f"memory:{newer}" in [source["handle"] for source in found]
    assert (await client.get(f"{MEMORY}/{older}")).body["superseded_by"] == newer
    body = preference("Ana drinks milk.", supersedes=older, source_kind="tool")
    assert (await client.post(MEMORY, body)).status == 400


async def test_what_supersedes_holds_again(client: Client) -> None:
    coffee, tea = (preference(f"Ana drinks {what} in the morning.") for what in ("coffee", "tea"))
    older = await write(client, coffee)
    newer = await write(client, tea | {"supersedes": older})
    assert await write(client, coffee | {"supersedes": newer}) == older
    marks = [(await client.get(f"{MEMORY}/{id_}")).body.get("superseded_by") for id_ in (older, newer)]
    assert marks == [None, older]


async def test_a_write_with_a_key_happens_once(client: Client) -> None:
    headers = {"Idempotency-Key": "once"}
    first = await client.post(MEMORY, preference(), headers=headers)
    again = await client.post(MEMORY, preference(), headers=headers)
    assert first.body == again.body
    assert first.body["status"] == "created"


async def test_what_is_imported_is_one_memory_of_its_origin_whatever_became_of_it(client: Client) -> None:
    imported = preference(origin="mem0:7", source_kind="imported", occurred_at="2025-11-03T10:00:00Z")
    memory_id = await write(client, imported)
    read = (await client.get(f"{MEMORY}/{memory_id}")).body
    assert {name: read[name] for name in ("origin", "source_kind", "occurred_at")} == {
        name: imported[name] for name in ("origin", "source_kind", "occurred_at")
    }
    edited = await client.call(
        "PATCH", f"{MEMORY}/{memory_id}", {"content": "Ana wants a table.", "source_kind": "user"}
    )
    assert edited.body["origin"] == "mem0:7"
    again = await client.post(MEMORY, imported)
    assert again.body | {"id": memory_id, "status": "known"} == again.body
    assert (await client.get(f"{MEMORY}/{memory_id}")).body == edited.body


async def test_memories_of_two_origins_are_kept_though_they_say_the_same(client: Client) -> None:
    ids = [await write(client, preference(origin=f"mem0:{place}")) for place in (1, 2)]
    assert len({*ids, await write(client, preference())}) == 3
