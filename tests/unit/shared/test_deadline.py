from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.deadline import Deadline, from_header


def test_what_is_left_shrinks_and_is_never_negative() -> None:
    deadline = Deadline(60)
    first = deadline.left()
    assert 0 < first <= 60
    assert deadline.left() <= first
    assert Deadline(0).left() == 0
    assert Deadline(-5).left() == 0
    assert Deadline(-5).left_ms() == 0


def test_a_hop_leaves_its_caller_some_time() -> None:
    deadline = Deadline(60)
    assert deadline.at - deadline.shorter(2).at == pytest.approx(2)
    assert Deadline(1).shorter(2).left() == 0


@pytest.mark.parametrize(("header", "at_most"), [("250", 0.25), ("1", 0.001), ("0", 0), ("2000", 2)])
def test_a_caller_may_ask_for_less(header: str, at_most: float) -> None:
    assert from_header(header, 2.0).left() <= at_most


@pytest.mark.parametrize("header", ["60000", "999999999", "9999999999", "1" * 5_000])
def test_a_caller_may_not_ask_for_more(header: str) -> None:
    assert 0 < from_header(header, 30.0).left() <= 30


@given(st.none() | st.text())
def test_what_cannot_be_read_is_ignored(header: str | None) -> None:
    readable = header is not None and header.isascii() and header.isdigit()
    assert readable or from_header(header, 30.0).left() > 20


@pytest.mark.parametrize("header", ["", "-1", "1.5", "1e3", "²", "٣", "0x10", " 5", "soon"])
def test_only_plain_digits_are_read(header: str) -> None:
    assert from_header(header, 30.0).left() > 20
