"""Every list has one shape, ends where it says that it ends, and is narrowed by filters."""

from __future__ import annotations

import asyncio
import base64
import json
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest

from tests.integration.conftest import Tenant
from tests.integration.keys.test_grants import assert_problem
from tests.support.calls import Json, lesson, note, pages, question, until
from tests.support.cluster import Client

CACHE = "/api/psychic-cache"


class List(NamedTuple):
    path: str
    body: Json | None = None
    most: int = 1_000

    async def read(self, client: Client, limit: int) -> list[list[Any]]:
        read = await pages(client, self.path, limit, self.body)
        return [[_unused(item) for item in page] for page in read]

    async def at(self, client: Client, cursor: str) -> Any:
        if self.body is None:
            return await client.session.get(self.path, params={"cursor": cursor})
        return await client.session.post(self.path, json={**self.body, "cursor": cursor})


def _unused(item: Any) -> Any:
    """A key without its uses: reading the list is one, and is counted behind the request."""
    return {name: item[name] for name in item if name not in _USES} if isinstance(item, dict) else item


LISTS = [
    List(f"{CACHE}/m0/entries"),
    List(f"{CACHE}/all/entries"),
    List(f"{CACHE}/all/missions"),
    List("/api/dispatch"),
    List("/api/agent-memory/list", {"agent_name": "scout"}, most=100),
    List("/api/context/log"),
    List("/api/context/log/callers"),
    List("/api/context/weights/history"),
    List("/api/context/keys"),
    List("/api/timeline"),
    List("/api/context/monitor"),
]
EACH = 5
_USES = {"last_used_at", "requests_today", "tokens_today"}


async def fill(client: Client) -> None:
    """At least EACH items for every list."""
    for n in range(EACH):
        for mission in ("m0", f"m{n}"):
            written = note(mission, f"valve {n} of {mission} leaks", agent_name=f"agent-{n}")
            assert (await client.post(f"{CACHE}/write", written)).status == 201
        report = {"mission_id": "m0", "agent_name": f"agent-{n}", "task": f"task {n}"}
        assert (await client.post("/api/dispatch/report", report)).status == 201
        assert (await client.post("/api/agent-memory/commit", lesson("scout", f"{n} is odd"))).status == 201
        assert (await client.post("/api/context/assemble", question("m0", caller=f"agent-{n}"))).status == 200
        weight = {"caller": f"agent-{n}", "source": "psychic_cache", "weight": 1.5}
        assert (await client.call("PUT", "/api/context/weights", weight)).status == 200
        assert (await client.post("/api/context/keys", {"name": f"key {n}"})).status == 201


async def filled(listed: List, client: Client) -> list[Any]:
    """The whole list, once what is recorded behind the requests is in it and nothing more comes."""

    async def settled() -> list[Any]:
        for kind in ("assemble", "key_make"):
            events = await client.get(f"/api/timeline?kind={kind}")
            assert len(events.body["data"]) == EACH
        (whole,) = await listed.read(client, listed.most)
        assert len(whole) >= EACH
        await asyncio.sleep(0.5)
        assert [whole] == await listed.read(client, listed.most)
        return whole

    return await until(settled)


@pytest.mark.parametrize("listed", LISTS, ids=lambda one: one.path)
async def test_the_pages_of_a_list_are_the_list(tenant: Tenant, listed: List) -> None:
    client = await tenant.client("admin")
    await fill(client)
    whole = await filled(listed, client)
    by_two = await listed.read(client, 2)
    assert [item for page in by_two for item in page] == whole
    assert [len(page) for page in by_two[:-1]] == [2] * (len(by_two) - 1)
    assert by_two[-1], "a list never ends with an empty page"
    exactly = await listed.read(client, len(whole))
    assert [len(page) for page in exactly] == [len(whole)]


