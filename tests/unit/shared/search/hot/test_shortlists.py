"""Of a large copy of codes, only what the signs put first is estimated."""

from __future__ import annotations

import struct
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector

from shared.search.counts import NONE_COMMON
from shared.search.hot.copies import Copy, copy_of, together
from shared.search.hot.matching import Asked, Chosen, chosen
from shared.search.hot.segments import Builder, Segment, microseconds
from shared.search.hot.vectors import StoredVectors, Vectors, codes, exact

NOW = datetime(2026, 1, 1, tzinfo=UTC)
WIDTH, SEGMENTS, ROWS, DEPTH = 96, 3, 1_000, 2
SHORTLIST, ESTIMATED = 16 * DEPTH, 20 * 16 * DEPTH
RANDOM = np.random.default_rng(5)
CENTRES = RANDOM.normal(size=(40, WIDTH)) + 0.3


def near_some_centre(rows: int) -> NDArray[np.float32]:
    numbers = CENTRES[RANDOM.integers(0, len(CENTRES), rows)] + RANDOM.normal(size=(rows, WIDTH))
    numbers /= np.linalg.norm(numbers, axis=1, keepdims=True)
    return numbers.astype(np.float32)


HELD = near_some_centre(SEGMENTS * ROWS)


def row(item: int, vector: NDArray[np.float32]) -> dict[str, Any]:
    """Each tenth has no vector yet, and each seventh is about a user."""
    return {
        "item_id": item,
        "chunk": 0,
        "scope": "agent:a",
        "words": 0,
        "expires_at": datetime.max.replace(tzinfo=UTC),
        "hidden": False,
        "user_id": "bob" if item % 7 == 0 else None,
        "tsv": struct.pack(">I", 0),
        "embedding": None if item % 10 == 0 else HalfVector(vector),
    }


def segment(
    first: int, vectors: NDArray[np.float32], encode: Callable[[StoredVectors], Vectors] = exact
) -> Segment:
    builder = Builder()
    for item, vector in enumerate(vectors, first):
        builder.add(row(item, vector))
    return builder.build(encode)


def copy(*segments: Segment) -> Copy:
    return copy_of(segments, (1, 1, []), NOW)


WITH_CODES = partial(codes, centre=HELD.mean(axis=0))
COPY = copy(*(segment(first, HELD[first : first + ROWS], WITH_CODES) for first in range(0, len(HELD), ROWS)))


def estimated(found: Chosen) -> int:
    """How many chunks have an estimate."""
    assert found.columns.cosines is not None
    return int(np.count_nonzero(~np.isnan(found.columns.cosines)))


def question(vector: NDArray[np.float32], users: list[str] | None = None) -> Asked:
    return Asked([], vector, DEPTH, NONE_COMMON, users, microseconds(NOW))


def test_a_shortlist_of_what_the_signs_put_first_holds_the_nearest() -> None:
    there = np.arange(len(HELD)) % 10 != 0
    kept = []
    for vector in near_some_centre(30):
        found = chosen(COPY, question(vector))
        assert len(found.by_vector) == SHORTLIST
        assert ESTIMATED <= estimated(found) < ESTIMATED + 20
        nearest = np.argsort(np.where(there, -(HELD @ vector), np.inf))[:DEPTH]
        kept.append(np.isin(nearest, found.by_vector).mean())
    assert np.mean(kept) >= 0.95


def test_only_what_may_be_seen_takes_a_place() -> None:
    for users in ([], ["alice"]):
        found = chosen(COPY, question(HELD[7], users))
        items = [key >> 15 for key in found.keys]
        assert len(items) == SHORTLIST
        assert all(item % 7 and item % 10 for item in items)
    assert 7 in [key >> 15 for key in chosen(COPY, question(HELD[7], ["bob"])).keys]


def test_of_few_all_are_estimated() -> None:
    small = COPY.among([item << 15 for item in range(ESTIMATED)])
    found = chosen(small, question(HELD[1]))
    assert estimated(found) == ESTIMATED * 9 // 10


def test_a_scope_of_exact_vectors_is_found_beside_one_of_codes() -> None:
    """A user has few long-term memories, and what the tenant shares has many."""
    own = near_some_centre(50)
    for both in ([COPY, copy(segment(len(HELD), own))], [copy(segment(len(HELD), own)), COPY]):
        for item, vector in [(1, HELD[1]), (len(HELD) + 1, own[1])]:
            found = chosen(together(both), question(vector))
            assert item in [key >> 15 for key in found.keys]


def test_estimates_by_far_centres_are_compared() -> None:
    """Each scope's codes have a centre of their own."""
    axis = np.eye(WIDTH, dtype=np.float32)[0]
    one, other = HELD[:ROWS] / 2 + axis, HELD[:ROWS] / 2 - axis
    encode = partial(codes, centre=None)
    both = together([copy(segment(0, one, encode)), copy(segment(ROWS, other, encode))])
    for asked, of_one in [(one[1], True), (other[1], False)]:
        found = chosen(both, question(asked / np.linalg.norm(asked)))
        assert all((key >> 15 < ROWS) == of_one for key in found.keys)
