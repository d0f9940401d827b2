"""A copy of a scope as of a snapshot. It never changes: what was committed since makes another copy."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from shared.search.hot.segments import Builder, Segment, merged
from shared.search.hot.vectors import Codes, StoredVectors, Vectors, centre_of, codes, exact

# With more segments than these, a copy merges the last ones that are of similar size.
_MOST_SEGMENTS = 8
# A segment with a larger share of dead chunks is written anew.
_MOST_DEAD = 0.25
# A segment of codes is read with so many chunks at most, to need little memory at once.
CODED_ROWS = 8_192
# Segments are merged up to so many: their rows are numbered in 16 bits.
_MOST_ROWS = 32_768

# The first transaction that may still run, the first that has not begun, and which between them still run.
Snapshot: TypeAlias = tuple[int, int, Sequence[int]]


class Copy(msgspec.Struct, frozen=True, eq=False, dict=True):
    segments: tuple[Segment, ...]
    alive: tuple[NDArray[np.bool_], ...]
    """Which chunks of each segment the scope still holds as they are."""
    snapshot: Snapshot
    """What the copy has seen."""
    server: datetime
    """When that server started. Another one counts transactions in its own way."""

    @cached_property
    def rows(self) -> int:
        return sum(int(mask.sum()) for mask in self.alive)

    @cached_property
    def size(self) -> int:
        return sum(segment.size for segment in self.segments)

    @cached_property
    def coded(self) -> bool:
        """Whether vectors are codes, which choose chunks whose vectors the database then compares."""
        return any(isinstance(segment.vectors, Codes) for segment in self.segments)

    @cached_property
    def pending(self) -> list[int]:
        """Items of which a chunk has no vector yet."""
        items = [
            segment.keys[mask & ~segment.vectors.present & ~segment.hidden] >> 15
            for segment, mask in zip(self.segments, self.alive, strict=True)
        ]
        return [int(item) for item in np.unique(np.concatenate(items))]

    def after(self, changed: Sequence[Any], snapshot: Snapshot) -> Copy:
        """With the chunks that were written since, in place of what the copy holds of them."""
        builder = Builder()
        for row in changed:
            builder.add(row)
        segment = builder.build(self._encode)
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

    def _encode(self, vectors: StoredVectors) -> Vectors:
        held = [segment.vectors for segment in self.segments]
        return codes(vectors, centre_of(held)) if self.coded else exact(vectors)

    def among(self, keys: Sequence[int]) -> Copy:
        """Without the chunks that the scope no longer holds."""
        remaining = np.array(keys, np.int64)
        alive = tuple(
            mask & np.isin(segment.keys, remaining)
            for segment, mask in zip(self.segments, self.alive, strict=True)
        )
        return _compact(msgspec.structs.replace(self, alive=alive))


def copy_of(segments: Sequence[Segment], snapshot: Snapshot, server: datetime) -> Copy:
    alive = tuple(np.ones(len(segment.keys), np.bool_) for segment in segments)
    return Copy(tuple(segments), alive, snapshot, server)


def together(copies: Sequence[Copy]) -> Copy:
    """The chunks of several scopes, for one search. Each copy is brought up to date by itself."""
    if len(copies) == 1:
        return copies[0]
    return msgspec.structs.replace(
        copies[0],
        segments=tuple(segment for copy in copies for segment in copy.segments),
        alive=tuple(alive for copy in copies for alive in copy.alive),
    )


def _compact(copy: Copy) -> Copy:
    groups = [[place] for place in range(len(copy.segments))]
    if len(groups) > _MOST_SEGMENTS:
        groups = _grouped([len(segment.keys) for segment in copy.segments])
    parts = [_merged(copy, group) for group in groups]
    segments, alive = zip(*parts, strict=True)
    return msgspec.structs.replace(copy, segments=segments, alive=alive)


def _grouped(sizes: Sequence[int]) -> list[list[int]]:
    """The places of segments. The last ones make a group: each is at most twice as large as those behind it."""
    first, rows = len(sizes) - 1, sizes[-1]
    while first and sizes[first - 1] <= min(2 * rows, _MOST_ROWS - rows):
        first -= 1
        rows += sizes[first]
    return [*([place] for place in range(first)), [*range(first, len(sizes))]]


def _merged(copy: Copy, group: Sequence[int]) -> tuple[Segment, NDArray[np.bool_]]:
    segments, alive = [copy.segments[place] for place in group], [copy.alive[place] for place in group]
    held = sum(len(mask) for mask in alive)
    dead = held - sum(int(mask.sum()) for mask in alive)
    if len(group) == 1 and dead <= _MOST_DEAD * held:
        return segments[0], alive[0]
    segment = merged(segments, alive)
    return segment, np.ones(len(segment.keys), np.bool_)
