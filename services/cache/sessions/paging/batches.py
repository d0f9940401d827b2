"""What a batch moves, and from where on the context is written anew. Pure: the same objects give the same batch.

Between batches nothing moves but by a fault, a release or a new version, and what was sent keeps its bytes and its
order. A batch keeps the beginning of it, too, as far as that pays: a provider's prompt cache serves a prompt up to the
first byte that differs, and what stands in the kept beginning cannot shrink.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from services.cache.sessions.paging.fidelity import (
    Level,
    Move,
    PagedObject,
    pressure,
    worth,
    zone,
)
from services.cache.sessions.paging.shrinking import Rules, Shrinking

HIGH = 0.94
# How much of an object's worth a level keeps.
_KEPT = (1.0, 0.5, 0.1, 0.0, 0.0)
# Where the context may be cut: after so many parts of its tokens.
_CUTS = 16


class Policy(NamedTuple):
    """Shares are of the session's token budget."""

    high: float = HIGH
    """A turn that ends above it causes a batch."""
    low: float = 0.8
    """A batch ends below it, as far as its zone lets objects move."""
    idle_turns: int = 3
    """An object that was accessed in fewer turns than that stays, unless the zone is critical."""
    detailed: float = 0.14
    """Detailed summaries beyond this share shrink before another object leaves its full content."""
    stubs: float = 0.01
    """Stubs beyond this share are evicted, the oldest first."""
    rewriting: float = 0.2
    """The share of all worth that may be lost for not writing the whole context anew."""
    fresh: float = 0.03
    """The share that may be lost for not moving what came in the turn: it was not sent yet."""


class Shown(NamedTuple):
    """What stands in the context. An object that came back stands there twice, until a batch."""

    id: str
    level: Level


class Batch(NamedTuple):
    moves: Sequence[Move]
    kept: int
    """So many entries of what was sent stay as they are."""
    then: Sequence[Shown]
    """What follows them."""


class _Plan(NamedTuple):
    kept: int
    levels: Mapping[str, Level]
    """Of what does not stand in the kept beginning as it is."""
    tokens: int
    cost: float


def batch(
    objects: Sequence[PagedObject],
    shown: Sequence[Shown],
    budget: int,
    turn: int,
    policy: Policy = Policy(),  # noqa: B008
) -> Batch | None:
    """At the end of a turn: None below the high watermark, else what brings the context below the low one.

    `objects` are all that `shown` names.
    """
    tokens = sent(objects, shown)
    if max(tokens, pressure(objects)) <= policy.high * budget:
        return None
    return _Batch(objects, shown, budget, turn, policy).best()


def sent(objects: Sequence[PagedObject], shown: Sequence[Shown]) -> int:
    """Tokens of what stands in the context."""
    sizes = {each.id: each.sizes for each in objects}
    return sum(sizes[entry.id].at(entry.level) for entry in shown)


class _Batch:
    def __init__(
        self, objects: Sequence[PagedObject], shown: Sequence[Shown], budget: int, turn: int, policy: Policy
    ) -> None:
        self._worth = worth(objects, turn)
        self._objects = sorted(objects, key=lambda each: (self._worth[each.id], each.last_access, each.id))
        self._by_id = {each.id: each for each in objects}
        self._shown = shown
        self._low = policy.low * budget
        self._policy = policy
        most = policy.detailed * budget, policy.stubs * budget
        self._rules = Rules(zone(pressure(objects), budget), turn, policy.idle_turns, *most)
        self._before = [0, *accumulate(self._by_id[entry.id].sizes.at(entry.level) for entry in shown)]
        self._all = sum(self._value(each, each.level) for each in objects) or 1.0

    def best(self) -> Batch:
        """The cheapest cut behind which enough can shrink; all is written anew where there is none."""
        plans = [self._plan(kept) for kept in self._cuts()]
        enough = [plan for plan in plans if plan.tokens < self._low] or plans[:1]
        return self._batch(min(enough, key=lambda plan: plan.cost))

    def _cuts(self) -> list[int]:
        """Numbers of entries that stay, from none on."""
        step = self._before[-1] / _CUTS
        cuts = [0]
        for kept, tokens in enumerate(self._before[:-1]):
            if tokens >= step * len(cuts):
                cuts.append(kept)
        return cuts

    def _plan(self, kept: int) -> _Plan:
        floors: dict[str, Level] = {}
        for entry in self._shown[:kept]:
            floors[entry.id] = min(entry.level, floors.get(entry.id, Level.EVICTED))
        shrinking = Shrinking(self._objects, floors, self._rules)
        shrinking.below(self._low - self._before[kept])
        levels = shrinking.levels
        moved = [self._by_id[id_] for id_, level in levels.items() if level != self._by_id[id_].level]
        lost = sum(self._value(each, each.level, levels[each.id]) for each in moved)
        again = 1 - self._before[kept] / max(1, self._before[-1])
        fresh = any(each.last_access >= self._rules.turn for each in moved)
        cost = lost / self._all + self._policy.rewriting * again + self._policy.fresh * fresh
        return _Plan(kept, levels, self._before[kept] + shrinking.tokens, cost)

    def _value(self, each: PagedObject, level: Level, after: Level = Level.EVICTED) -> float:
        return self._worth[each.id] * each.sizes.full * (_KEPT[level] - _KEPT[after])

    def _batch(self, plan: _Plan) -> Batch:
        moves = [
            Move(each.id, each.level, plan.levels[each.id])
            for each in self._objects
            if plan.levels.get(each.id, each.level) != each.level
        ]
        kept = set(self._shown[: plan.kept])
        then = [Shown(id_, level) for id_, level in plan.levels.items() if level < Level.EVICTED]
        then = [entry for entry in then if entry not in kept]
        then.sort(key=lambda entry: (entry.level, -self._worth[entry.id], entry.id))
        return Batch(moves, plan.kept, then)
