"""What a run adds up to, by arm and category."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bench.quality.dataset import main_categories
from bench.quality.metrics import BUDGET_NAMES, Figures, mean

ARMS = ("fused", "text", "vector")
# As "fused", but without what is measured: a reranker, or facts in the graph.
PLAIN = "plain"
GAIN = "gain"
_GAINS = ("r5", "r10", "ndcg10", *BUDGET_NAMES)


@dataclass
class Result:
    category: str
    arms: dict[str, Figures]
    text_empty: bool
    degraded: bool
    milliseconds: float
    facts: int = 0
    """In the largest block."""


def summary(results: Sequence[Result]) -> dict[str, Any]:
    chosen = main_categories({one.category for one in results})
    main = [one for one in results if one.category in chosen]
    by_category = {}
    for category in sorted({one.category for one in results}):
        of_it = [one for one in results if one.category == category]
        by_category[category] = {"questions": len(of_it), **_arms(of_it)}
    times = sorted(one.milliseconds for one in main)
    return {
        **_arms(main),
        "questions": len(main),
        "by_category": by_category,
        "empty_text_share": round(sum(one.text_empty for one in main) / len(main), 4),
        "valid": not any(one.degraded for one in results),
        "degraded_share": round(sum(one.degraded for one in results) / len(results), 4),
        "ms": times[len(times) // 2],
    }


def _arms(results: Sequence[Result]) -> dict[str, Figures]:
    arms = {arm: mean([one.arms[arm] for one in results]) for arm in results[0].arms}
    if PLAIN in arms:
        arms[GAIN] = {name: round(arms["fused"][name] - arms[PLAIN][name], 4) for name in _GAINS}
    return arms
