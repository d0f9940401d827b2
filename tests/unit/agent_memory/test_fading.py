"""How facts fade that nobody states again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.agent_memory.facts.fading import FLOOR, HALF_LIVES, Kind, kind_of, weight

NOW = datetime(2026, 3, 4, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("predicate", "kind"),
    [
        ("born in", "lasting"),
        ("dog's name", "lasting"),
        ("lives in", "state"),
        ("favourite colour", "taste"),
        ("knows", "other"),
    ],
)
def test_a_predicate_has_a_kind(predicate: str, kind: Kind) -> None:
    assert kind_of(predicate) == kind


def test_what_is_above_the_floor_halves() -> None:
    half_life = HALF_LIVES["state"]
    assert half_life is not None
    assert weight("lives in", NOW, NOW) == (1.0, 180.0)
    assert weight("lives in", NOW - half_life, NOW).weight == 0.75
    assert weight("lives in", NOW - 2 * half_life, NOW).weight == 0.625
    assert weight("born in", NOW - 20 * half_life, NOW) == (1.0, None)
    assert weight("lives in", NOW + half_life, NOW).weight == 1.0


@given(st.timedeltas(timedelta(), timedelta(days=36_500)), st.timedeltas(timedelta(), timedelta(days=36_500)))
def test_older_never_counts_more_and_never_too_little(one: timedelta, other: timedelta) -> None:
    older, newer = (weight("likes", NOW - age, NOW).weight for age in (max(one, other), min(one, other)))
    assert FLOOR <= older <= newer <= 1
