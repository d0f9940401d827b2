"""How much of a question PostgreSQL reads."""

from __future__ import annotations

import pytest

from shared.search.lexicon import asked

LONGEST = 8_000


@pytest.mark.parametrize("unit", ["e@1", "a_", "./", "lease ", "-./~", "été "])
def test_a_repeated_word_is_read_once(unit: str) -> None:
    question = (unit * LONGEST)[:LONGEST]
    assert all(len(text) < 50 for text in asked(question).texts)


def test_of_a_long_question_so_many_words_are_read_as_can_count() -> None:
    words = [f"word{number}x" for number in range(900)]
    for text in asked(" ".join(words)[:LONGEST]).texts:
        assert text.split() == words[:256]


def test_an_ordinary_question_is_read_as_it_is() -> None:
    question = "What did the build say about the build, <a href='x'>and why</a>?  " * 10
    assert set(asked(question, "en").texts) == {question}
