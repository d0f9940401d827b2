"""Prices by model: exact, by any form of a model's name, and none where none is known."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.settings import Env, SettingsError
from shared.spending import Tokens
from shared.spending.prices import Price, Prices, bundled, text_of

COUNTS = st.integers(min_value=0, max_value=2**53)


def test_the_bundled_prices_have_a_date_and_order() -> None:
    prices = bundled()
    assert len(prices.as_of) == len("2026-03-21")
    for name, price in prices.models.items():
        read = price.input if price.cache_read is None else price.cache_read
        assert Decimal(0) <= read <= price.input <= (price.output or price.input), name


@pytest.mark.parametrize(
    "name",
    [
        "claude-haiku-4-5",
        "anthropic:claude-haiku-4-5",
        "anthropic:claude-haiku-4-5-20251001",
        "claude-haiku-4-5-latest",
    ],
)
def test_a_model_is_found_by_any_form_of_its_name(name: str) -> None:
    assert bundled().cost(name, Tokens(1_000_000, 1_000_000, 1_000_000, 1_000_000)) == Decimal("7.35")


@pytest.mark.parametrize("name", ["", ":", "gpt", "openai:unheard-of", "claude-haiku-4-5-2025"])
def test_an_unknown_model_has_no_price_and_never_costs_nothing(name: str) -> None:
    assert bundled().cost(name, Tokens(1, 1)) is None


def test_tokens_of_a_kind_without_a_price_have_no_cost() -> None:
    assert bundled().cost("gpt-5", Tokens(0, 1, 1, 0)) == Decimal("0.000010125")
    assert bundled().cost("gpt-5", Tokens(0, 1, 1, 1)) is None


@given(st.lists(st.tuples(COUNTS, COUNTS, COUNTS, COUNTS), max_size=20))
def test_costs_add_up_exactly(calls: list[tuple[int, int, int, int]]) -> None:
    price = Price(Decimal("0.02"), Decimal("0.6"), Decimal("0.0025"), Decimal("3.75"))
    costs = [price.of(Tokens(*call)) for call in calls]
    together = (
        price.of(Tokens(*(sum(column) for column in zip(*calls, strict=True)))) if calls else Decimal(0)
    )
    assert sum((Decimal(text_of(cost) or 0) for cost in costs), Decimal(0)) == together


def test_a_file_of_ones_own_replaces_and_adds(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(
        'as_of = "2026-11-01"\n[models]\n"gpt-5" = { input = 1, output = 2 }\n"own" = { input = 0 }\n'
    )
    prices = Prices.from_env(Env({"SCRUBJAY_PRICES": str(path)}))
    assert prices.as_of == "2026-11-01"
    assert prices.cost("gpt-5", Tokens(1_000_000, 500_000)) == Decimal(2)
    assert prices.cost("openai:own", Tokens(5, 0)) == Decimal(0)
    assert prices.cost("gpt-5-mini", Tokens(4_000_000, 0)) == Decimal(1)


@pytest.mark.parametrize(
    "text",
    [
        "as_of = 7\n[models]\n",
        'as_of = "x"\n',
        'as_of = "x"\n[models]\na = 3\n',
        'as_of = "x"\n[models]\na = { output = 3 }\n',
        'as_of = "x"\n[models]\na = { input = -1 }\n',
        'as_of = "x"\n[models]\na = { input = nan }\n',
        'as_of = "x"\n[models]\na = { input = "3" }\n',
        'as_of = "x"\n[models]\na = { input = true }\n',
        'as_of = "x"\n[models]\na = { input = 3, inputs = 3 }\n',
        "not toml",
    ],
)
def test_a_file_that_is_wrong_is_refused_at_the_start(tmp_path: Path, text: str) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(text)
    env = Env({"SCRUBJAY_PRICES": str(path)})
    Prices.from_env(env)
    with pytest.raises(SettingsError, match="SCRUBJAY_PRICES"):
        env.done()
