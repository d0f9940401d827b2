"""Reads a tsvector as Postgres sends it, and ranks its words as ts_rank does."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

# The weights of D, C, B and A in the search statements.
_WEIGHTS = tuple(np.float32(weight) for weight in (0.2, 0.4, 1.0, 1.0))
_LIMIT = 1.64493406685
# A position is two bytes; the two highest bits of the first are its weight.
_HIGHEST = bytes(byte >> 6 for byte in range(256))
_NO_POSITION = b"\0"


class Word(NamedTuple):
    """A word's hash, and its rank by itself."""

    hash: int
    rank: float


def hashed(word: str) -> int:
    """The hash that stands for a word in this process."""
    return hash(word.encode())


def words(tsvector: bytes) -> Iterator[Word]:
    """From tsvectorsend: a count; then each word, a zero byte, a count, and its positions."""
    at = 4
    while at < len(tsvector):
        end = tsvector.index(0, at)
        positions = end + 3
        after = positions + 2 * (tsvector[end + 1] << 8 | tsvector[end + 2])
        yield Word(hash(tsvector[at:end]), rank(tsvector[positions:after:2].translate(_HIGHEST)))
        at = after


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
