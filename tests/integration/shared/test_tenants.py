"""Two tenants with equal names everywhere: neither sees, nor changes, a row of the other."""

from __future__ import annotations

import asyncio
import hashlib
import json
from typing import Any, NamedTuple

import pytest
from aiohttp import ClientTimeout

from shared.database.postgres import Connection
from tests.integration.conftest import Operation, Tenant, operations
from tests.support.calls import Stream, lesson, note, page_through, until
from tests.support.cluster import Client
from tests.unit.cache.test_entries import COMMON, ENTRIES

WRITE = "/api/psychic-cache/write"
MISSION, AGENT, SESSION = "apollo", "ana", "session-1"
PUBLIC = [operation for operation in operations() if not operation.path.startswith("/internal")]
READS = [operation for operation in PUBLIC if operation.access == "read"]
WRITES = [operation for operation in PUBLIC if operation.access != "read"]
BY_ID = [operation for operation in PUBLIC if "_id:int" in operation.path or "{handle" in operation.path]

TENANT_TABLES = """
select table_schema || '.' || table_name as name from information_schema.columns c
where column_name = 'tenant' and table_schema in ('cache', 'memory', 'context', 'timeline', 'sessions')
  and table_name !~ '_(p[0-9]{8}|default)$' and table_name not like 'searchable%'
order by 1
"""
AWAITED = """
select exists (select from timeline.events where tenant = $1 and seq is null)
    or exists (select from cache.index_queue where tenant = $1)
    or exists (select from memory.index_queue where tenant = $1)
"""


def label(operation: Operation) -> str:
    return f"{operation.method} {operation.path}"


class Filled(NamedTuple):
    """A tenant with something in every store; each text of its holds its own word."""

    tenant: Tenant
    client: Client
    word: str
    ids: dict[str, Any]

    def handles(self) -> list[str]:
        return [
            f"cache:{self.ids['entry_id']}",
            f"own:{self.ids['memory_id']}",
            f"peer:{self.ids['peer_id']}",
        ]


async def fill(tenant: Tenant, word: str) -> Filled:
    client = await tenant.client("admin")

    async def post(path: str, body: Any) -> Any:
        answer = await client.post(path, body)
        assert answer.status < 300, answer
        return answer.body

    checkpoint = {"context_type": "thread_checkpoint", **COMMON, **ENTRIES["thread_checkpoint"]} | {
        "mission_id": MISSION,
        "session_id": SESSION,
        "content": f"the checkpoint of {word}",
        "working_state_prose": f"half way to {word}",
    }
    entry = await post(f"{WRITE}?wait=indexed", note(MISSION, f"the secret of {word}", tags=[word]))
    await post(f"{WRITE}?wait=indexed", checkpoint)
    memory = await post("/api/agent-memory/commit", lesson(AGENT, f"the secret lesson of {word}"))
    peer = await post("/api/agent-memory/commit", lesson("bo", f"the secret lesson of {word} for peers"))
    await post("/api/agent-memory/commit", lesson(AGENT, f"a private secret of {word}", private=True))
    known = await post(
        "/api/memory", {"kind": "knowledge", "scope": f"agent:{AGENT}", "content": f"the secret of {word}"}
    )
    dispatch = await post(
        "/api/dispatch/report",
        {"mission_id": MISSION, "agent_name": AGENT, "task": f"keep the secret of {word}"},
    )
    assembly = await post(
        "/api/context/assemble",
        {
            "query": "the secret",
            "caller": AGENT,
            "mission_namespace": MISSION,
            "session_id": f"{SESSION} {word}",
        },
    )
    assert word in assembly["context_block"]
    key = await post("/api/context/keys", {"name": f"the key of {word}"})
    hook = await post(
        "/api/webhooks", {"url": "https://hooks.example/", "description": f"the hook of {word}"}
    )
    webhook_id = hook["webhook"]["id"]
    await client.call("PATCH", f"/api/webhooks/{webhook_id}", {"status": "paused"})
    await client.call(
        "PUT", "/api/context/weights", {"caller": word, "source": "psychic_cache", "weight": 1.2}
    )
    await client.call("PUT", "/api/context/budgets", {"caller": word, "default_budget": 3_000})
    return Filled(
        tenant,
        client,
        word,
        {
            "entry_id": entry["data"]["id"],
            "memory_id": memory["memory_id"],
            "peer_id": peer["memory_id"],
            "long_term_id": known["id"],
            "assembly_id": assembly["assembly_id"],
            "dispatch_id": dispatch["data"]["id"],
            "mission_id": MISSION,
            "session_id": SESSION,
            "handle": f"cache:{entry['data']['id']}",
            "key_id": key["key"]["id"],
            "webhook_id": webhook_id,
        },
    )


