"""Segments: chunks of a scope as arrays, which never change."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from datetime import MAXYEAR, UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from shared.search.hot.vectors import StoredVectors, Vectors, exact, joined
from shared.search.hot.words import words

NEVER = np.iinfo(np.int64).max
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Segment(msgspec.Struct, frozen=True, eq=False):
    """Arrays over chunks, and over words: word `i` is held by `rows[starts[i]:starts[i + 1]]`.

    How it ranks in them, `ranks` says as places in `levels`: few ranks differ.
    """

    keys: NDArray[np.int64]
    expires: NDArray[np.int64]
    """Microseconds since 1970."""
    hidden: NDArray[np.bool_]
    scopes: NDArray[np.int64]
    """Hashes."""
    users: NDArray[np.int64]
    """Hashes; 0 is no user."""
    divisors: NDArray[np.float64]
    """A rank is divided by this: long chunks match by chance."""
    vectors: Vectors
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
        self._keys, self._expires = array("q"), array("q")
        self._scopes, self._users = array("q"), array("q")
        self._hidden, self._lengths = array("b"), array("q")
        self._vectors: list[NDArray[Any] | None] = []
        self._words, self._rows, self._ranks = array("q"), array("H"), array("f")

    @property
    def rows(self) -> int:
        return len(self._keys)

    def size(self, *, coded: bool) -> int:
        """About how many bytes the segment will have."""
        width = next((vector.size for vector in self._vectors if vector is not None), 0)
        return (50 + (width // 8 if coded else 2 * width)) * self.rows + 6 * len(self._rows)

    def add(self, row: Any) -> None:
        number = self.rows
        self._keys.append(key_of(row["item_id"], row["chunk"]))
        self._expires.append(microseconds(row["expires_at"]))
        self._scopes.append(hash(row["scope"]))
        self._users.append(0 if row["user_id"] is None else hash(row["user_id"]))
        self._hidden.append(row["hidden"])
        self._lengths.append(row["words"])
        # A vector that nobody may find is not needed, nor are such words.
        shown = not row["hidden"]
        self._vectors.append(row["embedding"].to_numpy() if shown and row["embedding"] is not None else None)
        if shown:
            hashes, ranks = words(row["tsv"])
            self._words.extend(hashes)
            self._ranks.extend(ranks)
            self._rows.extend([number] * len(hashes))

    def build(self, encode: Callable[[StoredVectors], Vectors] = exact) -> Segment:
        return _indexed(
            keys=np.array(self._keys, np.int64),
            expires=np.array(self._expires, np.int64),
            hidden=np.array(self._hidden, np.bool_),
            scopes=np.array(self._scopes, np.int64),
            users=np.array(self._users, np.int64),
            divisors=np.maximum(1.0, np.sqrt(np.array(self._lengths, np.float64) / 20.0)),
            vectors=encode(self._vectors),
            words=np.array(self._words, np.int64),
            rows=np.array(self._rows, np.uint16),
            ranks=np.array(self._ranks, np.float32),
        )


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
    columns = {
        field: np.concatenate(
            [getattr(segment, field)[mask] for segment, mask in zip(segments, alive, strict=True)]
        )
        for field in ("keys", "expires", "hidden", "scopes", "users", "divisors")
    }
    return _indexed(
        **columns,
        vectors=joined([segment.vectors.of(mask) for segment, mask in zip(segments, alive, strict=True)]),
        words=np.concatenate(words),
        rows=np.concatenate(rows),
        ranks=np.concatenate(ranks),
    )
