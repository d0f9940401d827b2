"""What an attack does to the victim's times, from rounds alone and beside it that took turns. Pure."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

Round = tuple[Sequence[float], Sequence[float]]
"""The seconds of the victim's requests alone, and beside the attack right after."""

_RESAMPLED = 400
_SEED = 192


class Interval(NamedTuple):
    low: float
    high: float


class Figures(NamedTuple):
    """Times in milliseconds. `over_alone` is the p99 beside the attack over the p99 alone, of all rounds together."""

    n: int
    p50_alone: float
    p99_alone: float
    p50: float
    p99: float
    over_alone: float
    interval: Interval
    """95 % of what other rounds and requests of the same kind would give."""

    def text(self) -> str:
        times = (
            f"p50 {self.p50_alone:.1f} -> {self.p50:.1f} ms, p99 {self.p99_alone:.1f} -> {self.p99:.1f} ms"
        )
        low, high = self.interval
        return f"p99 {self.over_alone:6.2f} x alone [{low:.2f}, {high:.2f}], {times}, n {self.n}"


def figures(rounds: Sequence[Round]) -> Figures:
    alone, beside = _together(rounds)
    return Figures(
        n=min(len(alone), len(beside)),
        p50_alone=1000 * quantile(alone, 0.5),
        p99_alone=1000 * quantile(alone, 0.99),
        p50=1000 * quantile(beside, 0.5),
        p99=1000 * quantile(beside, 0.99),
        over_alone=_over_alone(rounds),
        interval=_interval(rounds),
    )


def quantile(seconds: Sequence[float], share: float) -> float:
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("inf")


def _interval(rounds: Sequence[Round]) -> Interval:
    """By drawing rounds and then their requests again: what disturbs a round, disturbs both of its halves."""
    draw = random.Random(_SEED)
    ratios = []
    for _ in range(_RESAMPLED):
        drawn = draw.choices(rounds, k=len(rounds))
        ratios.append(_over_alone([(_again(draw, alone), _again(draw, beside)) for alone, beside in drawn]))
    return Interval(quantile(ratios, 0.025), quantile(ratios, 0.975))


def _again(draw: random.Random, seconds: Sequence[float]) -> Sequence[float]:
    return draw.choices(seconds, k=len(seconds)) if seconds else seconds


def _over_alone(rounds: Sequence[Round]) -> float:
    alone, beside = _together(rounds)
    return quantile(beside, 0.99) / quantile(alone, 0.99)


def _together(rounds: Sequence[Round]) -> tuple[list[float], list[float]]:
    return [one for alone, _ in rounds for one in alone], [one for _, beside in rounds for one in beside]
