"""A text is split into its sentences at an end of prose and at ends of lines."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from services.context.assembly.supersession.statements import split

PLAIN = re.compile(r"(?<=[.!?])\s+(?=[A-Z])|\n+")


@given(st.text(st.sampled_from(".!?\n\t aAbZ\u2028é"), max_size=40))
def test_the_quick_pattern_splits_where_the_plain_one_does(text: str) -> None:
    assert list(split(text)) == [part for piece in PLAIN.split(text) if (part := piece.strip())]