@pytest.fixture
async def pair(tenants: tuple[Tenant, Tenant]) -> tuple[Filled, Filled]:
    """The same, said by two: only the words differ."""
    first, second = await fill(tenants[0], "aardvark"), await fill(tenants[1], "bumblebee")
    assert all(
        first.ids[name] != second.ids[name] for name in first.ids.keys() - {"mission_id", "session_id"}
    )
    return first, second


def bodies(path: str, owner: Filled) -> list[Any]:
    """What to send to a route to reach the rows of `owner`."""
    question = {"query": "the secret"}
    handles = owner.handles()
    known: dict[str, list[Any]] = {
        "/api/psychic-cache/query": [question | {"mission_id": name} for name in (MISSION, "*")],
        "/api/agent-memory/query": [question | {"agent_name": name} for name in (AGENT, "bo")],
        "/api/agent-memory/list": [{"agent_name": name} for name in (AGENT, "bo")],
        "/api/agent-memory/peer-query": [question | {"target_agent": name} for name in (AGENT, "bo")],
        "/api/context/assemble": [
            question | {"caller": caller, "mission_namespace": MISSION, "debug": True, "log": False}
            for caller in (AGENT, "zoe")
        ],
        "/api/context/log/{assembly_id:int}/replay": [{}],
        WRITE: [note(MISSION, "the secret of another")],
        "/api/psychic-cache/write/batch": [{"entries": [note(MISSION, "the secret of another")]}],
        "/api/psychic-cache/all/entries/{entry_id:int}": [{"tags": ["taken"]}],
        "/api/psychic-cache/{mission_id:str}/limits": [{"token_budget": 1, "entry_budget": 1}],
        "/api/psychic-cache/{mission_id:str}": [{"reason": "operator"}],
        "/api/dispatch/report": [{"mission_id": MISSION, "agent_name": AGENT, "task": "x"}],
        "/api/dispatch/{dispatch_id:int}/progress": [{"note": "taken over"}],
        "/api/dispatch/{dispatch_id:int}/complete": [{"outcome": "success"}],
        "/api/agent-memory/commit": [lesson(AGENT, f"the secret lesson of {owner.word}")],
        "/api/agent-memory/batch": [{"memories": [lesson(AGENT, f"the secret lesson of {owner.word}")]}],
        "/api/agent-memory/{memory_id:int}": [{"content": "taken over"}],
        "/api/agent-memory/forget": [{"agent_name": AGENT}],
        "/api/memory": [
            {"kind": "knowledge", "scope": f"agent:{AGENT}", "content": f"the secret of {owner.word}"}
        ],
        "/api/memory/batch": [
            {"memories": [{"kind": "knowledge", "scope": "shared", "content": "taken over"}]}
        ],
        "/api/memory/search": [question | {"agent_name": AGENT, "scopes": [f"agent:{AGENT}"]}],
        "/api/memory/{memory_id:int}": [{"content": "taken over"}],
        "/api/context/feedback": [{"assembly_id": owner.ids["assembly_id"], "used_source_ids": handles}],
        "/api/context/purge": [
            {"scope": f"mission:{MISSION}"},
            {"scope": f"agent:{AGENT}"},
            {"scope": "shared"},
        ],
        "/api/context/weights": [{"caller": owner.word, "source": "psychic_cache", "weight": 0.3}],
        "/api/context/budgets": [{"caller": owner.word, "default_budget": 200}],
        "/api/context/keys": [{"name": f"the key of {owner.word}"}],
        "/api/context/keys/{key_id:int}": [{"name": "taken over"}],
        "/api/context/keys/{key_id:int}/rotate": [{}],
        "/api/webhooks": [{"url": f"https://hooks.example/{owner.word}"}],
        "/api/webhooks/{webhook_id:int}": [{"description": "taken over"}],
        "/api/webhooks/{webhook_id:int}/rotate": [{}],
        "/api/webhooks/{webhook_id:int}/redeliver": [{}],
    }
    return known.get(path, [None])


