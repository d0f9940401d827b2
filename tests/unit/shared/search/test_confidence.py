"""Confidence in what is kept for a user: it halves every 30 days, and reinforcement gives half of the rest back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.search.experience import HALF_LIFE, confident, decayed, reinforced

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SHARES = st.floats(0, 1)
AGES = st.timedeltas(timedelta(), timedelta(days=3_650))


@pytest.mark.parametrize("halvings", range(5))
def test_it_halves_with_every_half_life(halvings: int) -> None:
    assert timedelta(days=30) == HALF_LIFE
    assert decayed(0.8, NOW - halvings * HALF_LIFE, NOW) == pytest.approx(0.8 / 2**halvings)


@given(SHARES, AGES, AGES)
def test_it_only_falls_and_in_as_many_steps_as_one_likes(
    confidence: float, first: timedelta, then: timedelta
) -> None:
    at_first = decayed(confidence, NOW, NOW + first)
    at_last = decayed(confidence, NOW, NOW + first + then)
    assert 0 <= at_last <= at_first <= confidence
    assert decayed(at_first, NOW + first, NOW + first + then) == pytest.approx(at_last)


@given(SHARES, AGES)
def test_a_clock_behind_that_of_the_writer_changes_nothing(confidence: float, ahead: timedelta) -> None:
    assert decayed(confidence, NOW + ahead, NOW) == confidence


@given(SHARES)
def test_a_reinforcement_gives_back_half_of_what_is_missing(confidence: float) -> None:
    after = reinforced(confidence)
    assert confidence <= after <= 1
    assert 1 - after == pytest.approx((1 - confidence) / 2)


@given(SHARES, SHARES)
def test_a_score_follows_the_confidence_and_keeps_half(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 0.5 <= confident(low) <= confident(high) <= 1
