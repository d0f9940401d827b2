"""Where a text without spaces is cut."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.packing import shorten
from shared.tokens.boundaries import before_word, boundary

ROWS = json.dumps([{"order": f"ORD{n}", "amount": 10 * n} for n in range(700_000, 700_200)]).replace(" ", "")
CHINESE = "总额1234567元已付" * 40


@pytest.mark.parametrize("text", [ROWS, CHINESE, "看看👨‍👩‍👧" * 30])
@pytest.mark.parametrize("most", range(90, 130))
def test_no_number_word_or_joined_emoji_is_cut(text: str, most: int) -> None:
    for place in (boundary(text, most // 2, most), len(shorten(text, most))):
        before, after = text[place - 1], text[place]
        assert not (before.isascii() and before.isalnum() and after.isascii() and after.isalnum())
        assert "\u200d" not in (before, after)


def test_what_is_no_word_is_cut_where_it_must_be() -> None:
    assert before_word("a" * 500, 300) == 300
    assert before_word("ab", 2) == 2


@given(st.text(min_size=1), st.data())
def test_a_cut_lies_within_the_text(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(1, len(text)))
    assert max(0, at - 64) < before_word(text, at) <= at
