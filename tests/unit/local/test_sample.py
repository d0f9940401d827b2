"""The sample data is what the services accept, and shows every kind of entry they know."""

from datetime import UTC, datetime, timedelta
from typing import get_args

import msgspec

from local.sample import CALLER, MISSION, requests
from services.agent_memory.memories.schemas import CommitAgentMemoryInput, MemoryType
from services.cache.entries.schemas import ContextType, WriteCacheInput

_BEGUN = datetime(2026, 3, 1, 12, tzinfo=UTC)
_BODIES = {"/api/psychic-cache/write": WriteCacheInput, "/api/agent-memory/commit": CommitAgentMemoryInput}


def test_every_request_is_a_valid_body() -> None:
    for route, body in requests(_BEGUN):
        msgspec.convert(body, _BODIES[route])


def test_every_type_appears() -> None:
    bodies = [body for _, body in requests(_BEGUN)]
    assert {body["context_type"] for body in bodies if "context_type" in body} == set(get_args(ContextType))
    assert {body["memory_type"] for body in bodies if "memory_type" in body} == set(get_args(MemoryType))


def test_the_question_is_about_somebody_and_something_in_it() -> None:
    bodies = [body for _, body in requests(_BEGUN)]
    assert {CALLER} < {body["agent_name"] for body in bodies}
    assert MISSION in {body.get("mission_id") for body in bodies}


def test_it_is_told_oldest_first_and_lies_in_the_past() -> None:
    times = [datetime.fromisoformat(body["occurred_at"]) for _, body in requests(_BEGUN)]
    assert times == sorted(times)
    assert times[-1] <= _BEGUN - timedelta(minutes=1)


def test_the_same_start_gives_the_same_requests() -> None:
    assert requests(_BEGUN) == requests(_BEGUN)
