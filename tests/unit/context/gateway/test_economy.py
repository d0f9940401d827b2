"""Whether a batch pays, worked out by hand."""

from __future__ import annotations

from services.context.gateway.paging.economy import Candidate, Rates, decide, expected_turns, rates_of
from shared.spending.prices import bundled

RATES = Rates(input=1.0, read=0.1, write=1.25, output=5.0)


def block(before: int, tokens: int = 10_000, waited: int = 40, age: int = 40) -> Candidate:
    return Candidate(before, tokens, 100, age, waited)


def test_an_old_session_gains_from_one_batch() -> None:
    choice = decide([block(1_000), block(11_000)], 25_000, 60, RATES)
    assert choice is not None
    assert sorted(choice.moved) == [0, 1]
    # Read: 19,800 tokens less in 61 requests. Written anew: what follows the first block, less what is saved.
    assert choice.gain < 0.1 * 19_800 * 61 - (25_000 - 1_000 - 19_800) * 1.15


def test_a_young_session_does_not_pay_for_it() -> None:
    assert decide([block(1_000, waited=1, age=4)], 200_000, 4, RATES) is None


def test_it_waits_until_waiting_has_cost_as_much() -> None:
    assert decide([block(1_000, waited=1)], 60_000, 100, RATES) is None
    assert decide([block(1_000, waited=70)], 60_000, 100, RATES) is not None


def test_what_comes_back_too_often_stays() -> None:
    small = block(1_000, tokens=300)
    choice = decide([small, block(2_000, tokens=40_000)], 60_000, 60, RATES)
    assert choice is not None
    assert choice.moved == (1,)


def test_without_a_cache_nothing_is_lost() -> None:
    plain = rates_of(None, anthropic=True, cached=False)
    assert plain.write == plain.read == plain.input
    assert decide([block(0, waited=1)], 50_000, 20, plain) is not None


def test_prices_are_those_of_the_table() -> None:
    rates = rates_of(bundled().find("claude-sonnet-4-5-20250929"), anthropic=True, cached=True)
    assert rates == Rates(3.0, 0.3, 3.75, 15.0)
    assert rates_of(bundled().find("gpt-5"), anthropic=False, cached=True) == Rates(1.25, 0.125, 1.25, 10.0)


def test_a_session_is_expected_to_last_as_long_again() -> None:
    assert [expected_turns(turns) for turns in (0, 10, 1_000)] == [0, 10, 200]
