"""A purge also takes the traces beside the data: keys, records of retries, sessions, vectors, and what comes late."""

from __future__ import annotations

import asyncio
import secrets
import time
from typing import Any

import pytest

from shared.database.postgres import Connection
from tests.integration.conftest import Tenant
from tests.support.attacks.canaries import holding
from tests.support.calls import lesson, note, until
from tests.support.cluster import Client

PURGE = "/api/context/purge"


async def post(client: Client, path: str, body: Any, **headers: str) -> Any:
    answer = await client.post(path, body, headers=headers)
    assert answer.status < 300, answer
    return answer.body


def keyed(word: str) -> dict[str, str]:
    return {"idempotency-key": f"{word}-{secrets.token_hex(4)}"}


async def traces(client: Client, kind: str, word: str) -> None:
    """Whatever names an agent, a user or a mission `word`, by every route that keeps a name."""
    agent, user, mission = (word if kind == name else "other" for name in ("agent", "user", "mission"))
    session = f"session of {agent} and {user}"
    where = {"agent_name": agent, "user_id": user, "session_id": session}
    entry = note(mission, f"{word} rained", **where)
    await post(client, "/api/psychic-cache/write?wait=indexed", entry, **keyed(word))
    batch = {"entries": [note(mission, f"{word} hailed", **where)]}
    await post(client, "/api/psychic-cache/write/batch", batch, **keyed(word))
    report = {"mission_id": mission, "agent_name": agent, "task": "t", "session_id": session}
    # A dispatch is about no user.
    about = "other" if kind == "user" else word
    dispatch = await post(client, "/api/dispatch/report", report, **keyed(about))
    path = f"/api/dispatch/{dispatch['data']['id']}/complete"
    await post(client, path, {"outcome": "success"}, **keyed(about))
    task = {
        "task_description": "t",
        "skills_used": [],
        "outcome": "success",
        "mission_namespace": mission,
    }
    # Agents' lessons of a mission stay: what they say is theirs.
    said = "rain is wet" if kind == "mission" else f"{word} is wet"
    for _ in range(2):
        memory = lesson(agent, said, user_id=user, session_id=session, task_context=task)
        await post(client, "/api/agent-memory/commit", memory, **keyed(word))
    question = {"query": "what rained?", "caller": agent, "mission_namespace": mission, "user_id": user}
    await post(client, "/api/context/assemble", {**question, "session_id": session})
    told = {"caller": agent, "mission_namespace": mission, "user_id": user, "text": f"I learned: {word}"}
    if kind != "mission":
        await post(client, "/api/context/remember", told, **keyed(word))
    bounds: dict[str, Any] = {"agent": word} if kind == "agent" else {f"{kind}s": [word]}
    await post(client, "/api/context/keys", {"name": f"{word}'s", **bounds}, **keyed(word))
    await post(client, "/api/psychic-cache/query", {"mission_id": mission, "query": "rain"})
    if kind == "mission":
        limits = {"entry_budget": 100}
        assert (await client.call("PUT", f"/api/psychic-cache/{word}/limits", limits)).status == 200
    if kind == "agent":
        weight = {"caller": word, "source": "psychic_cache", "weight": 1.5}
        assert (await client.call("PUT", "/api/context/weights", weight)).status == 200


@pytest.mark.parametrize("kind", ["agent", "user", "mission"])
async def test_no_table_holds_the_name_of_whom_a_purge_erased(
    tenant: Tenant, admin_client: Client, sql: Connection, kind: str
) -> None:
    word = f"xylocarp{secrets.token_hex(4)}"
    await traces(admin_client, kind, word)

    async def settled() -> None:
        found = await holding(sql, word)
        assert {"context.context_assembly_log", "cache.idempotency", "context.api_keys"} <= set(found)
        waiting = "select count(*) from cache.index_queue where tenant = $1"
        assert await sql.fetchval(waiting, tenant.name) == 0

    await until(settled)
    field = "agent_name" if kind == "agent" else f"{kind}_id"
    receipt = await post(admin_client, PURGE, {field: word})
    assert await holding(sql, word) == {}
    assert receipt["erased"]["context"]["api_keys"] == 1
    assert receipt["erased"]["cache"]["idempotency"] >= (4 if kind == "mission" else 2)
    await asyncio.sleep(1)
    assert await holding(sql, word) == {}


