"""Which objects of a session shrink, and when. A pure state machine: the same objects give the same moves.

Between batches nothing moves but by a fault, a release or a new version, so that what was sent keeps its bytes and
its order, and a provider's prompt cache keeps its prefix.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from typing import Literal, NamedTuple


class Level(IntEnum):
    """How much of an object stands in the context."""

    FULL = 0
    DETAILED = 1
    """About a quarter of its tokens."""
    COMPACT = 2
    """About a twentieth."""
    STUB = 3
    """One line."""
    EVICTED = 4
    """Nothing. The content stays, for faults, questions and search."""


Zone = Literal["normal", "caution", "warning", "critical", "emergency"]
Trigger = Literal["pressure", "access", "fault", "cooperative", "goal_change"]

_ZONES: Sequence[tuple[float, Zone]] = (
    (0.95, "emergency"),
    (0.85, "critical"),
    (0.7, "warning"),
    (0.5, "caution"),
)
# What an agent looks at again, by the type of object. A file is read again more often than a command's output.
_UTILITY: Mapping[str, float] = {
    "file_context": 1.0,
    "plan": 0.8,
    "design_decision": 0.8,
    "error_context": 0.5,
}
_OTHER_UTILITY = 0.25


HIGH = 0.94


class Policy(NamedTuple):
    """Shares are of the session's token budget."""

    high: float = HIGH
    """A turn that ends above it causes a batch. Each batch costs a prompt cache its prefix, so batches are rare."""
    low: float = 0.65
    """A batch ends below it, as far as its zone lets objects move."""
    idle_turns: int = 3
    """An object that was accessed in fewer turns than that stays, unless the zone is critical."""
    detailed: float = 0.14
    """Detailed summaries beyond this share shrink before another object leaves its full content."""
    stubs: float = 0.03
    """Stubs beyond this share are evicted, the oldest first."""


class Sizes(NamedTuple):
    """Tokens at each level. A level that an object has no text for is None."""

    full: int
    detailed: int | None
    compact: int | None
    stub: int

    def at(self, level: Level) -> int:
        return (self.full, self.detailed or 0, self.compact or 0, self.stub, 0)[level]


class PagedObject(NamedTuple):
    id: str
    object_type: str
    level: Level
    sizes: Sizes
    pinned: bool
    superseded: bool
    last_access: int
    """The turn."""
    accesses: int


class Move(NamedTuple):
    id: str
    before: Level
    after: Level
    trigger: Trigger = "pressure"


def zone(tokens: int, budget: int) -> Zone:
    """The zone of a session's pressure, by its share of the budget."""
    return next((name for share, name in _ZONES if tokens >= share * budget), "normal")


def pressure(objects: Sequence[PagedObject]) -> int:
    """Tokens of all objects at their present levels."""
    return sum(each.sizes.at(each.level) for each in objects)


def batch(objects: Sequence[PagedObject], budget: int, turn: int, policy: Policy = Policy()) -> list[Move]:  # noqa: B008
    """The moves at the end of a turn: none below the high watermark, else as many as bring it below the low one."""
    tokens = pressure(objects)
    if tokens <= policy.high * budget:
        return []
    return _Batch(objects, budget, turn, policy, zone(tokens, budget)).moves()


def worth(each: PagedObject, turn: int) -> float:
    """How soon an object may be looked at again: by its type, how often it was, and how long ago."""
    if each.superseded:
        return 0.0
    utility = _UTILITY.get(each.object_type, _OTHER_UTILITY)
    return utility * math.sqrt(1 + each.accesses) / (1 + turn - each.last_access)


class _Batch:
    def __init__(
        self, objects: Sequence[PagedObject], budget: int, turn: int, policy: Policy, reached: Zone
    ) -> None:
        self._objects = sorted(objects, key=lambda each: (worth(each, turn), each.last_access, each.id))
        self._levels = {each.id: each.level for each in objects}
        self._detailed = sum(each.sizes.at(each.level) for each in objects if each.level == Level.DETAILED)
        self._tokens = pressure(objects)
        self._low = policy.low * budget
        self._most_detailed = policy.detailed * budget
        self._most_stubs = policy.stubs * budget
        self._idle_since = turn - policy.idle_turns
        self._zone = reached

    def moves(self) -> list[Move]:
        for each, after in self._steps():
            self._move(each, after)
            if self._tokens < self._low:
                break
        self._evict_stubs()
        return [
            Move(each.id, each.level, self._levels[each.id])
            for each in self._objects
            if self._levels[each.id] != each.level
        ]

    def _steps(self) -> Iterator[tuple[PagedObject, Level]]:
        """What may move, in the order of what is missed least."""
        free = [each for each in self._objects if not each.pinned]
        yield from ((each, Level.STUB) for each in free if each.superseded and self._above(each, Level.STUB))
        yield from self._shrinking([each for each in free if each.last_access <= self._idle_since])
        if self._zone in ("critical", "emergency"):
            yield from self._shrinking(free)
            yield from self._down(free, Level.STUB)
        if self._zone == "emergency":
            yield from self._down(free, Level.EVICTED)
            yield from self._down([each for each in self._objects if each.pinned], Level.EVICTED)

    def _shrinking(self, idle: Sequence[PagedObject]) -> Iterator[tuple[PagedObject, Level]]:
        """From full to detailed. Where detailed summaries take more than their share, those missed least go on."""
        summarized = [
            (place, each) for place, each in enumerate(idle) if self._levels[each.id] == Level.DETAILED
        ]
        for place, each in enumerate(idle):
            if self._levels[each.id] != Level.FULL:
                continue
            yield each, self._below(each, Level.DETAILED)
            if self._levels[each.id] == Level.DETAILED:
                heapq.heappush(summarized, (place, each))
            while summarized and self._detailed > self._most_detailed:
                least = heapq.heappop(summarized)[1]
                yield least, self._below(least, Level.COMPACT)
        yield from ((each, self._below(each, Level.COMPACT)) for _, each in sorted(summarized))

    def _down(self, objects: Sequence[PagedObject], level: Level) -> Iterator[tuple[PagedObject, Level]]:
        yield from ((each, level) for each in objects if self._above(each, level))

    def _above(self, each: PagedObject, level: Level) -> bool:
        return self._levels[each.id] < level

    def _below(self, each: PagedObject, level: Level) -> Level:
        """The level, or the stub where the object has no text for it."""
        has_text = each.sizes.detailed if level == Level.DETAILED else each.sizes.compact
        return Level.STUB if has_text is None else level

    def _move(self, each: PagedObject, after: Level) -> None:
        before = self._levels[each.id]
        if after < Level.EVICTED and each.sizes.at(after) >= each.sizes.at(before):
            # A short text takes less than the line about it.
            return
        self._levels[each.id] = after
        self._tokens += each.sizes.at(after) - each.sizes.at(before)
        if before == Level.DETAILED:
            self._detailed -= each.sizes.at(before)
        if after == Level.DETAILED:
            self._detailed += each.sizes.at(after)

    def _evict_stubs(self) -> None:
        stubs = [each for each in self._objects if self._levels[each.id] == Level.STUB and not each.pinned]
        taken = sum(each.sizes.stub for each in stubs)
        for each in stubs:
            if taken <= self._most_stubs:
                return
            self._move(each, Level.EVICTED)
            taken -= each.sizes.stub
