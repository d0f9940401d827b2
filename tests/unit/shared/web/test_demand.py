"""What each tenant wants of a service, and how much of it is too much."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.web.door.demand import DECAY_SECONDS, Seconds, fair_share, limit_of

CAPACITY = 4 * DECAY_SECONDS
MUCH, LITTLE = 8 * DECAY_SECONDS, 0.2 * DECAY_SECONDS

amounts = st.lists(st.floats(0.0, 1e3), max_size=40)


@given(amounts, st.floats(0.01, 1e3))
def test_a_fair_share_is_what_is_left_by_those_who_want_less(wanted: list[float], capacity: float) -> None:
    share = fair_share(wanted, capacity)
    if math.isinf(share):
        assert sum(wanted) <= capacity * (1 + 1e-9)
    else:
        assert sum(min(each, share) for each in wanted) == pytest.approx(capacity)
        assert max(wanted) > share


@given(st.lists(st.tuples(st.floats(0.0, 1e3), st.floats(0.0, 1e3)), max_size=40))
def test_not_all_want_too_much(tenants: list[tuple[float, float]]) -> None:
    limit = limit_of(tenants, CAPACITY)
    assert not tenants or not all(limit.is_exceeded_by(*each) for each in tenants)


@pytest.mark.parametrize("heavy", [1, 2, 3, 20])
def test_however_many_want_too_much_none_is_taken_for_the_usual(heavy: int) -> None:
    limit = limit_of([(MUCH, 1.0)] * heavy + [(LITTLE, 1.0)], CAPACITY)
    assert limit.spares_others
    assert limit.is_exceeded_by(MUCH, 1.0)
    assert not limit.is_exceeded_by(LITTLE, 1.0)


@pytest.mark.parametrize("callers", [1, 3, 8])
def test_of_equals_nobody_wants_too_much(callers: int) -> None:
    each = (callers * DECAY_SECONDS, 1.0)
    assert not limit_of([each] * 3, CAPACITY).is_exceeded_by(*each)


def test_where_nobody_is_content_none_takes_more_than_the_others() -> None:
    limit = limit_of([(2 * MUCH, 6.0), (MUCH, 2.0)], CAPACITY)
    assert not limit.spares_others
    assert limit.is_exceeded_by(2 * MUCH, 6.0)
    assert not limit.is_exceeded_by(2 * MUCH, 4.0)


def test_of_nobody_none_wants_too_much() -> None:
    assert not limit_of([], CAPACITY).is_exceeded_by(1e9, 1e9)


def test_seconds_add_up_while_they_pass_and_are_forgotten_afterwards() -> None:
    seconds = Seconds(10.0)
    seconds.begin(10.0)
    seconds.begin(11.0)
    assert seconds.at(12.0) == pytest.approx(3.0)
    seconds.leave_out(0.5)
    assert seconds.at(12.0) == pytest.approx(2.5)
    seconds.end(10.5, 12.0)
    seconds.end(11.0, 12.0)
    seconds.add(1.0, 12.0)
    assert seconds.at(12.0) == pytest.approx(3.5)
    assert seconds.at(12.0 + DECAY_SECONDS) == pytest.approx(3.5 / math.e)
