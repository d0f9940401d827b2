"""P5 finds an answer that names nothing, a bare 500, and a name too many."""

from __future__ import annotations

from typing import Any

import pytest

from proofs.degraded.answers import CALLS, Dependency, Given, missing, wrong
from tests.support.calls import PROBLEM

BY_NAME = {call.name: call for call in CALLS}
AWAY = {"content-type": PROBLEM, "retry-after": "1"}


def _lacks(*names: str) -> dict[str, Any]:
    return {"degraded": [{"source": name, "reason": "away"} for name in names]}


@pytest.mark.parametrize(
    ("call", "dependency", "status", "body", "documented"),
    [
        ("assemble", "cache", 200, _lacks(*missing("cache")), True),
        ("assemble", "cache", 200, _lacks(), False),
        ("assemble", "redis", 200, _lacks(), True),
        ("assemble", "redis", 200, _lacks("embedder"), False),
        ("assemble", "postgres", 503, {"dependency": "postgres"}, True),
        ("assemble", "postgres", 200, _lacks(), False),
        ("write", "cache", 503, {"dependency": "cache"}, True),
        ("write", "cache", 503, {"dependency": "agent_memory"}, False),
        ("write", "cache", 500, {}, False),
        ("write", "agent_memory", 201, {"data": {"indexed": True}}, True),
        ("write", "embedder", 201, {"data": {"indexed": False}}, True),
        ("write", "embedder", 201, {"data": {"indexed": True}}, False),
        ("commit", "embedder", 201, {"status": "pending"}, True),
        ("query", "embedder", 200, {"data": {"degraded": ["embedder: away"]}}, True),
        ("query", "embedder", 200, {"data": {"degraded": []}}, False),
    ],
)
def test_what_is_documented(
    call: str, dependency: Dependency, status: int, body: Any, documented: bool
) -> None:
    assert (wrong(BY_NAME[call], dependency, Given(status, body, AWAY)) is None) is documented


def test_it_must_say_when_to_come_again() -> None:
    headers = {"content-type": PROBLEM}
    given = Given(503, {"dependency": "cache"}, headers)
    assert wrong(BY_NAME["write"], "cache", given) == "does not say when to come again"
