"""The p99 of a victim beside an attack, over its p99 alone."""

from __future__ import annotations

import random

from proofs.fairness.__main__ import _figures
from proofs.fairness.figures import figures, quantile
from proofs.fairness.measuring import Outcome


def test_a_slowdown_is_found_within_its_interval() -> None:
    draw = random.Random(1)
    rounds = [
        (
            [draw.lognormvariate(-4, 0.3) for _ in range(150)],
            [2 * draw.lognormvariate(-4, 0.3) for _ in range(150)],
        )
        for _ in range(7)
    ]
    found = figures(rounds)
    assert found.n == 1_050
    assert found.interval.low < 2.0 < found.interval.high
    assert found.interval.low > 1.5


def test_what_slows_both_halves_of_a_round_changes_little() -> None:
    draw = random.Random(2)
    slow = [1.0, 1.0, 3.0, 1.0, 1.0, 2.0, 1.0]
    rounds = [
        (
            [factor * draw.lognormvariate(-4, 0.3) for _ in range(150)],
            [factor * draw.lognormvariate(-4, 0.3) for _ in range(150)],
        )
        for factor in slow
    ]
    assert 0.8 < figures(rounds).over_alone < 1.25


def test_a_request_without_an_answer_counts_as_endless() -> None:
    assert quantile([], 0.99) == float("inf")


def _outcome(over_alone: float) -> Outcome:
    return Outcome([], figures([([1.0] * 100, [over_alone] * 100)]))


def test_an_attack_without_a_harmful_control_proves_nothing() -> None:
    outcomes = {"flood": _outcome(1.2), "imported ids": _outcome(2.0)}
    harmful = {"flood": _outcome(9.0), "imported ids": _outcome(9.0)}
    counted = ("n", "faults", "violations", "control_violations")
    found = _figures(outcomes, harmful, judged=True)
    assert [found[name] for name in counted] == [200, 2, 1, 2]
    found = _figures(outcomes, harmful | {"flood": _outcome(1.0)}, judged=False)
    assert [found[name] for name in counted] == [200, 2, 0, 0]
