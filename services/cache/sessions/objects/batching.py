"""Between the rows of a session's objects and the policy of paging. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from services.cache.sessions.paging.batches import Batch, Shown
from services.cache.sessions.paging.fidelity import Level, PagedObject, Sizes


class Entry(NamedTuple):
    """Something that the block shows, in the order of `place`. What rose stands there twice."""

    place: int
    id: UUID
    level: Level
    risen: bool


class Placement(msgspec.Struct, frozen=True):
    """Where the block shows an object from now on."""

    id: UUID
    place: int
    sent_fidelity: int
    risen_place: int | None
    risen_fidelity: int | None


def entries(rows: Sequence[Any]) -> list[Entry]:
    first = [Entry(row["place"], row["id"], Level(row["sent_fidelity"]), risen=False) for row in rows]
    risen = [
        Entry(row["risen_place"], row["id"], Level(row["risen_fidelity"]), risen=True)
        for row in rows
        if row["risen_place"] is not None
    ]
    return sorted(entry for entry in [*first, *risen] if entry.level < Level.EVICTED)


def shown(block: Sequence[Entry]) -> list[Shown]:
    return [Shown(str(entry.id), entry.level) for entry in block]


def paged(row: Any) -> PagedObject:
    full, detailed, compact = row["tokens_l0"], row["tokens_l1"], row["tokens_l2"]
    line = min(tokens for tokens in (full, detailed, compact, row["tokens_l3"]) if tokens is not None)
    return PagedObject(
        str(row["id"]),
        row["object_type"],
        Level(row["current_fidelity"]),
        Sizes(full, detailed, compact, line),
        row["pinned"],
        row["superseded"],
        row["last_accessed_turn"],
        row["access_count"],
        row["source_key"] or str(row["id"]),
    )


def placements(rows: Sequence[Any], block: Sequence[Entry], made: Batch) -> list[Placement]:
    """Of the objects whose place or level in the block changes. What was behind the kept entries makes room."""
    kept = {(entry.id, entry.risen) for entry in block[: made.kept]}
    places = [entry.place for entry in block[made.kept :]]
    then = {
        UUID(entry.id): (place, int(entry.level)) for place, entry in zip(places, made.then, strict=False)
    }
    placed = [_placement(row, kept, then) for row in rows]
    return [
        new
        for row, new in zip(rows, placed, strict=True)
        if any(getattr(new, name) != row[name] for name in Placement.__struct_fields__)
    ]


def _placement(row: Any, kept: set[tuple[UUID, bool]], then: Mapping[UUID, tuple[int, int]]) -> Placement:
    id_ = row["id"]
    first = row["place"], row["sent_fidelity"]
    if (id_, True) in kept:
        return Placement(id_, *first, row["risen_place"], row["risen_fidelity"])
    if (id_, False) in kept:
        return Placement(id_, *first, *then.get(id_, (None, None)))
    place, level = then.get(id_, (row["place"], int(Level.EVICTED)))
    return Placement(id_, place, level, None, None)