FORGED = [
    "x",
    "%",
    "e30",
    "bnVsbA",
    base64.urlsafe_b64encode(b'{"list":"tables","id":1}').decode(),
    base64.urlsafe_b64encode(b'{"list":"entries","id":1,"tenant":"other"}').decode(),
    base64.urlsafe_b64encode(b'{"list":"entries","id":-1}').decode(),
    base64.urlsafe_b64encode(b'{"list":"entries","id":"1 or true"}').decode(),
    base64.urlsafe_b64encode(b"[" * 1_400).decode(),
    "é",
    "A" * 2_001,
]


@pytest.mark.parametrize("listed", LISTS, ids=lambda one: one.path)
async def test_a_forged_cursor_is_refused(admin_client: Client, listed: List) -> None:
    for cursor in FORGED:
        async with await listed.at(admin_client, cursor) as answer:
            assert answer.status == 400, (cursor, await answer.text())
            problem = json.loads(await answer.text())
            assert [error["field"] for error in problem["errors"]] == ["cursor"], problem


async def test_a_cursor_of_another_list_is_refused(admin_client: Client) -> None:
    for n in range(2):
        await admin_client.post(f"{CACHE}/write", note(f"m{n}", "a note"))
    cursor = (await admin_client.get(f"{CACHE}/all/missions?limit=1")).body["next"]
    assert_problem(await admin_client.get(f"{CACHE}/all/entries?cursor={cursor}"), 400)


async def test_a_cursor_gives_no_rights(tenants: tuple[Tenant, Tenant]) -> None:
    owner, stranger = tenants[0], tenants[1]
    writer = await owner.client("write")
    for n in range(4):
        await writer.post(f"{CACHE}/write", note(f"m{n % 2}", f"note {n}"))
    cursor = (await writer.get(f"{CACHE}/all/entries?limit=1")).body["next"]
    path = f"{CACHE}/all/entries?cursor={cursor}"
    assert (await (await stranger.client("admin")).get(path)).body == {"data": [], "next": None}
    narrow = await owner.client("read", missions=["m0"])
    assert {entry["mission_id"] for entry in (await narrow.get(path)).body["data"]} == {"m0"}


async def test_a_list_of_1100_entries_does_not_end_at_1000(client: Client, admin_client: Client) -> None:
    limits = {"entry_budget": 5_000, "token_budget": 1_000_000}
    await admin_client.call("PUT", f"{CACHE}/long/limits", limits)
    for n in range(11):
        batch = [note("long", f"note {n * 100 + k}") for k in range(100)]
        assert (await client.post(f"{CACHE}/write/batch", {"entries": batch})).body["data"]["written"] == 100
    for path in (f"{CACHE}/long/entries", f"{CACHE}/all/entries"):
        found = await pages(client, path, 1_000)
        assert [len(page) for page in found] == [1_000, 100]
        ids = [entry["id"] for page in found for entry in page]
        assert ids == sorted(set(ids), reverse=True)


async def test_entries_are_narrowed(client: Client) -> None:
    written = [
        note("f", "zero", agent_name="ana", tags=["red"]),
        note("f", "one", agent_name="bo", tags=["red", "blue"]),
        {"mission_id": "f", "context_type": "decision", "content": "two", "decision_rationale": "why not"},
        note("g", "three", agent_name="ana", tags=["green"]),
    ]
    for body in written[:2]:
        assert (await client.post(f"{CACHE}/write", body)).status == 201
    between = datetime.now(UTC).isoformat()
    for body in written[2:]:
        assert (await client.post(f"{CACHE}/write", body)).status == 201

    async def contents(mission: str, **wanted: Any) -> list[str]:
        pairs = [
            (k, v) for k, values in wanted.items() for v in (values if isinstance(values, list) else [values])
        ]
        async with client.session.get(f"{CACHE}/{mission}/entries", params=pairs) as answer:
            assert answer.status == 200, await answer.text()
            return [entry["content"] for entry in (await answer.json())["data"]]

    assert await contents("f", context_type="decision") == ["two"]
    assert await contents("f", context_type=["decision", written[0]["context_type"]]) == [
        "two",
        "one",
        "zero",
    ]
    assert await contents("all", tag="red") == ["one", "zero"]
    assert await contents("all", tag=["blue", "green"]) == ["three", "one"]
    assert await contents("all", agent_name="ana") == ["three", "zero"]
    assert await contents("f", since=between) == ["two"]
    assert await contents("all", until=between) == ["one", "zero"]
    assert await contents("all", since=between, agent_name="ana") == ["three"]
    assert_problem(await client.get(f"{CACHE}/f/entries?context_type=nonsense"), 400)
    assert_problem(await client.get(f"{CACHE}/f/entries?since=yesterday"), 400)


async def test_queries_are_narrowed_by_time(client: Client) -> None:
    await client.post(f"{CACHE}/write?wait=indexed", note("t", "the valve leaked early", agent_name="ana"))
    await client.post("/api/agent-memory/commit", lesson("ana", "valves leak when it is cold"))
    between = datetime.now(UTC).isoformat()
    await client.post(f"{CACHE}/write?wait=indexed", note("t", "the valve leaked late", agent_name="ana"))
    await client.post("/api/agent-memory/commit", lesson("ana", "valves of brass never break"))
    for when, entry, memory in (
        ("until", "the valve leaked early", "valves leak when it is cold"),
        ("since", "the valve leaked late", "valves of brass never break"),
    ):
        asked = {"query": "valve", when: between}
        entries = await client.post(f"{CACHE}/query", {"mission_id": "t", **asked})
        assert [e["content"] for e in entries.body["data"]["entries"]] == [entry]
        for path, whose in (("query", "agent_name"), ("peer-query", "target_agent")):
            memories = await client.post(f"/api/agent-memory/{path}", {whose: "ana", **asked})
            assert [m["content"] for m in memories.body["memories"]] == [memory]
        listed = await client.post("/api/agent-memory/list", {"agent_name": "ana", when: between})
        assert [m["content"] for m in listed.body["data"]] == [memory]


async def test_the_log_is_narrowed(client: Client) -> None:
    for session, user in (("s1", "alice"), ("s2", "alice"), ("s2", "bob")):
        asked = question("log", caller="ana", session_id=session, user_id=user)
        assert (await client.post("/api/context/assemble", asked)).status == 200

    async def counts(query: str) -> int:
        return len((await client.get(f"/api/context/log{query}")).body["data"])

    async def logged() -> None:
        assert await counts("") == 3

    await until(logged)
    assert await counts("?user_id=alice") == 2
    assert await counts("?user_id=alice&session_id=s2") == 1
    assert await counts("?since=2020-01-01T00:00:00Z&until=2021-01-01T00:00:00") == 0
    assert await counts("?since=2020-01-01T00:00:00Z") == 3


async def test_the_timeline_is_narrowed(client: Client) -> None:
    for agent in ("ana", "bo"):
        await client.post(f"{CACHE}/write", note("tl", f"note of {agent}", agent_name=agent))
        await client.post("/api/agent-memory/commit", lesson(agent, f"lesson of {agent}"))

    async def seen(query: str) -> list[tuple[str, str]]:
        found = await pages(client, f"/api/timeline?{query}", 1)
        return [(event["kind"], event["agent_name"]) for page in found for event in page]

    async def numbered() -> None:
        assert await seen("agent=bo") == [("cache_write", "bo"), ("memory_commit", "bo")]

    await until(numbered)
    both = await seen("kind=cache_write&kind=memory_commit")
    assert both == [(kind, agent) for agent in ("ana", "bo") for kind in ("cache_write", "memory_commit")]
    assert await seen("kind=cache_write&agent=ana") == [("cache_write", "ana")]
    assert await seen("since=2100-01-01T00:00:00Z") == []
    first = (await client.get("/api/timeline?limit=1")).body
    assert_problem(await client.get(f"/api/timeline?after=1&cursor={first['next']}"), 400)
