from __future__ import annotations

from typing import Any, get_args

import msgspec
import pytest

from services.cache.entries.schemas import ContextType, WriteCacheInput
from services.cache.entries.text import branch_fields, entry_text, search_words

COMMON = {"mission_id": "m", "content": "The content."}
ENTRIES: dict[str, dict[str, Any]] = {
    "decision": {"decision_rationale": "It is faster", "decision_alternatives": ["MySQL", "SQLite"]},
    "directive": {"directive_target": "ana", "directive_priority": "critical"},
    "intel": {"intel_source": "grafana", "intel_confidence": "high"},
    "state_change": {"state_from": "draft", "state_to": "live", "state_trigger": "a merge"},
    "output": {
        "output_url": "https://x/1",
        "output_summary": "the patch",
        "agent_name": "bo",
        "dispatch_id": 7,
    },
    "report": {"report_dispatch_id": 7, "report_outcome": "partial"},
    "escalation": {"escalation_target": "oncall", "escalation_reason": "disk full"},
    "shadow_clone": {"subtasks": ["left", "right"], "clone_count": 2},
    "thread_checkpoint": {
        "session_id": "s",
        "turn_count": 4,
        "active_dispatches": ["d7"],
        "open_decisions": ["which port"],
        "pending_directives": [],
        "current_mission_namespaces": ["m"],
        "working_state_prose": "Half way through.",
    },
}
SEARCHED = {
    "decision": ["It is faster", "MySQL", "SQLite"],
    "directive": ["ana", "critical"],
    "state_change": ["draft", "live", "a merge"],
    "output": ["https://x/1", "the patch"],
    "report": ["7", "partial"],
    "escalation": ["oncall", "disk full"],
    "shadow_clone": ["left", "right"],
    "thread_checkpoint": ["Half way through.", "which port", "d7"],
}


def entry(context_type: str, **changes: Any) -> WriteCacheInput:
    fields = {"context_type": context_type, **COMMON, **ENTRIES[context_type], **changes}
    given: WriteCacheInput = msgspec.convert(
        {k: v for k, v in fields.items() if v is not None}, WriteCacheInput
    )
    return given


def test_every_branch_is_here() -> None:
    assert set(ENTRIES) == set(get_args(ContextType))


@pytest.mark.parametrize("context_type", ENTRIES)
def test_metadata_holds_the_branch_and_nothing_else(context_type: str) -> None:
    common = {"agent_name", "dispatch_id", "session_id"}
    own = {k: v for k, v in ENTRIES[context_type].items() if k not in common}
    assert branch_fields(entry(context_type)) == own


@pytest.mark.parametrize("context_type", ENTRIES)
def test_text_begins_with_the_content_and_says_what_the_branch_says(context_type: str) -> None:
    given = entry(context_type)
    text = entry_text(given.content, context_type, branch_fields(given))
    assert text.startswith("The content.")
    assert all(words in text for words in SEARCHED.get(context_type, []))


@pytest.mark.parametrize(
    ("context_type", "absent"),
    [
        ("decision", {"decision_alternatives": None}),
        ("directive", {"directive_priority": None}),
        ("intel", {"intel_confidence": None}),
        ("state_change", {"state_trigger": None}),
        ("output", {"output_summary": None}),
        ("shadow_clone", {"clone_count": None}),
        ("thread_checkpoint", {"open_decisions": [], "active_dispatches": []}),
    ],
)
def test_what_is_optional_may_be_absent(context_type: str, absent: dict[str, Any]) -> None:
    given = entry(context_type, **absent)
    text = entry_text(given.content, context_type, branch_fields(given))
    assert "None" not in text
    assert not any(line.endswith(": ") for line in text.splitlines())


@pytest.mark.parametrize("context_type", ENTRIES)
def test_text_can_be_made_again_from_what_is_stored(context_type: str) -> None:
    given = entry(context_type)
    metadata = branch_fields(given)
    stored = msgspec.json.decode(msgspec.json.encode(metadata))
    assert entry_text(given.content, context_type, stored) == entry_text(
        given.content, context_type, metadata
    )


def test_words_that_a_question_may_name() -> None:
    assert search_words("state_change", {}, ["db", "urgent"]) == ["state change", "db", "urgent"]
    assert "grafana" in search_words("intel", ENTRIES["intel"], [])
