from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from shared.embeddings.band import FLOORS
from shared.search.calibration import FEWEST, Sample, measure, samples

DIMENSIONS = 64
BAND = (0.30, 0.90)


def unit(vectors: NDArray[np.float64]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / lengths, np.float32)


def model(count: int, noise: float, related: float) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Vectors of sentences and their texts: unrelated cosines lie around `noise`, related ones around `related`."""
    random = np.random.default_rng(3)
    common = np.eye(1, DIMENSIONS) * np.sqrt(noise)
    own = unit(random.normal(size=(count, DIMENSIONS)) * (np.arange(DIMENSIONS) > 0))
    documents = common + np.sqrt(1 - noise) * own
    away = unit(random.normal(size=(count, DIMENSIONS)) * (np.arange(DIMENSIONS) > 0))
    share = (related - noise) / (1 - noise)
    questions = common + np.sqrt(1 - noise) * (share * own + np.sqrt(1 - share**2) * away)
    return unit(questions), unit(documents)


def of_groups(count: int, groups: int) -> list[Sample]:
    return [Sample(str(number % groups), "text", "sentence") for number in range(count)]


def test_the_band_begins_in_the_noise_and_ends_at_related_texts() -> None:
    measured = measure(of_groups(100, 10), *model(100, *BAND))
    assert measured.band.low == pytest.approx(BAND[0] - 0.1, abs=0.06)
    assert measured.band.high == pytest.approx(BAND[1], abs=0.06)
    assert measured.noise_answering < 0.1


def test_a_model_with_another_band_gets_it() -> None:
    near, far = (measure(of_groups(100, 10), *model(100, *band)).band for band in ((0.7, 0.95), (0.1, 0.6)))
    assert near.low > far.low + 0.3
    assert near.high > far.high + 0.2


def test_the_floors_are_the_built_in_ones_for_a_model_that_tells_texts_apart() -> None:
    assert measure(of_groups(100, 10), *model(100, *BAND)).band.floors == FLOORS


def test_the_floors_rise_for_a_model_that_tells_texts_apart_badly() -> None:
    measured = measure(of_groups(100, 10), *model(100, 0.5, 0.62))
    assert measured.band.floors.noise > FLOORS.noise
    assert measured.band.floors.answer > FLOORS.answer
    assert measured.noise_answering <= 0.02


@pytest.mark.parametrize(("count", "groups"), [(FEWEST - 1, 5), (FEWEST, 1)])
def test_too_few_texts_or_groups_are_refused(count: int, groups: int) -> None:
    with pytest.raises(ValueError, match="two groups"):
        measure(of_groups(count, groups), *model(count, *BAND))


def test_a_model_that_tells_nothing_apart_is_refused() -> None:
    same = np.full((40, DIMENSIONS), 1 / np.sqrt(DIMENSIONS), np.float32)
    with pytest.raises(ValueError, match="unrelated"):
        measure(of_groups(40, 4), same, same)


def test_a_sample_is_a_text_with_more_than_its_sentence() -> None:
    whole = "The ledger listens on port 5433. Nobody restarts it at night, not even on Sundays. OK."
    (sample,) = samples(
        [("m", whole), ("m", "One sentence of six words only."), ("m", "Too short. Is it?")], 5
    )
    assert sample == Sample("m", whole, "Nobody restarts it at night, not even on Sundays")
    assert len(samples([("m", whole)] * 9, 4)) == 4


def test_a_text_without_spaces_may_be_a_sample() -> None:
    sentence = "我们的服务器放在杭州的地下室里"
    (sample,) = samples([("m", f"{sentence}。发票在每月的第一天支付。短句。")], 9)
    assert sample.sentence == sentence
