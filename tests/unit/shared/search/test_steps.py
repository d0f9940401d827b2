"""Kinds of steps, and what a task and a quoted text raise."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from shared.search.evidence import Candidate, SearchResult, StoreResult
from shared.search.relevance import Question, score
from shared.search.steps import TASK_WORDS, step_of

NOW = datetime(2026, 5, 1, tzinfo=UTC)
TASK = "Serialising a time in milliseconds loses one of them, so round before you cast. " * 3


def found(id_: int, text: str, **given: Any) -> Candidate:
    values: dict[str, Any] = {"places": [1], "tf": [0.5], "cosine": 0.7, "words": 40, **given}
    return Candidate(id=id_, scope="mission:m", kind="intel", text=text, created_at=NOW, **values)


def order(query: str, *candidates: Candidate) -> list[int]:
    store = StoreResult(documents=100, df=[10], candidates=list(candidates))
    result = SearchResult(lexemes=["round"], stores={"psychic_cache": store})
    question = Question(query, "bge-small-en-v1.5-int8")
    return [each.candidate.id for each in score(question, [result])]


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("open src/fields.py 1474\n[File: src/fields.py (1997 lines total)]", "read"),
        ('Now the module.\n\nRead: {"file_path": "tests/test_a.py"}\n\nimport pytest', "read"),
        ("edit 9:9\n    model = s.model()\nend_of_edit", "edit"),
        ('Edit: {"old_string": "a", "new_string": "b"}', "edit"),
        ('Bash: {"command": "uv run pytest tests -v"}', "test"),
        ('Bash: {"command": "cat setup.cfg"}', "read"),
        ('Bash: {"command": "git diff HEAD~1"}', "diff"),
        ("submit\n\ndiff --git a/a.py b/a.py", "diff"),
        ('TodoWrite: {"todos": []}', "plan"),
        ("python reproduce.py\n344", "run"),
        ("$ curl -s localhost", "run"),
        ("Caroline went to the park with her dog.", None),
    ],
)
def test_a_step_is_known_by_its_first_lines(text: str, step: str | None) -> None:
    assert step_of(text) == step


def test_a_task_finds_what_shows_a_file_before_what_was_run_or_planned() -> None:
    run, plan = found(1, "python a.py", step="run", cosine=0.72), found(2, "todos", step="plan", cosine=0.75)
    read = found(3, "[File: a.py", step="read")
    assert len(TASK.split()) >= TASK_WORDS
    assert order(TASK, run, plan, read) == [3, 1, 2]


def test_a_short_question_finds_every_kind_of_step_alike() -> None:
    run, read = found(1, "python a.py", step="run", cosine=0.72), found(2, "[File: a.py", step="read")
    assert order("What did the script print?", run, read) == [1, 2]


@pytest.mark.parametrize(
    "query", ["log_record", "KeyError: 'a' in  load", "src/pichay/proxy.py", "-    return int(x)"]
)
def test_what_holds_the_question_word_for_word_comes_first(query: str) -> None:
    apart = found(1, "log records, KeyError, a load of src and pichay, proxy: return int x", cosine=0.9)
    whole = found(2, f"it says ({' '.join(query.split())})")
    assert order(query, apart, whole) == [2, 1]


def test_part_of_a_longer_name_is_not_the_name() -> None:
    longer = found(1, "the catalog of records", cosine=0.72)
    assert order("catalo", longer, found(2, "it is a catalo")) == [2, 1]


def test_a_task_prefers_the_steps_of_the_session_that_holds_more_of_its_words() -> None:
    def steps(session: str, first: int, **held: Any) -> list[Candidate]:
        return [
            found(first, "[File: a.py", step="read", session_id=session, seq=0, **held),
            found(first + 1, "[File: b.py", step="read", session_id=session, seq=9, places=[], tf=[]),
        ]

    other, own = steps("other", 1, places=[], tf=[]), steps("own", 3, cosine=0.6)
    other[1].cosine = 0.78
    assert order(TASK, *other, *own)[:3] == [3, 4, 2]
    assert order("Round it.", *other, *own)[:3] == [3, 2, 4], "other questions weigh a session less"


def test_the_assistant_counts_less_only_in_a_chat() -> None:
    said = {"speaker": "assistant", "session_id": "s", "cosine": 0.72}
    assistant, other = found(1, "Round it first.", **said), found(2, "Cast it last.", session_id="s")
    assert order("round", assistant, other) == [1, 2], "nobody else speaks"
    other.speaker = "tool"
    assert order("round", assistant, other) == [1, 2]
    other.speaker = "Ana"
    assert order("round", assistant, other) == [2, 1]
    shown = found(1, "Round it first.", step="run", **said)
    assert order("round", shown, other) == [2, 1], "an answer that shows a command is no step"
    shown.step_is_stated = True
    assert order("round", shown, other) == [1, 2]
