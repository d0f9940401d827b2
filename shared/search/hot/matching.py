"""The candidates of a question among a copy's chunks: what `statements/exact.sql` finds, in numpy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from shared.search.counts import Common
from shared.search.hot.copies import Copy
from shared.search.hot.segments import Segment
from shared.search.hot.words import hashed

# Of the common words, so many of the rarest select chunks.
_SELECTING = 2
_BLOCK = 512


class Asked(msgspec.Struct, frozen=True):
    """A question as the database read it. `users` limits what may be found; `now` is in microseconds."""

    lexemes: list[str]
    vector: NDArray[np.float32] | None
    depth: int
    common: Common
    users: list[str] | None
    now: int


class Match(NamedTuple):
    item: int
    chunk: int
    cosine: float | None
    places: list[int]
    tfs: list[float]


class Matches(NamedTuple):
    df: list[int]
    """In how many chunks each lexeme stands."""
    found: list[Match]


class _Held(NamedTuple):
    """The chunks that hold a word, and how much of it each holds."""

    rows: NDArray[np.int64]
    tf: NDArray[np.float64]


class _Columns(NamedTuple):
    """The copy's chunks, one behind the other."""

    keys: NDArray[np.int64]
    live: NDArray[np.bool_]
    seen: NDArray[np.bool_]
    cosines: NDArray[np.float32] | None
    """NaN: no vector yet."""


def match(copy: Copy, asked: Asked) -> Matches:
    columns = _columns(copy, asked)
    held = [_held(copy, columns.live, hashed(word)) for word in asked.lexemes]
    known = dict(zip(*asked.common, strict=True))
    df = [known.get(word, len(each.rows)) for word, each in zip(asked.lexemes, held, strict=True)]
    by_vector = _nearest(columns, asked.depth)
    by_text = _best(columns, held, _idf(df, copy.rows), _selecting(asked.lexemes, known), asked.depth)
    rows = np.concatenate([by_vector, by_text[~np.isin(by_text, by_vector)]])
    return Matches(df, _evidence(columns, held, rows))


def _columns(copy: Copy, asked: Asked) -> _Columns:
    live = np.concatenate(
        [
            alive & ~segment.hidden & (segment.expires > asked.now)
            for segment, alive in zip(copy.segments, copy.alive, strict=True)
        ]
    )
    seen = live
    if asked.users is not None:
        users = np.concatenate([segment.users for segment in copy.segments])
        seen = live & np.isin(users, [0, *(hash(user) for user in asked.users)])
    cosines = None
    if asked.vector is not None:
        cosines = np.concatenate([_cosines(segment, asked.vector) for segment in copy.segments])
    return _Columns(np.concatenate([segment.keys for segment in copy.segments]), live, seen, cosines)


def _cosines(segment: Segment, vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """Not by BLAS, whose threads would wait for each other on a busy machine."""
    rows, width = segment.vectors.shape
    products = np.empty(rows, np.float32)
    for start in range(0, rows, _BLOCK):
        block = segment.vectors[start : start + _BLOCK].astype(np.float32)
        products[start : start + _BLOCK] = np.einsum("ij,j->i", block, vector[:width])
    length = np.float32(np.linalg.norm(vector) or 1.0)
    return np.where(segment.scales == 0, np.float32("nan"), products * segment.scales / length)


def _held(copy: Copy, live: NDArray[np.bool_], word: int) -> _Held:
    rows, tfs, base = [], [], 0
    for segment in copy.segments:
        held, ranks = segment.holding(word)
        if len(held):
            rows.append(held.astype(np.int64) + base)
            tfs.append(ranks / segment.divisors[held])
        base += len(segment.keys)
    if not rows:
        return _Held(np.empty(0, np.int64), np.empty(0, np.float64))
    every, tf = np.concatenate(rows), np.concatenate(tfs)
    kept = live[every]
    return _Held(every[kept], tf[kept])


def _idf(df: Sequence[int], documents: int) -> list[float]:
    return [math.log(1 + documents / max(1, count)) for count in df]


def _selecting(lexemes: Sequence[str], common: dict[str, int]) -> list[int]:
    """The words that select chunks: all but the common ones, of which the rarest do."""
    counted = sorted((common[word], place) for place, word in enumerate(lexemes) if word in common)
    rarest = {place for _, place in counted[:_SELECTING]}
    return [place for place, word in enumerate(lexemes) if word not in common or place in rarest]


def _nearest(columns: _Columns, depth: int) -> NDArray[np.int64]:
    if columns.cosines is None:
        return np.empty(0, np.int64)
    rows = np.flatnonzero(columns.seen & ~np.isnan(columns.cosines))
    return _highest(columns, rows, columns.cosines[rows], depth)


def _best(
    columns: _Columns, held: Sequence[_Held], idf: Sequence[float], selecting: Sequence[int], depth: int
) -> NDArray[np.int64]:
    selected = np.zeros(len(columns.keys), np.bool_)
    for place in selecting:
        selected[held[place].rows] = True
    scores = np.zeros(len(columns.keys), np.float64)
    for each, weight in zip(held, idf, strict=True):
        scores[each.rows] += weight * each.tf
    rows = np.flatnonzero(selected & columns.seen)
    return _highest(columns, rows, scores[rows], depth)


def _highest(
    columns: _Columns, rows: NDArray[np.int64], values: NDArray[np.floating], depth: int
) -> NDArray[np.int64]:
    """The rows of the highest values; of equal ones, the newest items' first chunks."""
    if len(rows) > depth:
        kept = values >= np.partition(values, len(values) - depth)[len(values) - depth]
        rows, values = rows[kept], values[kept]
    items, chunks = columns.keys[rows] >> 15, columns.keys[rows] & 0x7FFF
    return rows[np.lexsort((chunks, -items, -values))[:depth]]


def _evidence(columns: _Columns, held: Sequence[_Held], rows: NDArray[np.int64]) -> list[Match]:
    keys = columns.keys[rows].tolist()
    cosines = [None] * len(rows) if columns.cosines is None else columns.cosines[rows].tolist()
    found = [
        Match(key >> 15, key & 0x7FFF, None if cosine is None or math.isnan(cosine) else cosine, [], [])
        for key, cosine in zip(keys, cosines, strict=True)
    ]
    slot = np.full(len(columns.keys), -1, np.int64)
    slot[rows] = np.arange(len(rows))
    for place, each in enumerate(held, 1):
        slots = slot[each.rows]
        chosen = slots >= 0
        for at, tf in zip(slots[chosen].tolist(), each.tf[chosen].astype(np.float32).tolist(), strict=True):
            found[at].places.append(place)
            found[at].tfs.append(tf)
    return found
