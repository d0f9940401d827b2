"""A memory says something. What was stored when it need not is read, exported, imported and decided about."""

from __future__ import annotations

import json

from shared.database.postgres import Connection
from tests.integration.conftest import Tenant
from tests.integration.keys.test_grants import assert_problem
from tests.integration.review.reviewing import REVIEW, decide, wait_for
from tests.support.calls import lesson
from tests.support.cluster import Answer, Client

COMMIT = "/api/agent-memory/commit"
EXPORT = "/api/agent-memory/export?agent_name=ana&limit=1"
BLANK = "\u3000 \u200b\n"
LINE = {
    "id": 1,
    "agent_name": "ana",
    "memory_type": "lesson_learned",
    "written_by": "key:1",
    "source_kind": "agent",
    "created_at": "2026-01-01T00:00:00Z",
    "updated_at": "2026-01-01T00:00:00Z",
}


def named(answer: Answer) -> list[tuple[str, str]]:
    assert_problem(answer, 400)
    return [(error["field"], error["message"]) for error in answer.body["errors"]]


async def test_a_blank_memory_is_refused(client: Client) -> None:
    wrong = "must be a string of 1 to 200000 characters, not a blank one"
    for blank in ("   ", BLANK):
        answer = await client.post(COMMIT, lesson("ana", blank))
        assert named(answer) == [("content", wrong)]
    memories = [lesson("ana", "Drain the node first"), lesson("ana", "   ")]
    answer = await client.post("/api/agent-memory/batch", {"memories": memories})
    assert named(answer) == [("memories[1].content", wrong)]
    made = await client.post(COMMIT, memories[0])
    assert made.body["status"] == "created"
    path = f"/api/agent-memory/{made.body['memory_id']}"
    changed = await client.call("PATCH", path, {"content": "   "})
    assert [field for field, _ in named(changed)] == ["content"]
    asked = await client.post("/api/agent-memory/query", {"agent_name": "ana", "query": "   "})
    assert asked.status == 200


async def test_a_blank_memory_that_is_stored_can_be_read_and_moved(admin_client: Client) -> None:
    lines = [{**LINE, "content": BLANK}, {**LINE, "id": 2, "content": "Drain the node first"}]
    imported = await admin_client.call(
        "POST",
        "/api/agent-memory/import",
        data="\n".join(map(json.dumps, lines)).encode(),
        headers={"content-type": "application/x-ndjson"},
    )
    assert (imported.status, imported.body["imported"]) == (201, 2)
    listed = (await admin_client.post("/api/agent-memory/list", {"agent_name": "ana"})).body["data"]
    (blank,) = (memory for memory in listed if memory["content"] == BLANK)
    read = await admin_client.get(f"/api/agent-memory/{blank['id']}")
    assert read.body["memory"]["content"] == BLANK
    exported = await admin_client.get(EXPORT)
    assert (exported.status, exported.body["content"]) == (200, BLANK)


async def test_a_blank_memory_that_waits_is_edited_or_forgotten(
    tenant: Tenant, admin_client: Client, client: Client, sql: Connection
) -> None:
    """An earlier release let it wait."""
    rule = await admin_client.call("PUT", f"{REVIEW}/rules", {"agent_name": "ana"})
    assert rule.status == 200, rule
    waiting = [await wait_for(client, COMMIT, lesson("ana", text)) for text in ("One.", "Two.")]
    blanked = """update memory.reviews set body = jsonb_set(body, '{content}', '"  "'), content = '  '
                 where tenant = $1 and state = 'waiting'"""
    assert await sql.execute(blanked, tenant.name) == "UPDATE 2"
    first, second = (f"peer:{number}" for number in waiting)
    refused = await admin_client.post(f"{REVIEW}/decide", {"handle": first, "decision": "approve"})
    assert_problem(refused, 409)
    assert "not a blank one" in refused.body["detail"]
    edited = await decide(admin_client, first, "edit", content="Drain the node first")
    assert edited["state"] == "edited"
    assert (await decide(admin_client, second, "forget"))["state"] == "forgotten"
