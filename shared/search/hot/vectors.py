"""Vectors of chunks: as integers that are as exact as what is stored, or as codes that only choose what to compare."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

_BLOCK = 512
_TINY = np.finfo(np.float32).tiny
_STEPS = 32_767  # a coordinate of a vector is a multiple of its row's largest one by this
_WORD = 64
_PLANES = 4  # bits of a question's coordinate
_SEED = 20_261
_SAMPLE = 4_096


class Exact(msgspec.Struct, frozen=True, eq=False):
    """16-bit integers. Half floats would take much longer to become floats."""

    numbers: NDArray[np.int16]
    scales: NDArray[np.float32]
    """Times its row of `numbers`, a vector of length 1. 0: no vector yet."""

    @property
    def present(self) -> NDArray[np.bool_]:
        return np.not_equal(self.scales, 0)

    @property
    def nbytes(self) -> int:
        return self.numbers.nbytes + self.scales.nbytes

    def of(self, kept: NDArray[np.bool_]) -> Exact:
        return Exact(self.numbers[kept], self.scales[kept])

    def cosines(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """NaN: no vector yet. Not by BLAS, whose threads would wait for each other on a busy machine."""
        rows, width = self.numbers.shape
        products = np.empty(rows, np.float32)
        for start in range(0, rows, _BLOCK):
            block = self.numbers[start : start + _BLOCK].astype(np.float32)
            products[start : start + _BLOCK] = np.einsum("ij,j->i", block, vector[:width])
        length = np.float32(np.linalg.norm(vector) or 1.0)
        return np.where(self.present, products * self.scales / length, np.float32("nan"))


class Codes(msgspec.Struct, frozen=True, eq=False):
    """A bit a coordinate, after Gao and Long, RaBitQ (SIGMOD 2024): the signs of the turned vector, less the centre.

    With each vector's length and what its signs keep of it, they estimate cosines without bias.
    """

    signs: NDArray[np.uint64]
    """Shape (words, rows)."""
    factors: NDArray[np.float32]
    """0: no vector yet."""
    centre: NDArray[np.float32]

    @property
    def present(self) -> NDArray[np.bool_]:
        return np.not_equal(self.factors, 0)

    @property
    def nbytes(self) -> int:
        return self.signs.nbytes + self.factors.nbytes

    def of(self, kept: NDArray[np.bool_]) -> Codes:
        rows = np.flatnonzero(kept)
        return Codes(self.signs.take(rows, axis=1), self.factors[rows], self.centre)

    def cosines(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """Estimates. NaN: no vector yet."""
        if not len(self.centre):
            return np.full(len(self.factors), np.nan, np.float32)
        return self.estimates(coded_question(vector, self.centre))

    def rough(self, question: CodedQuestion) -> NDArray[np.float32]:
        """Estimates by the signs of both sides, in a sixth of the time. NaN: no vector yet."""
        different = np.zeros(len(self.factors), np.uint16)
        for word, row in zip(question.signs, self.signs, strict=True):
            different += np.bitwise_count(row ^ word)
        agree = np.float32(len(self.centre)) - np.float32(2) * different
        return self._where_present(question.base + agree * question.mean * self.factors)

    def estimates(self, question: CodedQuestion) -> NDArray[np.float32]:
        """As `cosines`."""
        levels = np.zeros(self.signs.shape[1], np.uint32)
        for plane, bits in enumerate(question.planes):
            levels += self._common(bits) << np.uint32(plane)
        ones = self._common(np.full(len(self.signs), ~np.uint64(0)))
        sums = levels * question.step + ones * question.low
        return self._where_present(question.base + (2 * sums - question.sum) * self.factors)

    def _common(self, bits: NDArray[np.uint64]) -> NDArray[np.uint32]:
        """How many bits each row's signs have in common with these."""
        count = np.zeros(self.signs.shape[1], np.uint32)
        for word, row in zip(bits, self.signs, strict=True):
            count += np.bitwise_count(row & word)
        return count

    def _where_present(self, estimates: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.where(self.present, estimates, np.float32("nan"))


class CodedQuestion(NamedTuple):
    """A question's vector, turned as codes are. Its coordinates are `low` plus levels times `step`."""

    base: np.float32
    """Its cosine with the centre."""
    signs: NDArray[np.uint64]
    planes: NDArray[np.uint64]
    """The bits of the levels. Shape (_PLANES, words)."""
    low: np.float32
    step: np.float32
    sum: np.float32
    mean: np.float32
    """Of the coordinates without their signs."""


def coded_question(vector: NDArray[np.float32], centre: NDArray[np.float32]) -> CodedQuestion:
    """For codes of this centre. The vector may have any length."""
    width = len(centre)
    unit = vector[:width] / np.float32(np.linalg.norm(vector) or 1.0)
    turned = _turn(width) @ unit
    low, step = _steps(turned)
    levels = np.rint((turned - low) / step).astype(np.uint64)
    bits = levels[None] >> np.arange(_PLANES, dtype=np.uint64)[:, None] & np.uint64(1)
    return CodedQuestion(
        base=np.float32(centre @ unit),
        signs=_packed((turned > 0)[None])[:, 0],
        planes=_packed(bits).T,
        low=low,
        step=step,
        sum=turned.sum(),
        mean=np.abs(turned).mean(),
    )


Vectors: TypeAlias = Exact | Codes
StoredVectors: TypeAlias = Sequence[NDArray[Any] | None]
"""Half floats by row; None: no vector yet."""


class _Given(NamedTuple):
    """Vectors as they are stored, without zeros at their ends, and their rows."""

    rows: NDArray[np.int64]
    halves: NDArray[np.float16]


def exact(vectors: StoredVectors) -> Exact:
    given = _given(vectors)
    fixed = np.zeros((len(vectors), given.halves.shape[1]), np.int16)
    scales = np.zeros(len(vectors), np.float32)
    for start in range(0, len(given.rows), _BLOCK):
        rows = given.rows[start : start + _BLOCK]
        numbers = given.halves[start : start + _BLOCK].astype(np.float32)
        largest = np.maximum(np.abs(numbers).max(axis=1), _TINY)
        fixed[rows] = np.rint(numbers / largest[:, None] * _STEPS)
        scales[rows] = largest / _STEPS / np.maximum(np.linalg.norm(numbers, axis=1), _TINY)
    return Exact(fixed, scales)


def codes(vectors: StoredVectors, centre: NDArray[np.float32] | None) -> Codes:
    """Without a centre: about that of these vectors. All vectors of a copy need the same."""
    given = _given(vectors)
    if centre is None:
        centre = _units(given.halves[:_SAMPLE]).mean(axis=0) if len(given.rows) else np.zeros(0, np.float32)
    width = len(centre)
    signs = np.zeros((len(vectors), -(-width // _WORD)), np.uint64)
    factors = np.zeros(len(vectors), np.float32)
    for start in range(0, len(given.rows), _BLOCK):
        rows = given.rows[start : start + _BLOCK]
        units = _fitted(_units(given.halves[start : start + _BLOCK]), width)
        turned = (units - centre) @ _turn(width).T
        signs[rows] = _packed(turned > 0).T
        # The square of the length by what the signs keep of it.
        kept = np.square(turned).sum(axis=1) / np.maximum(np.abs(turned).sum(axis=1), _TINY)
        factors[rows] = np.maximum(kept, _TINY)
    return Codes(np.ascontiguousarray(signs.T), factors, centre)


def centre_of(parts: Sequence[Vectors]) -> NDArray[np.float32] | None:
    """None: there is no vector yet."""
    return next((part.centre for part in parts if isinstance(part, Codes) and len(part.centre)), None)


def joined(parts: Sequence[Vectors]) -> Vectors:
    """One behind the other. All are exact, or all are codes of the same centre."""
    if coded := [part for part in parts if isinstance(part, Codes)]:
        return joined_codes(coded)
    fixed = [part for part in parts if isinstance(part, Exact)]
    width = max(part.numbers.shape[1] for part in fixed)
    numbers = np.concatenate([_fitted(part.numbers, width) for part in fixed])
    return Exact(numbers, np.concatenate([part.scales for part in fixed]))


def joined_codes(parts: Sequence[Codes]) -> Codes:
    """One behind the other, all of the same centre. A part without vectors may have none."""
    centre = max((part.centre for part in parts), key=len)
    words = max(len(part.signs) for part in parts)
    signs = [_with_words(part.signs, words) for part in parts]
    return Codes(np.concatenate(signs, axis=1), np.concatenate([part.factors for part in parts]), centre)


def _with_words(signs: NDArray[np.uint64], words: int) -> NDArray[np.uint64]:
    missing = words - len(signs)
    return np.pad(signs, ((0, missing), (0, 0))) if missing else signs


def _given(vectors: StoredVectors) -> _Given:
    rows = [row for row, vector in enumerate(vectors) if vector is not None]
    if not rows:
        return _Given(np.array(rows, np.int64), np.zeros((0, 0), np.float16))
    halves = np.stack([vector for vector in vectors if vector is not None])
    width = int(np.flatnonzero(halves.any(axis=0)).max(initial=0)) + 1
    return _Given(np.array(rows, np.int64), halves[:, :width])


def _units(vectors: NDArray[Any]) -> NDArray[np.float32]:
    """With length 1."""
    numbers = vectors.astype(np.float32)
    numbers /= np.maximum(np.linalg.norm(numbers, axis=1, keepdims=True), _TINY)
    return numbers


def _fitted(numbers: NDArray[Any], width: int) -> NDArray[Any]:
    """With zeros at the ends of its rows, or without."""
    return np.pad(numbers[:, :width], ((0, 0), (0, max(0, width - numbers.shape[1]))))


@cache
def _turn(width: int) -> NDArray[np.float32]:
    """A random rotation, the same in every process."""
    turned, _ = np.linalg.qr(np.random.default_rng(_SEED).normal(size=(width, width)))
    return turned.astype(np.float32)


def _steps(turned: NDArray[np.float32]) -> tuple[np.float32, np.float32]:
    low = turned.min()
    return low, np.maximum((turned.max() - low) / np.float32(2**_PLANES - 1), _TINY)


def _packed(bits: NDArray[Any]) -> NDArray[np.uint64]:
    """Rows of bits as words, in shape (words, rows)."""
    filled = np.pad(bits.astype(np.bool_), ((0, 0), (0, -bits.shape[1] % _WORD)))
    return np.ascontiguousarray(np.packbits(filled, axis=1).view(np.uint64).T)
