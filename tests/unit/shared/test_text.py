from __future__ import annotations

import re
import unicodedata

import pytest

from shared.text import SEEN, is_blank, mission_problem


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


# Formats that are drawn: signs of Arabic, Syriac and Kaithi that stand around numbers.
DRAWN = {
    "\u0600",
    "\u0601",
    "\u0602",
    "\u0603",
    "\u0604",
    "\u0605",
    "\u06dd",
    "\u070f",
    "\u0890",
    "\u0891",
    "\u08e2",
}
BLANKS = {
    letter
    for letter in map(chr, range(0x10000))
    if letter.isspace() or unicodedata.category(letter) in ("Cc", "Cf", "Zl", "Zp", "Zs")
} - {*DRAWN, "\0"}


def test_white_space_controls_and_formats_are_blank() -> None:
    assert not [letter for letter in BLANKS if not is_blank(letter)]
    assert is_blank("".join(sorted(BLANKS)))
    assert is_blank("")


@pytest.mark.parametrize("letter", ["\u2800", "\u3164", "\u115f", "\uffa0", "\ufe0f", "\u034f"])
def test_what_a_reader_does_not_see_is_blank(letter: str) -> None:
    assert is_blank(f" {letter}\n")


def test_nothing_else_is_blank() -> None:
    """But for marks and signs without a shape, and for what Unicode has yet to fill with them."""
    others = [chr(code) for code in range(0x10000) if not 0xD800 <= code < 0xE000 and is_blank(chr(code))]
    assert {unicodedata.category(letter) for letter in {*others} - BLANKS} <= {"Mn", "Lo", "So", "Cn"}
    assert len({*others} - BLANKS) < 50


@pytest.mark.parametrize(
    "text", ["a", "\u200bé", " .", "日", "👍🏽", "\u0301", "\U0010ffff", *sorted(DRAWN)[:1]]
)
def test_what_shows_something(text: str) -> None:
    assert not is_blank(text)
    assert not is_blank(f"\u200b {text}\t")


def test_the_pattern_means_the_same_in_python_and_ecmascript() -> None:
    """It is one class of escapes that both have, without a class such as `\\s`, of which each has its own."""
    assert re.fullmatch(r"\[\^(?:(?:\\x[0-9a-f]{2}|\\u[0-9a-f]{4})-?)+\]", SEEN)