QUERIES = {
    "/api/agent-memory/pending-review": '?since={"ana":"2020-01-01T00:00:00Z","bo":"2020-01-01T00:00:00Z"}',
    "/api/timeline": "?after=0&limit=1000",
    "/api/context/weights": "?caller={word}&source=psychic_cache",
    "/api/context/budgets": "?caller={word}",
    "/api/psychic-cache/{mission_id:str}": "?reason=operator",
}


async def texts(client: Client, operation: Operation, owner: Filled) -> list[tuple[int, str]]:
    """Status and text of every call of the operation that is aimed at `owner`'s rows."""
    query = QUERIES.get(operation.path, "").replace("{word}", owner.word)
    queries = ["", query] if query and operation.access == "read" else [query]
    handles = owner.handles() if "{handle" in operation.path else [owner.ids["handle"]]
    found = []
    for handle in handles:
        ids = owner.ids | {"handle": handle}
        if operation.path.startswith("/api/memory/"):
            ids["memory_id"] = owner.ids["long_term_id"]
        address = operation.address(ids)
        for body in bodies(operation.path, owner):
            for more in queries:
                async with client.session.request(
                    operation.method, f"{address}{more}", json=body, timeout=ClientTimeout(30)
                ) as response:
                    found.append((response.status, await response.text()))
    assert all(status < 500 for status, _ in found), found
    return found


async def test_no_read_shows_a_row_of_the_other(pair: tuple[Filled, Filled]) -> None:
    for owner, stranger in (pair, pair[::-1]):
        own = 0
        for operation in READS:
            for _, text in await texts(stranger.client, operation, owner):
                assert owner.word not in text.lower(), label(operation)
            # The control: the owner itself is shown its rows by the same calls.
            own += any(owner.word in text.lower() for _, text in await texts(owner.client, operation, owner))
        assert own > 12


@pytest.mark.parametrize("operation", BY_ID, ids=label)
async def test_ids_of_the_other_are_not_found(pair: tuple[Filled, Filled], operation: Operation) -> None:
    owner, stranger = pair
    statuses = {status for status, _ in await texts(stranger.client, operation, owner)}
    assert statuses <= {404, 400}, statuses
    assert 404 in statuses


async def snapshot(sql: Connection, tenant: str) -> dict[str, str]:
    """A digest of the tenant's rows in each table."""
    tables = [row["name"] for row in await sql.fetch(TENANT_TABLES)]
    digests = {}
    for table in tables:
        rows = await sql.fetch(f"select t::text as row from {table} t where tenant = $1 order by 1", tenant)
        digests[table] = f"{len(rows)} {hashlib.sha256(repr([r['row'] for r in rows]).encode()).hexdigest()}"
    assert len(digests) > 12
    return digests


async def settled(sql: Connection, tenant: str) -> dict[str, str]:
    """Once events are numbered, vectors stored and counts flushed."""

    async def check() -> dict[str, str]:
        assert not await sql.fetchval(AWAITED, tenant)
        before = await snapshot(sql, tenant)
        await asyncio.sleep(1.2)
        after = await snapshot(sql, tenant)
        assert before == after
        return after

    return await until(check, 60)


async def test_no_write_changes_a_row_of_the_other(pair: tuple[Filled, Filled], sql: Connection) -> None:
    owner, stranger = pair
    before = await settled(sql, owner.tenant.name)
    for operation in WRITES:
        await texts(stranger.client, operation, owner)
    assert await settled(sql, owner.tenant.name) == before
    # The control: one such call of the owner's own is seen.
    await owner.client.delete(f"/api/psychic-cache/all/entries/{owner.ids['entry_id']}")
    assert await settled(sql, owner.tenant.name) != before


