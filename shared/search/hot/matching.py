"""The candidates of a question among a copy's chunks: what `statements/exact.sql` finds, in numpy.

Codes of vectors only choose a shortlist. The database then compares its vectors, and `judged` keeps the nearest.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from shared.search.counts import Common
from shared.search.hot.copies import Copy
from shared.search.hot.vectors import CodedQuestion, Codes, Exact, Vectors, coded_question, joined_codes
from shared.search.hot.words import hashed

# Of the common words, so many of the rarest select chunks.
_SELECTING = 2
# Of what codes put first, so many times the depth are compared exactly.
_SHORTLIST = 16
# Of what the signs alone put first, so many times the shortlist are estimated.
_ESTIMATED = 20

# The places of a segment's chunks in the columns, and their codes.
_Coded: TypeAlias = tuple[slice, Codes]


class Asked(msgspec.Struct, frozen=True):
    """A question as the database read it.

    `users`, `only` and `until` limit what may be found, as in `Values`. `now` is in microseconds.
    """

    lexemes: list[str]
    vector: NDArray[np.float32] | None
    depth: int
    common: Common
    users: list[str] | None
    now: int
    without: str | None = None
    """A scope that is not searched."""
    only: list[int] | None = None
    until: int | None = None


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


class Chosen(NamedTuple):
    """The chunks that each arm chose, by their places in the columns."""

    columns: _Columns
    held: list[_Held]
    df: list[int]
    by_vector: NDArray[np.int64]
    by_text: NDArray[np.int64]

    @property
    def rows(self) -> NDArray[np.int64]:
        new = ~np.isin(self.by_text, self.by_vector, assume_unique=True)
        return np.concatenate([self.by_vector, self.by_text[new]])

    @property
    def keys(self) -> list[int]:
        keys: list[int] = self.columns.keys[self.rows].tolist()
        return keys


def match(copy: Copy, asked: Asked) -> Matches:
    return matches(chosen(copy, asked))


def chosen(copy: Copy, asked: Asked) -> Chosen:
    columns = _columns(copy, asked)
    held = [_held(copy, columns.live, hashed(word)) for word in asked.lexemes]
    known = dict(zip(*asked.common, strict=True))
    df = [known.get(word, len(each.rows)) for word, each in zip(asked.lexemes, held, strict=True)]
    by_vector = _nearest(columns, asked.depth * (_SHORTLIST if copy.coded else 1))
    by_text = _best(columns, held, _idf(df, copy.rows), _selecting(asked.lexemes, known), asked.depth)
    return Chosen(columns, held, df, by_vector, by_text)


def judged(given: Chosen, exact: Mapping[int, float], depth: int) -> Chosen:
    """The choice by the exact cosines of its keys. A chunk that has none was not found by its vector."""
    rows = given.rows
    cosines = np.full(len(given.columns.keys), np.nan, np.float32)
    cosines[rows] = [exact.get(key, math.nan) for key in given.keys]
    compared = rows[~np.isnan(cosines[rows])]
    nearest = _highest(given.columns, compared, cosines[compared], depth)
    return given._replace(columns=given.columns._replace(cosines=cosines), by_vector=nearest)


def matches(given: Chosen) -> Matches:
    return Matches(given.df, _evidence(given.columns, given.held, given.rows))


def _columns(copy: Copy, asked: Asked) -> _Columns:
    keys = np.concatenate([segment.keys for segment in copy.segments])
    live = np.concatenate(
        [
            alive & ~segment.hidden & (segment.expires > asked.now)
            for segment, alive in zip(copy.segments, copy.alive, strict=True)
        ]
    )
    if asked.without is not None:
        live &= np.concatenate([segment.scopes for segment in copy.segments]) != hash(asked.without)
    if asked.only is not None:
        live &= np.isin(keys >> 15, asked.only)
    if asked.until is not None:
        live &= keys >> 15 <= asked.until
    seen = live
    if asked.users is not None:
        users = np.concatenate([segment.users for segment in copy.segments])
        seen = live & np.isin(users, [0, *(hash(user) for user in asked.users)])
    cosines = None if asked.vector is None else _cosines(copy, seen, asked.vector, asked.depth)
    return _Columns(keys, live, seen, cosines)


def _cosines(
    copy: Copy, seen: NDArray[np.bool_], vector: NDArray[np.float32], depth: int
) -> NDArray[np.float32]:
    """Codes only estimate them. NaN: no vector yet, or the signs alone show that it is far.

    None of a segment in which nothing may be found: the only agent of a tenant has no peers.
    """
    cosines = np.full(len(seen), np.nan, np.float32)
    coded: dict[bytes, list[_Coded]] = {}
    for part, vectors in _parts(copy):
        if not seen[part].any():
            continue
        if isinstance(vectors, Exact):
            cosines[part] = vectors.cosines(vector)
        elif len(vectors.centre):
            coded.setdefault(vectors.centre.tobytes(), []).append((part, vectors))
    # Each scope's codes have their own centre, and a question is turned for one centre.
    for parts in coded.values():
        question = coded_question(vector, parts[0][1].centre)
        near = _near(parts, question, seen, depth * _SHORTLIST * _ESTIMATED)
        cosines[near] = joined_codes([codes.of(near[part]) for part, codes in parts]).estimates(question)
    return cosines


def _near(
    parts: Sequence[_Coded], question: CodedQuestion, seen: NDArray[np.bool_], most: int
) -> NDArray[np.bool_]:
    """Of many chunks that may be seen, the `most` that come first by their signs; of fewer, all."""
    rough = np.full(len(seen), -np.inf, np.float32)
    many = sum(np.count_nonzero(seen[part]) for part, _ in parts) > 2 * most
    for part, codes in parts:
        rough[part] = np.where(seen[part] & codes.present, codes.rough(question) if many else 0, -np.inf)
    there = rough > -np.inf
    if not many or np.count_nonzero(there) <= most:
        return there
    least = float(np.partition(rough, len(rough) - most)[len(rough) - most])
    return rough >= least


def _parts(copy: Copy) -> Iterator[tuple[slice, Vectors]]:
    """The places of each segment's chunks in the columns, and their vectors."""
    stop = 0
    for segment in copy.segments:
        start, stop = stop, stop + len(segment.keys)
        yield slice(start, stop), segment.vectors


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
