from __future__ import annotations

from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given as examples
from hypothesis import settings
from hypothesis import strategies as st

from services.cache.entries.entry import BranchFields, CommonFields
from services.cache.entries.puts.making import put_of
from services.cache.entries.schemas import ContextType, WriteCacheInput
from services.cache.entries.text import (
    branch_fields,
    entry_text,
    header_labels,
    search_words,
)
from shared.auth import Principal
from shared.text import characters, is_blank
from shared.tokens import width

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


@pytest.mark.parametrize("context_type", SEARCHED)
def test_every_text_that_is_searched_counts_as_long(context_type: str) -> None:
    texts = [text for text in SEARCHED[context_type] if not text.isdigit()]
    assert characters(entry(context_type)) >= len(COMMON["content"]) + sum(map(len, texts))


@pytest.mark.parametrize("context_type", ENTRIES)
def test_text_can_be_made_again_from_what_is_stored(context_type: str) -> None:
    given = entry(context_type)
    metadata = branch_fields(given)
    stored = msgspec.json.decode(msgspec.json.encode(metadata))
    assert entry_text(given.content, context_type, stored) == entry_text(
        given.content, context_type, metadata
    )


def test_what_is_read_has_every_field_of_every_branch() -> None:
    assert set(BranchFields.__struct_fields__) - set(CommonFields.__struct_fields__) == {
        name for context_type in ENTRIES for name in branch_fields(entry(context_type))
    }


@pytest.mark.parametrize(
    ("fields", "who", "labels"),
    [
        ({"intel_source": "grafana"}, "ana", ["from grafana"]),
        ({"intel_source": "grafana", "intel_confidence": "low"}, None, ["from grafana", "(low confidence)"]),
        ({"intel_source": "ana"}, "ana", []),
        ({"intel_source": "document"}, None, []),
        ({"intel_source": "x" * 200}, None, ["from " + "x" * 79 + "…"]),
        ({"decision_rationale": "why"}, None, []),
    ],
)
def test_the_header_of_intel_says_what_it_does_not_say_yet(
    fields: dict[str, str], who: str | None, labels: list[str]
) -> None:
    assert header_labels(fields, who) == labels


def test_words_that_a_question_may_name() -> None:
    assert search_words("state_change", {}, ["db", "urgent"]) == ["state change", "db", "urgent"]
    assert "grafana" in search_words("intel", ENTRIES["intel"], [])


WRITER = Principal("acme", "k1", frozenset(["write"]))
# What names an entry, what is of a fixed few, and what is not read back; then what cannot grow.
FREE = {"supersedes", "step", "mission_id", "ttl_hours", "source_kind", "language"}
CHOSEN = {"intel_confidence", "directive_priority", "report_outcome", "occurred_at"}
OPTIONS: dict[str, Any] = {
    "agent_name": "ana",
    "tags": ["db"],
    "paths": ["src/proxy.py"],
    "symbols": ["trim_tools"],
    "source_turn": 3,
    "dispatch_id": 7,
    "occurred_at": "2026-07-04T12:00:00Z",
    "session_id": "s",
    "seq": 4,
    "speaker": "Ana",
    "user_id": "u",
    "recalled_from": 12,
}


def is_seen(text: str) -> bool:
    return not is_blank(text)


def tokens(context_type: str, changes: dict[str, Any]) -> int:
    return put_of(WRITER, entry(context_type, **changes)).token_count


@pytest.mark.parametrize("context_type", ENTRIES)
@settings(deadline=None)
@examples(extra=st.text(st.characters(exclude_characters="\x00"), min_size=1, max_size=200).filter(is_seen))
def test_no_field_that_can_be_read_back_is_free(context_type: str, extra: str) -> None:
    fields: dict[str, Any] = {**COMMON, **OPTIONS, **ENTRIES[context_type]}
    assert set(entry(context_type, **fields).__struct_fields__) - FREE <= set(fields)
    counted = tokens(context_type, fields)
    for name, value in fields.items():
        if name in FREE | CHOSEN or isinstance(value, int):
            continue
        more = [*value, extra] if isinstance(value, list) else value + extra
        grown = tokens(context_type, {**fields, name: more})
        assert abs((grown - counted) * 4 - width(extra)) < 5, name


@pytest.mark.parametrize("name", [name for name, value in OPTIONS.items() if isinstance(value, int)])
def test_a_number_counts_as_it_is_read(name: str) -> None:
    without = {key: value for key, value in OPTIONS.items() if key != name}
    assert tokens("intel", {**without, name: 1_234_567}) in (
        tokens("intel", without) + 1,
        tokens("intel", without) + 2,
    )