async def test_events_of_the_other_are_neither_paged_nor_streamed(pair: tuple[Filled, Filled]) -> None:
    seen = []
    for one in pair:
        pages = await until(lambda client=one.client: _events(client))  # type: ignore[misc]
        async with Stream(one.client, "/api/timeline", after=0) as stream:
            await until(lambda stream=stream, pages=pages: _as_many(stream, pages))  # type: ignore[misc]
            assert [event["seq"] for event in stream.events[: len(pages)]] == [e["seq"] for e in pages]
        seen.append(_moments(pages) | _moments(stream.events))
    assert seen[0]
    assert not seen[0] & seen[1]


def _moments(events: list[dict[str, Any]]) -> set[tuple[str, str]]:
    """Both tenants have events of the same numbers, but not of the same microsecond."""
    return {(event["kind"], event["created_at"]) for event in events}


async def _events(client: Client) -> list[dict[str, Any]]:
    events = await page_through(client, "/api/timeline?kind=cache_write")
    assert len(events) == 2
    return await page_through(client, "/api/timeline?limit=1000")


async def _as_many(stream: Stream, pages: list[Any]) -> None:
    assert len(stream.events) >= len(pages)


async def test_a_resumed_stream_shows_nothing_of_the_other(pair: tuple[Filled, Filled]) -> None:
    """A number counts one tenant's events, from where the last erased tenant's ended."""
    owner, stranger = pair
    events = await until(lambda: _events(owner.client))
    numbers = [event["seq"] for event in events]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    for after in (0, numbers[0], numbers[-1]):
        page = await stranger.client.get(f"/api/timeline?after={after}&limit=1000")
        assert not _moments(page.body["data"]) & _moments(events)


async def test_one_key_of_idempotency_is_two(pair: tuple[Filled, Filled]) -> None:
    for path, body, name in (
        (WRITE, note(MISSION, "same"), "id"),
        ("/api/agent-memory/commit", lesson(AGENT, "same"), "memory_id"),
    ):
        made = []
        for one in pair:
            for _ in range(2):
                answer = await one.client.post(path, body, headers={"idempotency-key": "the-key"})
                assert answer.status == 201, answer
                made.append(answer.body.get("data", answer.body)[name])
        assert made[0] == made[1] != made[2] == made[3]
        other = body | {"content": "another"}
        assert (await pair[0].client.post(path, other, headers={"idempotency-key": "the-key"})).status == 422


async def test_a_full_mission_of_one_leaves_the_other_alone(pair: tuple[Filled, Filled]) -> None:
    owner, stranger = pair
    before = (await owner.client.get(f"/api/psychic-cache/{MISSION}/stats")).body
    await asyncio.gather(*(stranger.client.post(WRITE, note(MISSION, "x" * 4_000)) for _ in range(15)))
    assert (await owner.client.get(f"/api/psychic-cache/{MISSION}/stats")).body == before
    checkpoint = (await owner.client.get(f"/api/psychic-cache/checkpoint/{SESSION}")).body["data"]
    assert owner.word in json.dumps(checkpoint)


async def test_the_same_lesson_is_each_tenants_own(pair: tuple[Filled, Filled]) -> None:
    body = lesson(AGENT, "Always drain a node before it is restarted.")
    first, second = [await one.client.post("/api/agent-memory/commit", body) for one in pair]
    assert first.body["status"] == second.body["status"] == "created"
    assert first.body["memory_id"] != second.body["memory_id"]


async def test_tables_without_a_tenant_are_known(sql: Connection) -> None:
    """A new table must have one, or a reason here."""
    rows = await sql.fetch(
        """select n.nspname || '.' || c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
           where c.relkind in ('r', 'p') and not c.relispartition
             and n.nspname in ('cache', 'memory', 'context', 'timeline', 'sessions')
             and not exists (select 1 from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant')"""
    )
    # One row says where the counters of new tenants begin. What names an erased subject is a digest, kept for a day.
    assert {row["name"] for row in rows} == {"timeline.counter_start", "timeline.erased"}
