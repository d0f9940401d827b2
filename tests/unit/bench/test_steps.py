"""Steps out of transcripts, the steps that show what a patch changes, and probes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bench.steps.asking import Ranking
from bench.steps.probes import probes
from bench.steps.sessions import Session, Step, _steps, gold

LINE = "return int(value.total_seconds() / base)"
FIXED = "return int(round(value.total_seconds() / base))"


def step(seq: int, tool: str, call: str, output: str, session: str = "s") -> Step:
    return Step(f"{session}:{seq}", session, seq, tool, "", call, output)


def event(seq: int, kind: str, text: str, tool: str = "") -> dict[str, Any]:
    return {"seq": seq, "kind": kind, "tool": tool, "key": "", "text": text}


def test_a_step_is_a_call_with_the_thought_before_it_and_its_output() -> None:
    events = [
        event(0, "user", "Fix it."),
        event(1, "assistant", "Let me look."),
        event(2, "tool_call", "a.py", "open"),
        event(3, "tool_call", "b.py", "open"),
        event(4, "tool_result", "one", "open"),
        event(5, "tool_result", "two", "open"),
    ]
    assert [(each.thought, each.call, each.output) for each in _steps("s", events)] == [
        ("Let me look.", "a.py", "one"),
        ("", "b.py", "two"),
    ]


EDIT = json.dumps({"file_path": "a.py", "old_string": f"    {LINE}", "new_string": f"    {FIXED}"})
LISTING = f"[File: a.py (9 lines total)]\n7:x = 1\n<<<<< START CURSOR >>>>>\n8:    {LINE}\n<<<<< END CURSOR >>>>>\n9:"


@pytest.mark.parametrize(
    "edit",
    [
        step(4, "Edit", EDIT, "updated"),
        step(4, "edit", f"edit 8:8\n    {FIXED}\nend_of_edit", "updated"),
        step(4, "edit", f"edit\n    {FIXED}\nend_of_edit", "updated"),
    ],
)
def test_gold_shows_what_an_edit_replaces_or_has_written(edit: Step) -> None:
    steps = [
        step(1, "ls", "ls", "a.py"),
        step(2, "open", "a.py", LISTING),
        step(3, "python", "run.py", "344"),
        edit,
        step(5, "diff", "", f"-    {LINE}\n+    {FIXED}"),
        step(6, "cat", "a.py", FIXED),
    ]
    assert gold(Session("s", "Fix it.", steps), steps) == ["s:2", "s:5", "s:6"]


def test_a_line_that_was_shown_before_it_was_written_is_not_the_edits() -> None:
    steps = [
        step(1, "cat", "b.py", FIXED),
        step(2, "Write", json.dumps({"content": FIXED}), "created"),
        step(3, "cat", "b.py", FIXED),
    ]
    assert gold(Session("s", "Write it.", steps), steps) == []


def test_probes_are_held_by_their_steps_and_repeat_with_the_seed() -> None:
    steps = [
        step(1, "python", "x", "KeyError: 'total_seconds' in src/fields.py"),
        step(2, "ls", "", "none"),
    ]
    asked = probes(steps, 20, seed=1)
    assert asked == probes(steps, 20, seed=1)
    assert {probe.kind for probe in asked} == {"error", "identifier", "path"}
    assert all(probe.text in probe.step.output for probe in asked)


def test_a_wanted_step_counts_where_a_wanted_one_shows_its_lines() -> None:
    ranking = Ranking(["a", "b"], {"a": {"c"}, "b": {"d"}})
    assert ranking.figures(["a", "c"]) == {"r10": 1.0, "ndcg10": 1.0}
    assert ranking.figures(["d"]) == {"r10": 0.0, "ndcg10": 0.0}, "b does not show the lines that matter"
