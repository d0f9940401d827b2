"""What a run changed, as its report and its undoing need it. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Literal

import asyncpg
import msgspec

from shared.provenance import SourceKind

Kind = Literal["fact", "episode", "commitment", "alias"]
Action = Literal["opened", "closed", "replaced", "confirmed", "disputed", "skipped"]
NO_LONGER = "a newer value took its place"
LONGER = "the same value holds for longer"
MERGED = "another name states the same"


class Belief(msgspec.Struct, frozen=True):
    """When a fact's row holds, and whether it is believed."""

    valid_from: datetime
    valid_to: datetime | None
    believed: bool
    closed_by: str | None


class Touched(msgspec.Struct, frozen=True, tag=True):
    """How a row was before the run, and how the run left it."""

    before: Belief
    after: Belief


class Renamed(msgspec.Struct, frozen=True, tag=True):
    """An alias that a run gave, and the other names that led to it before."""

    alias_key: str
    alias: str
    redirected: list[str]


class Change(msgspec.Struct, frozen=True, kw_only=True):
    kind: Kind
    action: Action
    item_id: int | None = None
    turns: tuple[int, ...] = ()
    trust: SourceKind | None = None
    why: str | None = None
    undoing: Touched | Renamed | None = None


class Tally(msgspec.Struct):
    """How many rows a run changed."""

    opened: int = 0
    """Facts, episodes, commitments and other names that are new."""
    closed: int = 0
    """Facts that no longer hold because of it."""
    replaced: int = 0
    """Facts that a longer one of the same value took the place of."""
    confirmed: int = 0
    """Facts, episodes and commitments that were known."""
    disputed: int = 0
    """Facts of other sources that it contradicts, and that stand beside what it says."""
    skipped: int = 0
    """What it did not write, each with the reason."""


def tally(changes: Iterable[Change], before: Tally) -> Tally:
    counts = Counter[str](change.action for change in changes)
    return Tally(**{name: value + counts[name] for name, value in msgspec.structs.asdict(before).items()})


def added(before: Mapping[str, int], more: Mapping[str, int]) -> dict[str, int]:
    return dict(Counter(before) + Counter(more))


class FactRow(msgspec.Struct, frozen=True):
    id: int
    group: tuple[str, str]
    """Its subject and its predicate."""
    object_key: str
    belief: Belief

    @classmethod
    def of(cls, row: Mapping[str, Any] | asyncpg.Record) -> FactRow:
        belief = Belief(row["valid_from"], row["valid_to"], row["superseded_at"] is None, row["closed_by"])
        return cls(row["id"], (row["subject_key"], row["predicate_key"]), row["object_key"], belief)


def touched(before: Iterable[FactRow], after: Iterable[FactRow]) -> dict[int, Touched]:
    """The rows that are not as they were, by id. `after` holds all of `before`."""
    now = {row.id: row for row in after}
    return {
        row.id: Touched(row.belief, now[row.id].belief) for row in before if now[row.id].belief != row.belief
    }
