"""How good a ranking is. Pure; every figure is in [0, 1], and `gold` is never empty."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import fmean

DEPTHS = (5, 10, 20)
BUDGETS = (200, 500, 1000, 2000)
BUDGET_NAMES = tuple(f"b{tokens}" for tokens in BUDGETS)
NAMES = (*(f"r{k}" for k in DEPTHS), "ndcg10", "mrr", *BUDGET_NAMES)

Figures = dict[str, float]


def recall(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Share of the gold among the first k."""
    return share(ranked[:k], gold)


def share(found: Iterable[str], gold: Collection[str]) -> float:
    return len(set(found) & set(gold)) / len(set(gold))


def ndcg(ranked: Sequence[str], gold: Collection[str], k: int = 10) -> float:
    """Gains of 1 discounted by log2(rank + 1), over the best order's (Järvelin and Kekäläinen 2002)."""
    wanted = set(gold)
    gained = sum(_discount(rank) for rank, one in enumerate(ranked[:k]) if one in wanted)
    return gained / sum(_discount(rank) for rank in range(min(len(wanted), k)))


def _discount(rank: int) -> float:
    return 1 / math.log2(rank + 2)


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str]) -> float:
    wanted = set(gold)
    return next((1 / (rank + 1) for rank, one in enumerate(ranked) if one in wanted), 0.0)


def within(chunks: Iterable[tuple[str, int]], budget: int) -> set[str]:
    """Items of which a chunk (item, tokens) is taken: in order, past those that do not fit any more."""
    left = budget
    taken: set[str] = set()
    for item, tokens in chunks:
        if tokens <= left:
            left -= tokens
            taken.add(item)
    return taken


def figures(ranked: Sequence[str], packed: Mapping[int, Collection[str]], gold: Collection[str]) -> Figures:
    """Every figure of one question; `packed` are the items inside each budget."""
    return {
        **{f"r{k}": recall(ranked, gold, k) for k in DEPTHS},
        "ndcg10": ndcg(ranked, gold),
        "mrr": reciprocal_rank(ranked, gold),
        **{f"b{tokens}": share(packed[tokens], gold) for tokens in BUDGETS},
    }


def mean(rows: Collection[Figures]) -> Figures:
    return {name: round(fmean(row[name] for row in rows), 4) for name in NAMES}
