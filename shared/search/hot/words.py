"""Reads a tsvector as Postgres sends it, and ranks its words as ts_rank does."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

# The weights of D, C, B and A in the search statements.
_WEIGHTS = tuple(np.float32(weight) for weight in (0.2, 0.4, 1.0, 1.0))
_LIMIT = 1.64493406685
# A position is two bytes; the two highest bits of the first are its weight.
_HIGHEST = bytes(byte >> 6 for byte in range(256))
_NO_POSITION = b"\0"


class Words(NamedTuple):
    """The words' hashes, and the rank of each by itself."""

    hashes: list[int]
    ranks: list[float]


def hashed(word: str) -> int:
    """The hash that stands for a word in this process."""
    return hash(word.encode())


def words(tsvector: bytes) -> Words:
    """From tsvectorsend: a count; then each word, a zero byte, a count, and its positions."""
    hashes, ranks = [], []
    at, size = 4, len(tsvector)
    while at < size:
        end = tsvector.index(0, at)
        count = tsvector[end + 1] << 8 | tsvector[end + 2]
        after = end + 3 + 2 * count
        hashes.append(hash(tsvector[at:end]))
        # Most words stand once in a chunk.
        once = count == 1
        ranks.append(_ONCE[tsvector[end + 3] >> 6] if once else _rank_of(tsvector[end + 3 : after : 2]))
        at = after
    return Words(hashes, ranks)


def _rank_of(positions: bytes) -> float:
    return rank(positions.translate(_HIGHEST))


@lru_cache(maxsize=16_384)
def rank(weights: bytes) -> float:
    """ts_rank of one word: its highest weight counts whole, each other one by the square of its place.

    It repeats Postgres's calc_rank_or in the same precision.
    """
    values = [_WEIGHTS[weight] for weight in weights or _NO_POSITION]
    total = np.float32(0)
    for place, value in enumerate(values, 1):
        total += value / np.float32(place * place)
    best = max(values)
    place = values.index(best) + 1
    return float(np.float32(float(best + total - best / np.float32(place * place)) / _LIMIT))


_ONCE = [rank(bytes([weight])) for weight in range(len(_WEIGHTS))]
