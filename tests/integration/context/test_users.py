"""What is remembered of a user: who sees it, which facts are one, and that a block for one tells of no other."""

from __future__ import annotations

import asyncio
import json
from typing import Any, NamedTuple

import pytest

from shared.database.postgres import Connection
from tests.integration.agent_memory.test_memories import export, restore
from tests.integration.conftest import Tenant
from tests.support.calls import lesson, note, until
from tests.support.cluster import Answer, Client
from tests.unit.cache.test_entries import COMMON, ENTRIES

WRITE = "/api/psychic-cache/write"
COMMIT = "/api/agent-memory/commit"
REMEMBER = "/api/context/remember"
ASSEMBLE = "/api/context/assemble"
LONG_AGO = '{"scout": "2020-01-01T00:00:00Z"}'
WHO = ("alice", "bob", None)


async def post(client: Client, path: str, body: Any) -> Any:
    answer = await client.post(path, body)
    assert answer.status < 300, answer
    return answer.body


def about(user: str | None) -> dict[str, str]:
    return {} if user is None else {"user_id": user}


def fact(user: str | None) -> str:
    return f"the ferry of {user or 'nobody'} leaves at seven"


class Told(NamedTuple):
    anyone: Client
    alices: Client
    entries: dict[str | None, int]
    memories: dict[str | None, int]


@pytest.fixture
async def told(tenant: Tenant) -> Told:
    """The same of alice, of bob and of nobody, in a mission and outside; beside a key for all, one for alice."""
    anyone, alices = await tenant.client("admin"), await tenant.client("admin", users=["alice"])
    entries, memories = {}, {}
    for user in WHO:
        body = note("pier", fact(user), tags=["ferry"], **about(user))
        entries[user] = (await post(anyone, f"{WRITE}?wait=indexed", body))["data"]["id"]
        memories[user] = (await post(anyone, COMMIT, lesson("scout", fact(user), **about(user))))["memory_id"]
        checkpoint = {"context_type": "thread_checkpoint", **COMMON, **ENTRIES["thread_checkpoint"]}
        checkpoint |= {"mission_id": "pier", "session_id": f"s-{user}", "content": fact(user)}
        await post(anyone, WRITE, checkpoint | {"user_id": user})
    return Told(anyone, alices, entries, memories)


async def readings(client: Client) -> dict[str, str]:
    """What each way to read tells."""
    found = {}
    for path in (
        "/api/psychic-cache/pier/entries",
        "/api/psychic-cache/all/entries",
        "/api/agent-memory/export?agent_name=scout",
        "/api/agent-memory/export",
    ):
        async with client.session.get(path) as response:
            assert response.status == 200, path
            found[path] = await response.text()
    question = {"query": "when does the ferry leave?"}
    for path, body in (
        ("/api/psychic-cache/query", {"mission_id": "pier"} | question),
        ("/api/psychic-cache/query", {"mission_id": "*", "tags": ["ferry"]} | question),
        ("/api/agent-memory/list", {"agent_name": "scout"}),
        ("/api/agent-memory/query", {"agent_name": "scout"} | question),
        ("/api/agent-memory/query", {"agent_name": "scout", "memory_type": "lesson_learned"} | question),
        ("/api/agent-memory/peer-query", {"target_agent": "scout"} | question),
        (ASSEMBLE, {"caller": "scout", "mission_namespace": "pier", "debug": True} | question),
        (ASSEMBLE, {"caller": "medic"} | question),
    ):
        found[f"{path} {body}"] = json.dumps(await post(client, path, body))
    return found


async def test_a_key_of_a_user_sees_nothing_of_others(told: Told) -> None:
    for way, text in (await readings(told.alices)).items():
        assert fact("bob") not in text, way
        assert fact("alice") in text, way
        assert fact(None) in text, way
    for way, text in (await readings(told.anyone)).items():
        assert all(fact(user) in text for user in WHO), way
    since = f"/api/agent-memory/pending-review?since={LONG_AGO}"
    assert (await told.alices.get(since)).body["counts"] == {"scout": 2}
    assert (await told.anyone.get(since)).body["counts"] == {"scout": 3}


async def test_rows_name_their_user(told: Told) -> None:
    listed = (await told.anyone.get("/api/psychic-cache/pier/entries")).body["data"]
    memories = (await post(told.anyone, "/api/agent-memory/list", {"agent_name": "scout"}))["data"]
    found = (await post(told.anyone, "/api/psychic-cache/query", {"mission_id": "pier", "query": "ferry"}))[
        "data"
    ]["entries"]
    for rows in (listed, memories, found):
        assert {row["content"]: row.get("user_id") for row in rows} == {fact(user): user for user in WHO}
    lines = [json.loads(line) for line in (await export(told.anyone)).splitlines()]
    assert {line["content"]: line.get("user_id") for line in lines} == {fact(user): user for user in WHO}


