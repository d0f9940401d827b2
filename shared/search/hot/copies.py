"""A copy of a scope as of a snapshot. It never changes: what was committed since makes another copy."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from shared.search.hot.segments import Builder, Segment, merged

# So many segments, or a larger share of dead chunks, make a copy merge its segments.
_MOST_SEGMENTS = 8
_MOST_DEAD = 0.25

# The first transaction that may still run, the first that has not begun, and which between them still run.
Snapshot: TypeAlias = tuple[int, int, Sequence[int]]


class Copy(msgspec.Struct, frozen=True, eq=False):
    segments: tuple[Segment, ...]
    alive: tuple[NDArray[np.bool_], ...]
    """Which chunks of each segment the scope still holds as they are."""
    snapshot: Snapshot
    """What the copy has seen."""
    server: datetime
    """When that server started. Another one counts transactions in its own way."""

    @property
    def rows(self) -> int:
        return sum(int(mask.sum()) for mask in self.alive)

    @property
    def size(self) -> int:
        return sum(segment.size for segment in self.segments)

    @property
    def pending(self) -> list[int]:
        """Items of which a chunk has no vector yet."""
        items = [
            segment.keys[mask & (segment.scales == 0) & ~segment.hidden] >> 15
            for segment, mask in zip(self.segments, self.alive, strict=True)
        ]
        return [int(item) for item in np.unique(np.concatenate(items))]

    def after(self, changed: Sequence[Any], snapshot: Snapshot) -> Copy:
        """With the chunks that were written since, in place of what the copy holds of them."""
        builder = Builder()
        for row in changed:
            builder.add(row)
        segment = builder.build()
        alive = [
            mask & ~np.isin(older.keys, segment.keys)
            for older, mask in zip(self.segments, self.alive, strict=True)
        ]
        return _compact(
            msgspec.structs.replace(
                self,
                segments=(*self.segments, segment),
                alive=(*alive, np.ones(len(segment.keys), np.bool_)),
                snapshot=snapshot,
            )
        )

    def among(self, keys: Sequence[int]) -> Copy:
        """Without the chunks that the scope no longer holds."""
        remaining = np.array(keys, np.int64)
        alive = tuple(
            mask & np.isin(segment.keys, remaining)
            for segment, mask in zip(self.segments, self.alive, strict=True)
        )
        return _compact(msgspec.structs.replace(self, alive=alive))


def copy_of(segment: Segment, snapshot: Snapshot, server: datetime) -> Copy:
    return Copy((segment,), (np.ones(len(segment.keys), np.bool_),), snapshot, server)


def _compact(copy: Copy) -> Copy:
    held = sum(len(mask) for mask in copy.alive)
    if len(copy.segments) <= _MOST_SEGMENTS and held - copy.rows <= _MOST_DEAD * held:
        return copy
    segment = merged(copy.segments, copy.alive)
    return copy_of(segment, copy.snapshot, copy.server)
