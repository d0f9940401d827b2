"""Which words are guessed. An integration test shows that PostgreSQL reads the same."""

from __future__ import annotations

import time

import pytest

from shared.search.hot.guessing import guessed
from shared.search.lexicon import asked


def of(question: str) -> list[str] | None:
    words = asked(question, "en")
    return guessed(words.configs, words.texts, words.terms)


def test_words_are_stems_in_the_order_of_their_bytes_without_stop_words() -> None:
    assert of("When did the cranes unload Maria's ships?") == ["crane", "maria", "ship", "unload"]


def test_a_compound_is_also_its_parts() -> None:
    assert of("a self-portrait") == ["portrait", "self", "self-portrait"]


def test_no_words_are_a_guess_too() -> None:
    assert of("What is this?") == []


PARSED = [
    "crème brûlée",
    "see example.com/a",
    "a@b.de",
    "version 1.5",
    "at 10:30",
    "-5 degrees",
    "30-day",
    "a_b",
    "50%",
    "C++",
]


@pytest.mark.parametrize("text", PARSED)
def test_what_a_parser_may_read_otherwise_is_not_guessed(text: str) -> None:
    assert guessed(["english"], [text], []) is None


def test_questions_of_other_languages_are_not_guessed() -> None:
    assert guessed(["english", "german"], ["the crane", "the crane"], []) is None


def test_terms_follow_the_words() -> None:
    assert guessed(["english"], ["crane"], ["crane", "shared/auth.py"]) == ["crane", "shared/auth.py"]


@pytest.mark.parametrize(
    "text", ["a" * 200_000, "a-" * 100_000 + "!", "a." * 100_000, "- " * 100_000, "a " * 100_000]
)
def test_the_time_is_linear(text: str) -> None:
    def seconds(size: int) -> float:
        begun = time.perf_counter()
        guessed(["english"], [text[:size]], [])
        return time.perf_counter() - begun

    assert min(seconds(200_000) for _ in range(3)) < 100 * max(min(seconds(10_000) for _ in range(3)), 1e-4)
