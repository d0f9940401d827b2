"""The table of attacks knows every operation, tool and resource that there is."""

from __future__ import annotations

from services.context.mcp.resources import RESOURCES
from tests.support.attacks.attackers import ATTACKERS, unattacked
from tests.support.attacks.sending import OPERATIONS, attempts
from tests.support.attacks.table import ATTACKS
from tests.support.attacks.victim import Victim

NAMED = {
    **{f"{name}_id": 7 for name in ("entry", "checkpoint", "dispatch", "assembly", "key", "webhook")},
    "memory_ids": [7, 8],
    "file_ids": [9],
    "long_term_ids": [9, 10],
    "fact_ids": [9],
    "agent_session": "4f0c7a52-7f3c-4a52-9b58-2f1f7a0c1d11",
    "object_id": "4f0c7a52-7f3c-4a52-9b58-2f1f7a0c1d12",
    "nobodys_object_id": "4f0c7a52-7f3c-4a52-9b58-2f1f7a0c1d12",
    "object_number": 1,
    "persistent_id": "4f0c7a52-7f3c-4a52-9b58-2f1f7a0c1d15",
    "persistent_number": 1,
    "run_id": 1,
    "waiting_id": -1,
    "other_object_id": "4f0c7a52-7f3c-4a52-9b58-2f1f7a0c1d13",
    "relationship_id": "4f0c7a52-7f3c-4a52-9b58-2f1f7a0c1d14",
    "taken": ["cache:7"],
}


def test_every_operation_and_tool_is_attacked() -> None:
    assert unattacked() == set()
    assert ATTACKS.keys() == OPERATIONS.keys()


def test_every_resource_is_attacked() -> None:
    uris = [attempt.uri for attempt in attempts(Victim("word", NAMED)) if attempt.uri is not None]
    assert len(uris) > len(RESOURCES)
    for resource in RESOURCES:
        assert any(uri.startswith(resource.uri.partition("{")[0]) for uri in uris), resource.name


def test_each_attacker_tries_hundreds_of_ways() -> None:
    for attacker in ATTACKERS:
        most = [*attacker.attempts(Victim("word", NAMED))]
        if attacker.access == "write":
            assert {attempt.access for attempt in most} == {"admin"}
        else:
            assert len(most) > 300, attacker.name