@pytest.mark.parametrize("kind", ["agent", "user", "mission"])
async def test_keys_of_whom_a_purge_erased_are_revoked(
    tenant: Tenant, admin_client: Client, sql: Connection, kind: str
) -> None:
    bound: dict[str, Any] = {"agent": "ana"} if kind == "agent" else {f"{kind}s": ["ana"]}
    wider: dict[str, Any] = {} if kind == "agent" else {f"{kind}s": ["ana", "bo"]}
    erased, stays = await tenant.client("write", **bound), await tenant.client("write", **wider)
    for client in (erased, stays):
        assert (await client.get("/api/context/weights")).status == 200
    await post(admin_client, PURGE, {"agent_name" if kind == "agent" else f"{kind}_id": "ana"})
    assert (await erased.get("/api/context/weights")).status == 401
    assert (await stays.get("/api/context/weights")).status == 200
    rows = await sql.fetch(
        "select name, missions, users from context.api_keys where tenant = $1 and revoked_at is null",
        tenant.name,
    )
    assert not [row for row in rows if "ana" in [*(row["missions"] or ()), *(row["users"] or ())]]


async def test_a_key_that_loses_a_user_gains_nothing(
    tenant: Tenant, admin_client: Client, sql: Connection
) -> None:
    both = await tenant.client("write", users=["ana", "bo"])
    await post(admin_client, PURGE, {"user_id": "ana"})
    await asyncio.sleep(2.1)
    for user, status in (("ana", 403), ("bo", 201), ("cy", 403)):
        entry = note("m", "it rained", user_id=user)
        assert (await both.post("/api/psychic-cache/write", entry)).status == status


async def test_events_stay_without_the_sessions_of_a_purged_user(
    tenant: Tenant, admin_client: Client, sql: Connection
) -> None:
    entry = note("m", "it rained", session_id="hers", user_id="ana")
    await post(admin_client, "/api/psychic-cache/write", entry)
    await post(admin_client, PURGE, {"user_id": "ana"})
    events = await sql.fetch(
        "select kind, session_id from timeline.events where tenant = $1 and kind = 'cache_write'", tenant.name
    )
    assert [tuple(row) for row in events] == [("cache_write", None)]


async def test_what_another_replica_held_back_is_not_written(
    tenant: Tenant, sql: Connection, admin_client: Client
) -> None:
    """A row that waited in memory since before the purge, as a replica would write it now; and one made after it."""
    erased = "select timeline.was_erased($1, $2, $3)"
    began = time.perf_counter()
    await post(admin_client, PURGE, {"agent_name": "ana"})
    await asyncio.sleep(0.2)
    late = time.perf_counter() - began
    assert await sql.fetchval(erased, tenant.name, ["mission:m", "agent:ana"], late + 60)
    assert not await sql.fetchval(erased, tenant.name, ["mission:m", "agent:bo"], late + 60)
    assert not await sql.fetchval(erased, "another", ["agent:ana"], late + 60)
    assert not await sql.fetchval(erased, tenant.name, ["agent:ana"], 0.05)
    question = {"query": "rain", "caller": "ana"}
    made = await post(admin_client, "/api/context/assemble", question)
    assert (await admin_client.get(f"/api/context/log/{made['assembly_id']}")).status == 200


async def test_a_purge_leaves_the_digest_of_a_name_only(
    tenant: Tenant, sql: Connection, admin_client: Client
) -> None:
    before = await sql.fetchval("select count(*) from timeline.erased")
    word = f"xylocarp{secrets.token_hex(4)}"
    await post(admin_client, PURGE, {"agent_name": word})
    assert await sql.fetchval("select count(*) from timeline.erased") > before
    assert await holding(sql, word) == {}
