"""How sure a change of means is: of the same questions, asked before and after. Pure."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean
from typing import NamedTuple

_DRAWS = 1_000
_OUTSIDE = 0.025


class Pair(NamedTuple):
    """A question's figure before and after."""

    before: float
    after: float


class Change(NamedTuple):
    """`low` and `high` hold 95 % of the changes of as many questions, drawn with replacement."""

    value: float
    low: float
    high: float


def factor(pairs: Sequence[Pair]) -> Change | None:
    """The mean after, as a multiple of the mean before. None where that is 0, as it may be in a draw."""
    return _change(pairs, _ratio)


def points(pairs: Sequence[Pair]) -> Change | None:
    """The difference of the means, in points of a hundred."""
    return _change(pairs, _difference)


def _change(pairs: Sequence[Pair], of: Callable[[Sequence[Pair]], float | None]) -> Change | None:
    value = of(pairs) if pairs else None
    if value is None:
        return None
    # The same questions always give the same interval.
    draw = random.Random(0)
    drawn = sorted(_known(of(draw.choices(pairs, k=len(pairs))) for _ in range(_DRAWS)))
    outside = int(_OUTSIDE * len(drawn))
    return Change(round(value, 2), round(drawn[outside], 2), round(drawn[-1 - outside], 2))


def _known(values: Iterable[float | None]) -> Iterable[float]:
    return (value for value in values if value is not None)


def _ratio(pairs: Sequence[Pair]) -> float | None:
    before = sum(pair.before for pair in pairs)
    return sum(pair.after for pair in pairs) / before if before else None


def _difference(pairs: Sequence[Pair]) -> float:
    return 100 * fmean(pair.after - pair.before for pair in pairs)
