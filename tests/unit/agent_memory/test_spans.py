"""When values hold after random statements, against a plain account of the days."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest

from services.agent_memory.facts.names import entity_key, predicate_key
from services.agent_memory.facts.writes.spans import END, Held, Span, Stated, Writer, close, state

FIRST = datetime(2020, 1, 1, tzinfo=UTC)
DAYS = 10
"""The last one has no end."""


def day(number: int) -> datetime:
    return FIRST + timedelta(days=number)


def days_of(held: list[Held]) -> dict[tuple[str, int], bool]:
    """Whether a trusted source says so, by value and day; raises AssertionError where a day is told twice."""
    told: dict[tuple[str, int], bool] = {}
    for each in held:
        for number in range(DAYS + 1):
            if each.span.start <= day(number) < each.span.stop:
                assert (each.value, number) not in told
                told[each.value, number] = each.trusted
    return told


def account(told: dict[tuple[str, int], bool], value: str, span: range, trusted: bool, only: bool) -> None:
    weak = {place for place, firm in told.items() if trusted or not firm}
    if only and span.stop > DAYS:
        begins = [n for name, n in weak if name != value and (name, n - 1) not in weak and n > span.start]
        span = range(span.start, min([span.stop, *begins]))
    if only:
        for name, number in weak:
            if name != value and number in span:
                del told[name, number]
    for number in span:
        told[value, number] = trusted or told.get((value, number), False)


@pytest.mark.parametrize("seed", range(20))
def test_statements_take_the_days_that_they_may(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(20):
        held: list[Held] = []
        told: dict[tuple[str, int], bool] = {}
        for place in range(8):
            value, trusted, only = chance.choice("abc"), chance.random() < 0.6, chance.random() < 0.6
            start = chance.randrange(DAYS)
            if chance.random() < 0.2:
                close(held, [each for each in held if each.value == value], day(start), Writer(trusted))
                for name, number in [*told]:
                    if name == value and number >= start and (trusted or not told[name, number]):
                        del told[name, number]
            else:
                stop = chance.randrange(start + 1, DAYS + 1) if chance.random() < 0.3 else None
                span = Span(day(start), END if stop is None else day(stop))
                state(held, Stated(value, Writer(trusted), None, span, only, place))
                account(told, value, range(start, DAYS + 1 if stop is None else stop), trusted, only)
            assert days_of(held) == told


def test_a_key_of_an_agent_takes_only_from_its_agent() -> None:
    held = [Held("a", True, Span(day(0)), "ana", id=1), Held("b", True, Span(day(0)), "mallory", id=2)]
    outcome = state(held, Stated("c", Writer(True, "mallory"), "mallory", Span(day(5)), only=True))
    assert [each.id for each in outcome.disputes] == [1]
    assert {each.value: each.span.stop for each in held} == {"a": END, "b": day(5), "c": END}


def test_the_same_value_of_another_agent_is_known() -> None:
    held = [Held("a", True, Span(day(0)), "ana", id=1)]
    outcome = state(held, Stated("a", Writer(True, "mallory"), "mallory", Span(day(5)), only=True))
    assert outcome.added == []
    assert outcome.holding is held[0]


def test_names_are_compared_without_case_and_spacing() -> None:
    assert entity_key("  Ana\u00a0 SOUSA ") == "ana sousa"
    assert predicate_key("Lives_in") == predicate_key("lives  in")
    assert len(entity_key("x" * 4_000).encode()) < 300
    assert entity_key("x" * 4_000) != entity_key("x" * 3_999)
