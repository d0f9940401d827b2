"""Levels of fidelity, zones of pressure, and what an object is worth. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Literal, NamedTuple, TypeAlias

Fidelity: TypeAlias = int
"""A Level as the tables and the API hold it."""


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
_OTHER_UTILITY = 0.1
_BY_ACCESSES, _BY_AGE, _BY_PART = 0.75, -0.1, 0.5
# Tokens that a look at a file shows.
_ONE_LOOK = 500


class Sizes(NamedTuple):
    """Tokens at each level, never more than above it. A level that an object has no text for is None."""

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
    source: str = ""
    """The file or the command that it is of."""


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


def worth(objects: Sequence[PagedObject], turn: int) -> Mapping[str, float]:
    """How soon a token of each object may be looked at again.

    By its type, by how often and how long ago it was, and by how much its source holds: of a long file, a look shows
    a smaller part.
    """
    taken: dict[str, int] = {}
    for each in objects:
        taken[each.source] = taken.get(each.source, 0) + each.sizes.full
    return {each.id: _worth(each, turn, taken[each.source]) for each in objects}


def _worth(each: PagedObject, turn: int, of_source: int) -> float:
    if each.superseded:
        return 0.0
    utility = _UTILITY.get(each.object_type, _OTHER_UTILITY)
    age = 1 + max(0, turn - each.last_access)
    part = min(1.0, _ONE_LOOK / max(1, of_source))
    return float(utility * (1 + each.accesses) ** _BY_ACCESSES * age**_BY_AGE * part**_BY_PART)
