"""Whoever comes next finds a place, and a webhook's pace follows its receiver."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.context.webhooks.sharing import Paces, Shares


def take_all(shares: Shares, who: str) -> int:
    room = shares.room(who)
    for _ in range(room):
        shares.take(who)
    return room


@pytest.mark.parametrize("greedy", [1, 2, 16, 32])
def test_those_who_take_all_they_can_leave_room(greedy: int) -> None:
    shares = Shares(256, 16)
    held: dict[str, int] = {}
    # What is sent ends, and each takes again what it may.
    for round_ in range(200):
        who = f"greedy {round_ % greedy}"
        for _ in range(held.pop(who, 0)):
            shares.give(who)
        held[who] = take_all(shares, who)
    assert 1 <= max(held.values()) <= 16
    assert shares.free >= 256 // (greedy + 1) - 1
    assert shares.room("next") >= 1


def test_one_takes_no_more_than_its_own() -> None:
    shares = Shares(256, 16)
    assert take_all(shares, "a") == 16
    assert take_all(shares, "a") == 0
    shares.give("a")
    assert shares.room("a") == 1


@given(st.lists(st.sampled_from("abcdef"), max_size=80))
def test_there_are_never_more_than_places(takers: list[str]) -> None:
    shares = Shares(10, 4)
    for who in takers:
        take_all(shares, who)
        assert shares.free >= 0


def test_a_pace_grows_by_one_and_halves() -> None:
    paces = Paces(8)
    seen = []
    for delivered in [True] * 9 + [False] * 4:
        paces.told("t", 1, delivered=delivered)
        seen.append(paces.room("t", {}).get("1", Paces.FIRST))
    assert seen == [2, 3, 4, 5, 6, 7, 8, 8, 8, 4, 2, 1, 1]


def test_lanes_being_sent_leave_less_room() -> None:
    paces = Paces(8)
    for _ in range(3):
        paces.told("t", 1, delivered=True)
    paces.told("another tenant", 2, delivered=True)
    assert paces.room("t", {1: 3, 5: 1}) == {"1": 1, "5": 0}
