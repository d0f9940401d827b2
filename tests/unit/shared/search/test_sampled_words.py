"""How long a sample of a large scope's words is kept."""

from __future__ import annotations

import pytest

from shared.errors import Unavailable
from shared.search.counts import MOST_SELECTED, Common, SampledWords, common_from

FIRST, SECOND = Common(["crane"], [9_000]), Common(["crane"], [9_500])


class Samples:
    def __init__(self, *samples: Common | None) -> None:
        self._samples = list(samples)

    async def __call__(self) -> Common:
        sample = self._samples.pop(0)
        if sample is None:
            raise Unavailable("postgres", "the database did not answer in time")
        return sample


async def test_a_sample_is_kept_for_its_scope() -> None:
    words, samples = SampledWords(), Samples(FIRST, SECOND)
    for scope, wanted in (("a", FIRST), ("a", FIRST), ("b", SECOND), ("a", FIRST)):
        assert await words.get(scope, samples) == wanted


async def test_an_old_one_is_replaced_or_else_kept() -> None:
    words, samples = SampledWords(seconds=0.0), Samples(FIRST, None, SECOND)
    assert [await words.get("a", samples) for _ in range(3)] == [FIRST, FIRST, SECOND]


async def test_one_search_replaces_it_while_others_go_on() -> None:
    words = SampledWords(seconds=0.0)
    await words.get("a", Samples(FIRST))
    words._seconds = 3_600.0
    words._known["a"] = float("-inf"), FIRST
    meanwhile: list[Common] = []

    async def sample() -> Common:
        meanwhile.append(await words.get("a", Samples()))
        return SECOND

    assert await words.get("a", sample) == SECOND
    assert meanwhile == [FIRST]


async def test_a_first_one_that_fails_is_an_error() -> None:
    with pytest.raises(Unavailable):
        await SampledWords().get("a", Samples(None))


def test_no_word_selects_more_in_a_larger_scope() -> None:
    held = [common_from(count) for count in (2_000, 20_000, 100_000, 200_000, 10_000_000)]
    assert held == [100, 1_000, 3_000, MOST_SELECTED, MOST_SELECTED]
