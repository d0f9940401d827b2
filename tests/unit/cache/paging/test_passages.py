"""The lines that answer a question about an object."""

from __future__ import annotations

import ast
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from services.cache.sessions.paging.passages import SHARE, answer, around
from shared.tokens import estimate_tokens

ROOT = Path(__file__).parents[4]


def test_where_something_is_defined_is_quoted_in_nearly_every_file() -> None:
    asked = found = 0
    for path in sorted(ROOT.glob("shared/*/*.py")):
        text = path.read_text()
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                passage = answer(f"Where is {node.name} defined and what does it take?", text)
                asked += 1
                found += passage is not None and passage.first_line <= node.lineno <= passage.last_line
    assert asked > 200
    assert found >= 0.8 * asked


def test_a_passage_takes_a_small_share_of_a_large_text() -> None:
    text = "\n".join(f"line {number} says that value {number} is {number * 3}" for number in range(2_000))
    passage = answer("What is value 1234?", text)
    assert passage is not None
    assert passage.first_line == 1_235
    assert passage.tokens <= SHARE * estimate_tokens(text)


def test_an_error_line_is_quoted() -> None:
    text = "starting\n" * 300 + "TokenExpired: the token ended at noon\n" + "stopping\n" * 300
    passage = answer("Which token expired error was there?", text)
    assert passage is not None
    assert passage.text.startswith("TokenExpired: the token ended at noon")


def test_a_text_without_a_word_of_the_question_answers_nothing() -> None:
    assert answer("What does the ledger hold?", "nothing here\nnor here") is None
    assert answer("", "text") is None


@given(st.lists(st.text("ab \u00e9", max_size=6), min_size=1, max_size=8), st.data())
def test_the_lines_around_a_quote_hold_it_and_are_whole(lines: list[str], data: st.DataObject) -> None:
    text = "\n".join(lines)
    start = data.draw(st.integers(0, len(text)))
    quote = text[start : data.draw(st.integers(start, len(text)))]
    found = around(quote, text)
    assert quote in found.text
    assert found.text == "\n".join(lines[found.first_line - 1 : found.last_line])
