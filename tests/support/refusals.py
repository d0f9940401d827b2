"""What the tests of refusals share: a valid body for each route, and what a problem always says."""

from __future__ import annotations

from typing import Any

from tests.support.calls import PROBLEM, lesson, note
from tests.support.cluster import Answer

WRITE = "/api/psychic-cache/write"

# A valid body for each route that takes one.
BODIES: dict[str, dict[str, Any]] = {
    WRITE: note("m", "content"),
    "/api/psychic-cache/query": {"mission_id": "m", "query": "q"},
    "/api/agent-memory/commit": lesson("ana", "content"),
    "/api/agent-memory/query": {"agent_name": "ana", "query": "q"},
    "/api/agent-memory/list": {"agent_name": "ana"},
    "/api/agent-memory/peer-query": {"target_agent": "ana", "query": "q"},
    "/api/context/assemble": {"query": "q", "caller": "ana", "mission_namespace": "m"},
    "/api/context/feedback": {"assembly_id": 1, "used_source_ids": ["cache:1"]},
    "/api/context/purge": {"scope": "mission:gone"},
    "/api/agent-memory/batch": {"memories": [lesson("ana", "content")]},
    "/api/agent-memory/forget": {"agent_name": "nobody"},
    "/api/dispatch/report": {"mission_id": "m", "agent_name": "ana", "task": "t", "session_id": "s"},
    "/api/context/log/1/replay": {"token_budget": 100},
}


def assert_problem(answer: Answer, *statuses: int) -> dict[str, Any]:
    assert answer.status in statuses, answer
    assert answer.headers["content-type"] == PROBLEM, answer
    assert answer.body["status"] == answer.status
    assert answer.body["title"]
    assert answer.headers["x-request-id"]
    found: dict[str, Any] = answer.body
    return found


def assert_invalid(answer: Answer) -> dict[str, Any]:
    problem = assert_problem(answer, 400)
    assert problem["errors"]
    assert all(error["field"] and error["message"] for error in problem["errors"])
    return problem
