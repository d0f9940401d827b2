"""Segments: chunks of a scope as arrays, which never change."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from datetime import MAXYEAR, UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from shared.search.hot.words import words

NEVER = np.iinfo(np.int64).max
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_BLOCK = 512
_TINY = np.finfo(np.float32).tiny
_STEPS = 32_767  # a coordinate of a vector is a multiple of its row's largest one by this


class Segment(msgspec.Struct, frozen=True, eq=False):
    """Arrays over chunks, and over words: word `i` is held by `rows[starts[i]:starts[i + 1]]`.

    How it ranks in them, `ranks` says as places in `levels`: few ranks differ.
    """

    keys: NDArray[np.int64]
    expires: NDArray[np.int64]
    """Microseconds since 1970."""
    hidden: NDArray[np.bool_]
    users: NDArray[np.int64]
    """Hashes; 0 is no user."""
    divisors: NDArray[np.float64]
    """A rank is divided by this: long chunks match by chance."""
    vectors: NDArray[np.int16]
    scales: NDArray[np.float32]
    """Times its row of `vectors`, a vector of length 1. 0: no vector yet."""
    words: NDArray[np.int64]
    """Hashes, ascending."""
    starts: NDArray[np.int64]
    rows: NDArray[np.uint16]
    ranks: NDArray[np.uint8 | np.uint16]
    levels: NDArray[np.float32]

    @property
    def size(self) -> int:
        return sum(getattr(self, field).nbytes for field in self.__struct_fields__)

    def holding(self, word: int) -> tuple[NDArray[np.uint16], NDArray[np.float32]]:
        """The rows of the chunks that hold a word, and how it ranks in each."""
        at = int(np.searchsorted(self.words, word))
        held = slice(0, 0)
        if at < len(self.words) and self.words[at] == word:
            held = slice(int(self.starts[at]), int(self.starts[at + 1]))
        return self.rows[held], self.levels[self.ranks[held]]


def key_of(item: int, chunk: int) -> int:
    return item << 15 | chunk


def microseconds(time: datetime) -> int:
    """The driver reads `infinity` as the last time there is."""
    return NEVER if time.year == MAXYEAR else (time - _EPOCH) // _MICROSECOND


class Builder:
    """Collects rows of chunks until they become a segment."""

    def __init__(self) -> None:
        self._keys, self._expires, self._users = array("q"), array("q"), array("q")
        self._hidden, self._lengths = array("b"), array("q")
        self._vectors: list[NDArray[Any] | None] = []
        self._words, self._rows, self._ranks = array("q"), array("H"), array("f")

    @property
    def rows(self) -> int:
        return len(self._keys)

    @property
    def size(self) -> int:
        """About how many bytes the segment will have."""
        vectors = sum(vector.nbytes for vector in self._vectors[:1] if vector is not None)
        return 40 * self.rows + vectors * self.rows + 12 * len(self._rows)

    def add(self, row: Any) -> None:
        number = self.rows
        self._keys.append(key_of(row["item_id"], row["chunk"]))
        self._expires.append(microseconds(row["expires_at"]))
        self._users.append(0 if row["user_id"] is None else hash(row["user_id"]))
        self._hidden.append(row["hidden"])
        self._lengths.append(row["words"])
        # A vector that nobody may find is not needed, nor are such words.
        shown = not row["hidden"]
        self._vectors.append(row["embedding"].to_numpy() if shown and row["embedding"] is not None else None)
        for word in words(row["tsv"]) if shown else ():
            self._words.append(word.hash)
            self._rows.append(number)
            self._ranks.append(word.rank)

    def build(self) -> Segment:
        vectors, scales = _fixed(self._vectors)
        return _indexed(
            keys=np.array(self._keys, np.int64),
            expires=np.array(self._expires, np.int64),
            hidden=np.array(self._hidden, np.bool_),
            users=np.array(self._users, np.int64),
            divisors=np.maximum(1.0, np.sqrt(np.array(self._lengths, np.float64) / 20.0)),
            vectors=vectors,
            scales=scales,
            words=np.array(self._words, np.int64),
            rows=np.array(self._rows, np.uint16),
            ranks=np.array(self._ranks, np.float32),
        )


def _fixed(vectors: Sequence[NDArray[Any] | None]) -> tuple[NDArray[np.int16], NDArray[np.float32]]:
    """Vectors as 16-bit integers, without zeros at their ends. Half floats would take much longer to become floats."""
    present = np.array([row for row, vector in enumerate(vectors) if vector is not None], np.int64)
    stacked = [vector for vector in vectors if vector is not None]
    scales = np.zeros(len(vectors), np.float32)
    if not stacked:
        return np.zeros((len(vectors), 0), np.int16), scales
    halves = np.stack(stacked)
    width = int(np.flatnonzero(halves.any(axis=0)).max(initial=0)) + 1
    fixed = np.zeros((len(vectors), width), np.int16)
    for start in range(0, len(present), _BLOCK):
        rows = present[start : start + _BLOCK]
        numbers = halves[start : start + _BLOCK, :width].astype(np.float32)
        largest = np.maximum(np.abs(numbers).max(axis=1), _TINY)
        fixed[rows] = np.rint(numbers / largest[:, None] * _STEPS)
        scales[rows] = largest / _STEPS / np.maximum(np.linalg.norm(numbers, axis=1), _TINY)
    return fixed, scales


def _indexed(
    *, words: NDArray[np.int64], rows: NDArray[np.uint16], ranks: NDArray[np.float32], **columns: Any
) -> Segment:
    """`words`, `rows` and `ranks` of every word in every chunk, in any order."""
    order = np.argsort(words, kind="stable")
    distinct, starts = np.unique(words[order], return_index=True)
    levels, places = np.unique(ranks[order], return_inverse=True)
    return Segment(
        **columns,
        words=distinct,
        starts=np.append(starts, len(words)).astype(np.int64),
        rows=rows[order],
        ranks=places.astype(np.uint8 if len(levels) <= 256 else np.uint16),
        levels=levels,
    )


def merged(segments: Sequence[Segment], alive: Sequence[NDArray[np.bool_]]) -> Segment:
    """One segment of the chunks that are alive."""
    words, rows, ranks = [], [], []
    ends = np.cumsum([0, *(int(mask.sum()) for mask in alive)])
    for segment, mask, (base, _) in zip(segments, alive, pairwise(ends), strict=True):
        kept = mask[segment.rows]
        words.append(np.repeat(segment.words, np.diff(segment.starts))[kept])
        rows.append((np.cumsum(mask) - 1 + base)[segment.rows[kept]].astype(np.uint16))
        ranks.append(segment.levels[segment.ranks[kept]])
    joined = {
        field: np.concatenate(
            [getattr(segment, field)[mask] for segment, mask in zip(segments, alive, strict=True)]
        )
        for field in ("keys", "expires", "hidden", "users", "divisors", "scales")
    }
    return _indexed(
        **joined,
        vectors=_stacked(segments, alive),
        words=np.concatenate(words),
        rows=np.concatenate(rows),
        ranks=np.concatenate(ranks),
    )


def _stacked(segments: Sequence[Segment], alive: Sequence[NDArray[np.bool_]]) -> NDArray[np.int16]:
    width = max(segment.vectors.shape[1] for segment in segments)
    return np.concatenate(
        [
            np.pad(segment.vectors[mask], ((0, 0), (0, width - segment.vectors.shape[1])))
            for segment, mask in zip(segments, alive, strict=True)
        ]
    )
