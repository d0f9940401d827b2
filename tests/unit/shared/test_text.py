from __future__ import annotations

import pytest

from shared.text import mission_problem


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