@pytest.mark.parametrize(("user", "status"), [("alice", 200), ("bob", 404), (None, 200)])
async def test_what_is_of_another_user_is_not_there_by_id(told: Told, user: str | None, status: int) -> None:
    entry = f"/api/psychic-cache/all/entries/{told.entries[user]}"
    memory = f"/api/agent-memory/{told.memories[user]}"
    calls = [
        ("GET", f"/api/psychic-cache/checkpoint/s-{user}", None),
        ("GET", f"/api/context/sources/cache:{told.entries[user]}", None),
        ("GET", f"/api/context/sources/own:{told.memories[user]}", None),
        ("GET", entry, None),
        ("PATCH", entry, {"tags": ["boat"]}),
        ("DELETE", entry, None),
        ("GET", memory, None),
        ("PATCH", memory, {"content": "it leaves at eight"}),
        ("DELETE", memory, None),
    ]
    for method, path, body in calls:
        assert (await told.alices.call(method, path, body)).status == status, (method, path)


async def test_a_key_of_a_user_writes_of_no_other(told: Told) -> None:
    async def writes(user: str | None) -> list[Answer]:
        calls = {
            WRITE: note("pier", "new", **about(user)),
            COMMIT: lesson("medic", "new", **about(user)),
            "/api/agent-memory/batch": {"memories": [lesson("medic", "newer", **about(user))]},
            REMEMBER: {"caller": "medic", "text": "the newest", **about(user)},
        }
        return [await told.alices.post(path, body) for path, body in calls.items()]

    for user in ("alice", None):
        for answer in await writes(user):
            assert answer.status < 300, answer
    for answer in await writes("bob"):
        assert answer.status == 403, answer
    batch = await post(told.alices, f"{WRITE}/batch", {"entries": [note("pier", "x", user_id="bob")]})
    assert [item["status"] for item in batch["data"]["entries"]] == [403]
    assert (await restore(told.alices, await export(told.anyone))).status == 403


async def test_a_key_of_a_user_erases_nothing_of_others(told: Told) -> None:
    for body in ({"scope": "mission:pier"}, {"agent_name": "scout"}, {"user_id": "bob"}, {"scope": "shared"}):
        assert (await told.alices.post("/api/context/purge", body)).status == 403
    assert (await told.alices.post("/api/agent-memory/forget", {"agent_name": "scout"})).status == 403
    receipt = await post(told.alices, "/api/context/purge", {"user_id": "alice"})
    assert receipt["erased"]["agent_memory"]["agent_memory"] == 1
    assert receipt["erased"]["cache"]["psychic_cache"] == 2


async def test_a_block_for_a_user_tells_of_no_other(told: Told) -> None:
    question = {"query": "when does the ferry leave?", "mission_namespace": "pier", "debug": True}
    for caller in ("scout", "medic"):
        for user, seen in (("alice", {"alice", None}), ("bob", {"bob", None}), (None, set(WHO))):
            made = await post(told.anyone, ASSEMBLE, {"caller": caller, **question, **about(user)})
            text = made["context_block"]
            assert {one for one in WHO if fact(one) in text} == seen, (caller, user)
            assert len(made["candidates"]) >= 2 * len(seen)


async def test_many_others_leave_room_for_one(tenant: Tenant) -> None:
    """Of more facts about others than a search has candidates, and all of them nearer, none takes a place."""
    anyone = await tenant.client("admin")
    crowd = [lesson("scout", f"berth {n} is where the ferry waits", user_id=f"u{n}") for n in range(70)]
    await post(anyone, "/api/agent-memory/batch", {"memories": crowd})
    body = {"entries": [note("pier", one["content"], user_id=one["user_id"]) for one in crowd]}
    await post(anyone, f"{WRITE}/batch", body)
    hers = "her ferry waits beside the fish market"
    await post(anyone, COMMIT, lesson("scout", hers, user_id="alice"))
    await post(anyone, f"{WRITE}?wait=indexed", note("pier", hers, user_id="alice"))
    question = {"query": "which berth is where the ferry waits?", "mission_namespace": "pier", "debug": True}
    for caller, store in (("scout", "agent_memory_own"), ("medic", "agent_memory_peer")):
        made = await post(anyone, ASSEMBLE, {"caller": caller, "user_id": "alice", **question})
        assert sorted(one["store"] for one in made["candidates"]) == sorted(["psychic_cache", store])
        assert hers in made["context_block"]
        for_all = await post(anyone, ASSEMBLE, {"caller": caller, **question})
        assert hers not in for_all["context_block"]


async def test_an_assembly_with_something_of_a_user_is_read_by_who_may_see_it(told: Told) -> None:
    question = {"query": "when does the ferry leave?", "caller": "scout"}
    ids = {
        user: (await post(told.anyone, ASSEMBLE, {**question, **about(user)}))["assembly_id"] for user in WHO
    }

    async def logged() -> None:
        data = (await told.anyone.get("/api/context/log")).body["data"]
        assert {one["id"] for one in data} == set(ids.values())

    await until(logged)
    for user, status in (("alice", 200), ("bob", 404), (None, 404)):
        assert (await told.alices.get(f"/api/context/log/{ids[user]}")).status == status, user


# --- which facts are one -----------------------------------------------------------------------------------


async def test_a_fact_is_of_its_user(client: Client, tenant: Tenant, sql: Connection) -> None:
    words = "lumps of brown sugar are what goes into the tea"
    first = {user: await post(client, COMMIT, lesson("scout", words, **about(user))) for user in WHO}
    assert {one["status"] for one in first.values()} == {"created"}
    assert len({one["memory_id"] for one in first.values()}) == 3
    for user in WHO:
        for repeat in (f"{words.capitalize()}.", words.replace("lumps", "lump")):
            again = await post(client, COMMIT, lesson("scout", repeat, **about(user)))
            assert (again["memory_id"], again["status"]) == (first[user]["memory_id"], "updated"), user
    rows = await sql.fetch(
        "select user_id, confirmed_count from memory.agent_memory where tenant = $1", tenant.name
    )
    assert {row["user_id"]: row["confirmed_count"] for row in rows} == dict.fromkeys(WHO, 2)


async def test_an_edit_stays_with_its_user(client: Client) -> None:
    ids = {}
    for user in WHO:
        for content in ("prefers tea", "lives in Oslo"):
            made = await post(client, COMMIT, lesson("scout", content, **about(user)))
            ids[user, content] = made["memory_id"]
    path = f"/api/agent-memory/{ids['alice', 'prefers tea']}"
    conflict = await client.call("PATCH", path, {"content": "lives in Oslo"})
    assert (conflict.status, conflict.body["memory_id"]) == (409, ids["alice", "lives in Oslo"])
    await client.delete(f"/api/agent-memory/{ids['alice', 'lives in Oslo']}")
    edited = await client.call("PATCH", path, {"content": "lives in Oslo"})
    assert (edited.status, edited.body["memory"]["user_id"]) == (200, "alice")
    again = await post(client, COMMIT, lesson("scout", "lives in oslo", user_id="alice"))
    assert again["memory_id"] == ids["alice", "prefers tea"]


async def test_what_was_said_of_one_does_not_stand_for_another(client: Client) -> None:
    """Nor does a turn that the mission has of the session of one user."""
    turn = {"role": "user", "content": "I never want my parcels to be left with the neighbours."}
    for seq in (0, None):
        where = {"caller": "scout", "mission_namespace": f"parcels {seq}", "session_id": "s", "seq": seq}
        for user, stored in (("alice", 1), ("alice", 0), ("bob", 1), (None, 1), ("bob", 0)):
            said = await post(client, REMEMBER, {"messages": [turn | {"name": "me"}], **where, **about(user)})
            kept = [item["status"] for item in said["items"]]
            assert said["stored"] == stored or kept == ["updated"], (user, said)
            assert (kept == ["created"]) == bool(stored), (user, said)


async def test_remember_names_the_user_in_both_stores(client: Client) -> None:
    messages = [
        {"role": "user", "content": "The parcel came with a broken seal."},
        {"role": "assistant", "content": "Lesson learned: parcels from this depot come with broken seals."},
    ]
    told = await post(
        client,
        REMEMBER,
        {"caller": "scout", "mission_namespace": "parcels", "user_id": "alice", "messages": messages},
    )
    entry, memory = told["items"]
    assert (entry["store"], memory["store"]) == ("psychic_cache", "agent_memory")
    found = await client.get(f"/api/psychic-cache/all/entries/{entry['id']}")
    assert found.body["data"]["user_id"] == "alice"
    found = await client.get(f"/api/agent-memory/{memory['id']}")
    assert found.body["memory"]["user_id"] == "alice"


async def test_many_users_with_one_fact_at_once(client: Client, tenant: Tenant, sql: Connection) -> None:
    users = [f"u{n % 20}" for n in range(60)]
    answers = await asyncio.gather(
        *(client.post(COMMIT, lesson("scout", "prefers tea", user_id=user)) for user in users)
    )
    assert {answer.status for answer in answers} == {201}
    rows = await sql.fetch(
        "select user_id, confirmed_count from memory.agent_memory where tenant = $1", tenant.name
    )
    assert {row["user_id"]: row["confirmed_count"] for row in rows} == dict.fromkeys(users, 2)
