"""Rows that wait: none is lost or doubled below the limit, and tenants take turns."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from shared.costs.waiting import Waiting
from shared.spending import Cost


def costs(*names: str) -> list[Cost]:
    return [Cost(kind="call", model=name) for name in names]


def test_tenants_take_turns() -> None:
    waiting = Waiting(100)
    waiting.add("loud", costs(*"abcdef"))
    waiting.add("quiet", costs("x"))
    assert waiting.take(2) == ("loud", costs("a", "b"))
    # The database does not take them: the other tenant is next.
    waiting.add("loud", costs("a", "b"))
    assert waiting.take(2) == ("quiet", costs("x"))
    assert waiting.take(2) == ("loud", costs("c", "d"))


def test_whoever_has_most_loses_rows_when_too_many_wait() -> None:
    waiting = Waiting(4)
    assert waiting.add("quiet", costs("x")) == 0
    assert waiting.add("loud", costs(*"abcde")) == 2
    assert len(waiting) == 4
    assert waiting.take(9) == ("quiet", costs("x"))
    assert waiting.take(9) == ("loud", costs("c", "d", "e"))


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 5)), max_size=30))
def test_what_is_added_is_taken_once(steps: list[tuple[str, int]]) -> None:
    waiting, added, taken = Waiting(1000), Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for number, (tenant, take) in enumerate(steps):
        waiting.add(tenant, costs(f"{number}"))
        added[tenant, f"{number}"] += 1
        if take:
            whose, rows = waiting.take(take)
            taken.update((whose, row.model) for row in rows)
    while len(waiting):
        whose, rows = waiting.take(3)
        assert rows
        taken.update((whose, row.model) for row in rows)
    assert taken == added
