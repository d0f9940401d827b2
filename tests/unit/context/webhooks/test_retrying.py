"""When a failed event is sent again."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.context.webhooks.retrying import MOST_ATTEMPTS, delay, retry_after

NOW = datetime(2030, 1, 1, tzinfo=UTC)


@given(st.integers(1, MOST_ATTEMPTS), st.floats(0, 1))
def test_waits_grow_up_to_an_hour(attempts: int, share: float) -> None:
    longest = min(3_600.0, 0.5 * 2 ** (attempts - 1))
    assert longest / 2 <= delay(attempts, None, share) <= longest


def test_all_attempts_take_about_a_day() -> None:
    shortest, longest = (
        sum(delay(attempts, None, share) for attempts in range(1, MOST_ATTEMPTS)) for share in (0, 1)
    )
    assert 12 * 3_600 < shortest < longest < 27 * 3_600


@given(st.floats(0, 1e9), st.integers(1, MOST_ATTEMPTS))
def test_what_the_receiver_asks_for_is_waited_for_within_six_hours(asked: float, attempts: int) -> None:
    assert delay(attempts, asked) >= min(asked, 6 * 3_600)
    assert delay(attempts, asked) <= 6 * 3_600


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("120", 120.0),
        ("0", 0.0),
        ("Tue, 01 Jan 2030 00:01:00 GMT", 60.0),
        ("Mon, 31 Dec 2029 00:00:00 GMT", 0.0),
        ("soon", None),
        ("-5", None),
        ("9" * 5_000, None),
        ("Tue, 01 Jan 2030 00:01:00", None),
    ],
)
def test_retry_after_is_a_number_or_a_date(value: str | None, seconds: float | None) -> None:
    assert retry_after(value, NOW) == seconds
