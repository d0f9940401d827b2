from __future__ import annotations

import pytest

from shared.text import mission_problem
from shared.tokens import estimate_tokens


@pytest.mark.parametrize(
    "name", ["m", "apollo-11", "release 2.4", "Übung", "日本", "a" * 200, "m:1?x=1#frag", "all-hands", "a..b"]
)
def test_a_name_of_a_mission(name: str) -> None:
    assert mission_problem(name) is None


@pytest.mark.parametrize(
    "name",
    [
        "*",
        "all",
        "checkpoint",
        "a/b",
        "/",
        "a*",
        " m",
        "m ",
        "a\nb",
        "a\u200bb",
        "a\x7f",
        "\u2028",
        ".",
        "..",
    ],
)
def test_a_name_that_no_route_could_reach(name: str) -> None:
    assert mission_problem(name) is not None


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("日本語", 1), ("x" * 40_000, 10_000)]
)
def test_tokens_are_characters_over_four_rounded_up(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens
