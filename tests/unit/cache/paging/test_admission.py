"""Which content becomes an object."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from services.cache.sessions.paging.admission import admit, less_novel


def test_a_file_that_is_new_is_admitted() -> None:
    assert admit("file_context", "def f():\n    return 1\n" * 3, tokens=200).admitted


def test_an_empty_answer_that_was_there_before_is_not() -> None:
    assert not admit("tool_result", "ok", tokens=1, likeness=1.0, turns_ago=20).admitted


@given(st.text(), st.integers(0, 10**6), st.floats(0, 1), st.integers(0, 1_000))
def test_the_score_and_its_parts_are_shares(text: str, tokens: int, likeness: float, turns_ago: int) -> None:
    found = admit("tool_result", text, tokens=tokens, likeness=likeness, turns_ago=turns_ago)
    assert all(
        0 <= part <= 1 for part in (found.total, found.type, found.novelty, found.utility, found.recency)
    )
    assert found.admitted == (found.total >= found.threshold)


def test_what_is_shown_already_is_admitted_only_where_it_is_a_decision() -> None:
    text, tokens = "line one\nline two\n", 200
    assert not admit("tool_result", text, tokens=tokens, likeness=1.0).admitted
    assert not admit("file_context", text, tokens=tokens, likeness=1.0).admitted
    assert admit("design_decision", text, tokens=tokens, likeness=1.0).admitted


@given(st.text(), st.integers(0, 10**6), st.floats(0, 1))
def test_a_score_becomes_less_novel_as_if_it_had_been_so(text: str, tokens: int, likeness: float) -> None:
    new = admit("tool_result", text, tokens=tokens)
    assert less_novel(new, likeness) == admit("tool_result", text, tokens=tokens, likeness=likeness)
