from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given as over
from hypothesis import strategies as st

from services.context.consolidation.recalled import is_own_tool, own, sentences
from services.context.consolidation.turns import RECALLED, Event, Names, step_of
from shared.render import new_fence, render_item

AT = datetime(2026, 3, 1, tzinfo=UTC)
NAMES = Names("Ana", "scout", speaks_for_users=True)
BLOCK = render_item("memory:5", AT, ["Ana"], "I live in Lisbon.", new_fence([], AT))


def text(said: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": said}]


def event(seq: int, role: str, content: list[dict[str, Any]], kind: str = "message") -> Event:
    return Event(seq, kind, role, content, AT)


def step(*events: Event, after: int = 0) -> list[tuple[str, str]]:
    turns = step_of(events, after, events[-1].seq, NAMES).turns
    return [(turn["role"], turn["text"].strip()) for turn in turns]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("assemble_context", True),
        ("mcp__scrubjay__assemble_context", True),
        ("scrubjay.remember", True),
        ("reassemble_context", False),
        ("xremember", False),
        ("Read", False),
    ],
)
def test_hosts_put_a_servers_name_before_a_tools(name: str, expected: bool) -> None:
    assert is_own_tool(name) == expected


def test_a_block_in_a_message_is_left_out() -> None:
    assert step(event(1, "user", text(f"Where do I live?\n{BLOCK}"))) == [("user", "Where do I live?")]


def test_the_answer_of_an_own_tool_is_left_out_and_what_an_agent_repeats_of_it() -> None:
    call = {"type": "tool_use", "id": "1", "name": "mcp__scrubjay__memory_search", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "1", "content": "The report is due on Friday."}
    said = "The report is due on Friday. I wrote half of it."
    turns = step(
        event(1, "assistant", [call], "tool_call"),
        event(2, "tool", [result], "tool_result"),
        event(3, "assistant", text(said)),
        event(4, "user", text(said)),
    )
    assert turns == [("assistant", "I wrote half of it."), ("user", said)]


def test_another_tools_answer_stays() -> None:
    call = {"type": "tool_use", "id": "1", "name": "Read", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "1", "content": "The port is 8080."}
    turns = step(event(1, "assistant", [call], "tool_call"), event(2, "tool", [result], "tool_result"))
    assert turns == [("tool", "The port is 8080.")]


def test_json_that_holds_a_block_is_left_out_whoever_sends_it() -> None:
    answer = json.dumps({"context_block": BLOCK, "assembly_id": 3})
    assert step(event(1, "user", text(answer)), event(2, "user", text("Thanks a lot."))) == [
        ("user", "Thanks a lot.")
    ]


def test_a_sentence_that_names_a_handle_is_left_out() -> None:
    said = "Ana lives in Lisbon (memory:5). She likes it."
    assert step(event(1, "assistant", text(said))) == [("assistant", "She likes it.")]


def test_what_was_recalled_before_the_step_counts() -> None:
    recalled = event(1, "user", text(f"Where do I live?\n{BLOCK}"))
    assert step(recalled, event(2, "assistant", text("I live in Lisbon. Good.")), after=1) == [
        ("assistant", "Good.")
    ]


def test_what_is_left_out_is_counted() -> None:
    found = step_of([event(1, "user", text(f"Hello.\n{BLOCK}"))], 0, 1, NAMES)
    assert (found.skipped, found.until) == ({RECALLED: 1}, 1)


@over(st.text(max_size=300))
def test_without_anything_recalled_a_text_stays(said: str) -> None:
    kept, left_out = own(said, frozenset(), repeats=True)
    assert kept == said or left_out


@pytest.mark.parametrize("piece", ["a ", ".", "memory:", "[", "1", "\n[", "A"])
def test_long_texts_take_linear_time(piece: str) -> None:
    long = piece * (400_000 // len(piece))
    started = time.process_time()
    own(long, sentences([long]), repeats=True)
    assert time.process_time() - started < 5


def test_what_is_recalled_later_was_said_first() -> None:
    said = "The report is due on Friday."
    assert step(
        event(1, "assistant", text(said)), event(2, "user", text(BLOCK.replace("I live in Lisbon.", said)))
    ) == [("assistant", said)]
