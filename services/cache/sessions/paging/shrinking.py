"""Which objects shrink, and how far, where the beginning of a context stays as it is. Pure."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from services.cache.sessions.paging.fidelity import Level, PagedObject, Zone


class Rules(NamedTuple):
    """What binds a batch, in tokens and turns."""

    zone: Zone
    turn: int
    """That ends."""
    idle_turns: int
    most_detailed: float
    most_stubs: float


class Shrinking:
    """`objects` begin with what is missed least. `floors` are levels at which objects stand in what stays."""

    def __init__(self, objects: Sequence[PagedObject], floors: Mapping[str, Level], rules: Rules) -> None:
        self._all = objects
        self._floors = floors
        self._rules = rules
        self._objects = [each for each in objects if each.level < floors.get(each.id, Level.EVICTED)]
        self.levels = {each.id: each.level for each in self._objects}
        self.tokens = sum(self._taken(each, each.level) for each in self._objects)
        self._detailed = self._standing(Level.DETAILED)

    def _standing(self, level: Level) -> int:
        """Tokens at a level, in what stays and behind it."""
        stays = sum(each.sizes.at(level) for each in self._all if self._floors.get(each.id) == level)
        return stays + sum(
            self._taken(each, level) for each in self._objects if self.levels[each.id] == level
        )

    def below(self, low: float) -> None:
        """Shrinks what may, until it takes less tokens."""
        for each, after in self._steps():
            if self.tokens < low:
                break
            self._move(each, after)
        self._evict_stubs()

    def _steps(self) -> Iterator[tuple[PagedObject, Level]]:
        """What may move, in the order of what is missed least. What came in this turn is spared for long."""
        free = [each for each in self._objects if not each.pinned]
        older = [each for each in free if each.last_access < self._rules.turn]
        fresh = [each for each in free if each.last_access >= self._rules.turn]
        idle = [each for each in older if each.last_access <= self._rules.turn - self._rules.idle_turns]
        yield from self._down([each for each in free if each.superseded], Level.STUB)
        yield from self._shrinking(idle)
        if self._rules.zone in ("critical", "emergency"):
            yield from self._shrinking(older)
            yield from self._down(older, Level.STUB)
        if self._rules.zone == "emergency":
            yield from self._down(older, Level.EVICTED)
        if self._rules.zone in ("critical", "emergency"):
            yield from self._shrinking(fresh)
            yield from self._down(fresh, Level.STUB)
        if self._rules.zone == "emergency":
            yield from self._down(fresh, Level.EVICTED)
            yield from self._down([each for each in self._objects if each.pinned], Level.EVICTED)

    def _shrinking(self, idle: Sequence[PagedObject]) -> Iterator[tuple[PagedObject, Level]]:
        """From full to detailed. Where detailed summaries take more than their share, those missed least go on."""
        summarized = [
            (place, each) for place, each in enumerate(idle) if self.levels[each.id] == Level.DETAILED
        ]
        for place, each in enumerate(idle):
            if self.levels[each.id] != Level.FULL:
                continue
            yield each, _below(each, Level.DETAILED)
            if self.levels[each.id] == Level.DETAILED:
                heapq.heappush(summarized, (place, each))
            while summarized and self._detailed > self._rules.most_detailed:
                least = heapq.heappop(summarized)[1]
                yield least, _below(least, Level.COMPACT)
        yield from ((each, _below(each, Level.COMPACT)) for _, each in sorted(summarized))

    def _down(self, objects: Sequence[PagedObject], level: Level) -> Iterator[tuple[PagedObject, Level]]:
        yield from ((each, level) for each in objects if self.levels[each.id] < level)

    def _taken(self, each: PagedObject, level: Level) -> int:
        """Tokens behind what stays."""
        return 0 if level >= self._floors.get(each.id, Level.EVICTED) else each.sizes.at(level)

    def _move(self, each: PagedObject, after: Level) -> None:
        before = self.levels[each.id]
        after = min(after, self._floors.get(each.id, Level.EVICTED))
        if after <= before or (
            after < Level.EVICTED and self._taken(each, after) >= self._taken(each, before)
        ):
            # A short text takes less than the line about it.
            return
        self.levels[each.id] = after
        self.tokens += self._taken(each, after) - self._taken(each, before)
        if before == Level.DETAILED:
            self._detailed -= self._taken(each, before)
        if after == Level.DETAILED:
            self._detailed += self._taken(each, after)

    def _evict_stubs(self) -> None:
        taken = self._standing(Level.STUB)
        for each in self._objects:
            if taken <= self._rules.most_stubs:
                return
            if self.levels[each.id] == Level.STUB and not each.pinned:
                taken -= self._taken(each, Level.STUB)
                self._move(each, Level.EVICTED)


def _below(each: PagedObject, level: Level) -> Level:
    """The level, or the stub where the object has no text for it."""
    has_text = each.sizes.detailed if level == Level.DETAILED else each.sizes.compact
    return Level.STUB if has_text is None else level
