"""Codes of vectors: what they estimate, and what a shortlist by them loses."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shared.search.hot.vectors import Codes, codes, exact, joined

WIDTH, STORED = 96, 128


def clustered(rows: int, seed: int = 1) -> NDArray[np.float32]:
    """Vectors around a few centres, all of which lie to one side of the origin, as those of models do."""
    centres = np.random.default_rng(0).normal(size=(8, WIDTH)) + 0.5
    random = np.random.default_rng(seed)
    numbers = np.zeros((rows, STORED), np.float32)
    numbers[:, :WIDTH] = centres[random.integers(0, 8, rows)] + random.normal(size=(rows, WIDTH))
    numbers /= np.linalg.norm(numbers, axis=1, keepdims=True)
    return numbers


def stored(vectors: NDArray[np.float32]) -> list[NDArray[np.float16] | None]:
    return [vector.astype(np.float16) for vector in vectors]


def test_estimates_are_near_the_cosines_and_not_biased() -> None:
    held, asked = clustered(2_000), clustered(1, seed=2)[0]
    coded = codes(stored(held), None)
    errors = coded.cosines(asked) - held @ asked
    assert abs(errors.mean()) < 0.02
    assert errors.std() < 0.1


def test_a_shortlist_holds_the_nearest() -> None:
    held = clustered(3_000)
    coded = codes(stored(held), None)
    for asked in clustered(20, seed=3):
        nearest = np.argsort(-(held @ asked))[:10]
        shortlist = np.argsort(-coded.cosines(asked))[:300]
        assert np.isin(nearest, shortlist).mean() >= 0.9


def test_a_code_takes_a_bit_a_coordinate() -> None:
    assert codes(stored(clustered(100)), None).nbytes == 100 * (128 // 8 + 4)


def test_vectors_that_are_not_there_have_no_cosine() -> None:
    held = stored(clustered(4))
    held[1] = None
    for vectors in (exact(held), codes(held, None)):
        assert vectors.present.tolist() == [True, False, True, True]
        assert np.isnan(vectors.cosines(clustered(1)[0])).tolist() == [False, True, False, False]


def test_codes_are_joined_and_taken_apart() -> None:
    held, asked = clustered(60), clustered(1, seed=4)[0]
    whole = codes(stored(held), None)
    parts = [codes(stored(part), whole.centre) for part in (held[:20], held[20:])]
    both = joined(parts)
    assert np.allclose(both.cosines(asked), whole.cosines(asked), atol=0.02)
    some = np.arange(60) % 3 == 0
    assert np.array_equal(both.of(some).cosines(asked), both.cosines(asked)[some])


def test_codes_without_vectors_are_joined_with_others() -> None:
    """The first chunks of a tenant may all be private."""
    nothing, asked = codes([None, None], None), clustered(1, seed=4)[0]
    assert np.isnan(nothing.cosines(asked)).all()
    some = codes(stored(clustered(3)), None)
    both = joined([nothing, some])
    assert isinstance(both, Codes)
    assert both.present.tolist() == [False, False, True, True, True]
    assert np.array_equal(both.cosines(asked)[2:], some.cosines(asked))


def test_a_vector_at_the_centre_is_there() -> None:
    one = clustered(1)
    assert codes(stored(one), None).present.all()


def test_a_question_of_zeros_has_cosines() -> None:
    held = stored(clustered(5))
    for vectors in (exact(held), codes(held, None)):
        assert np.isfinite(vectors.cosines(np.zeros(STORED, np.float32))).all()
