import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.quality.metrics import BUDGETS, NAMES, figures, mean, ndcg, recall, reciprocal_rank, within

IDS = st.lists(st.sampled_from("abcdefghij"), unique=True)


def test_recall_is_the_share_of_the_gold_found() -> None:
    assert recall(["a", "x", "b"], ["a", "b", "c"], 2) == pytest.approx(1 / 3)
    assert recall(["a", "x", "b"], ["a", "b", "c"], 3) == pytest.approx(2 / 3)


def test_ndcg_discounts_by_rank_over_the_best_order() -> None:
    assert ndcg(["x", "a", "b"], ["a", "b"]) == pytest.approx(
        (1 / math.log2(3) + 1 / math.log2(4)) / (1 + 1 / math.log2(3))
    )


def test_ndcg_can_be_perfect_with_more_gold_than_ranks() -> None:
    assert ndcg(list("abcdefghijkl"), list("abcdefghijkl"), 10) == 1


def test_reciprocal_rank_is_of_the_first_found() -> None:
    assert reciprocal_rank(["x", "y", "a", "b"], ["a", "b"]) == pytest.approx(1 / 3)
    assert reciprocal_rank(["x"], ["a"]) == 0


def test_packing_goes_past_what_does_not_fit() -> None:
    assert within([("a", 60), ("b", 50), ("c", 40)], 100) == {"a", "c"}


def test_an_item_counts_with_any_of_its_chunks() -> None:
    assert within([("a", 90), ("a", 10), ("b", 5)], 100) == {"a"}


@given(ranked=IDS, gold=IDS.filter(bool))
def test_every_figure_is_a_share_and_grows_with_depth(ranked: list[str], gold: list[str]) -> None:
    found = figures(ranked, {tokens: set(ranked[:n]) for n, tokens in enumerate(BUDGETS)}, gold)
    assert set(found) == set(NAMES)
    assert all(0 <= value <= 1 for value in found.values())
    assert found["r5"] <= found["r10"] <= found["r20"]
    assert found["b200"] <= found["b500"] <= found["b1000"] <= found["b2000"]


@given(gold=IDS.filter(bool))
def test_the_best_order_scores_one(gold: list[str]) -> None:
    assert ndcg(gold, gold) == 1
    assert reciprocal_rank(gold, gold) == 1


def test_mean_is_by_figure() -> None:
    one = dict.fromkeys(NAMES, 1.0)
    none = dict.fromkeys(NAMES, 0.0)
    assert mean([one, none, none]) == dict.fromkeys(NAMES, 0.3333)
