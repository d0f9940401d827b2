"""How much a key may do: the rate's arithmetic, what is in force, and what may be given on."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.context.keys.grants import Holder, narrowed, require_within
from services.context.keys.limits import Allowance, headers, take
from services.context.keys.schemas import NO_LIMITS, KeyInput, Limits
from shared.auth import Principal
from shared.errors import Forbidden

RATES = st.floats(0.01, 10_000)
BURSTS = st.integers(1, 1_000)
PAUSES = st.lists(st.floats(0, 100), max_size=200)


@given(RATES, BURSTS, PAUSES)
def test_no_time_sees_more_than_its_rate_and_a_burst(rate: float, burst: int, pauses: list[float]) -> None:
    due, now, passed = 0.0, 1_000.0, []
    for pause in pauses:
        now += pause / rate
        due, wait, full = take(due, now, rate, burst)
        assert 0 <= full <= burst / rate + 1e-6
        if not wait:
            passed.append(now)
    for first in range(len(passed)):
        for last in range(first, len(passed)):
            assert last - first + 1 <= burst + (passed[last] - passed[first]) * rate + 1e-3


@given(RATES, BURSTS)
def test_a_burst_goes_at_once_and_the_next_when_it_was_told(rate: float, burst: int) -> None:
    due, now = 0.0, 1_000.0
    for _ in range(burst):
        due, wait, _ = take(due, now, rate, burst)
        assert not wait
    due, wait, _ = take(due, now, rate, burst)
    assert wait == pytest.approx(1 / rate, rel=1e-3)
    assert not take(due, now + wait, rate, burst)[1]


def test_the_nearest_limit_is_told() -> None:
    second = Allowance("requests_per_second", 2.5, 5, 2, 3, 0.7, 0.0)
    day = Allowance("requests_per_day", 100, 100, 86_400, 1, 10.2, 0.0)
    assert headers([]) == []
    assert dict(headers([second, day])) == {
        b"ratelimit-limit": b"100",
        b"ratelimit-remaining": b"1",
        b"ratelimit-reset": b"11",
        b"ratelimit-policy": b'5;w=2;comment="requests_per_second", 100;w=86400;comment="requests_per_day"',
    }


@pytest.mark.parametrize(
    ("own", "default", "in_force"),
    [
        (Limits(), Limits(), Limits()),
        (Limits(2.5), Limits(), Limits(2.5, 3)),
        (Limits(0.1), Limits(50, 7, 8, 9), Limits(0.1, 1, 8, 9)),
        (Limits(None, 4), Limits(50, 7), Limits(50, 4)),
        (Limits(None, None, 1), Limits(50, None, 8, 9), Limits(50, 50, 1, 9)),
        (Limits(None, 4), Limits(), Limits(None, 4)),
    ],
)
def test_what_is_in_force(own: Limits, default: Limits, in_force: Limits) -> None:
    assert own.over(default) == in_force


NAMES = st.sampled_from(["a", "b", "c"])
GRANTS = st.none() | st.frozensets(NAMES)
TIMES = st.none() | st.integers(1, 5).map(lambda day: datetime(2030, 1, day, tzinfo=UTC))
LIMITS = st.builds(Limits, *[st.none() | st.integers(1, 5)] * 4)
HOLDERS = st.builds(
    Holder,
    st.builds(
        Principal,
        tenant=st.just("t"),
        key=st.just("key:1"),
        access=st.just(frozenset({"admin"})),
        agent=st.none() | NAMES,
        missions=GRANTS,
        users=GRANTS,
    ),
    TIMES,
    LIMITS,
)
WANTED = st.builds(
    KeyInput,
    name=st.just("n"),
    agent=st.none() | NAMES,
    missions=GRANTS.map(lambda names: names if names is None else sorted(names)),
    users=GRANTS.map(lambda names: names if names is None else sorted(names)),
    expires_at=TIMES,
    **{name: st.none() | st.integers(1, 5) for name in Limits.__struct_fields__},
)


@given(HOLDERS, WANTED)
def test_what_is_given_lies_within_what_is_held(holder: Holder, wanted: KeyInput) -> None:
    try:
        given = narrowed(holder, wanted)
    except Forbidden:
        return
    for name in (*Limits.__struct_fields__, "expires_at", "agent", "missions", "users"):
        asked: Any = getattr(wanted, name)
        assert asked is None or getattr(given, name) == asked
    own = holder.principal
    assert own.agent is None or given.agent == own.agent
    for granted, held in ((given.missions, own.missions), (given.users, own.users)):
        assert held is None or (granted is not None and set(granted) <= held)
    assert _at_most(given.expires_at, holder.expires_at)
    for name in Limits.__struct_fields__:
        assert _at_most(getattr(given, name), getattr(holder.limits, name))


def _at_most(value: Any, most: Any) -> bool:
    return most is None or (value is not None and value <= most)


@given(WANTED)
def test_who_is_not_bound_gives_anything(wanted: KeyInput) -> None:
    assert narrowed(Holder(Principal("t", "command", frozenset({"admin"}))), wanted) == wanted


def test_a_key_that_never_ends_outlives_any() -> None:
    holder = Holder(Principal("t", "k", frozenset()), datetime.now(UTC) + timedelta(days=1))
    with pytest.raises(Forbidden):
        require_within(holder, None, NO_LIMITS)


def test_a_rate_has_a_burst() -> None:
    assert Limits(0.5).over(NO_LIMITS).burst == math.ceil(0.5)
