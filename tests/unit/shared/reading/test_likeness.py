"""The quick search for a wording finds what a comparison with each one finds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from shared.reading.likeness import Wording, Wordings, read
from shared.reading.memo import remembered

WORDS = st.sampled_from(["alpha", "beta", "gamma", "delta", "not", "7"])
WORDINGS = st.lists(WORDS, max_size=24).map(lambda words: Wording(tuple(words)))


@st.composite
def nearly_equal(draw: st.DrawFn) -> Wording:
    """Twenty words, of which up to three are left out."""
    words = draw(st.lists(WORDS, min_size=20, max_size=24))
    for place in sorted(draw(st.sets(st.integers(0, 19), max_size=3)), reverse=True):
        del words[place]
    return Wording(tuple(words))


@given(st.lists(WORDINGS | nearly_equal(), max_size=12), WORDINGS | nearly_equal())
def test_the_first_that_says_it_is_that_of_a_plain_search(known: list[Wording], wanted: Wording) -> None:
    wordings: Wordings[int] = Wordings()
    for place, wording in enumerate(known):
        wordings.add(wording, place)
    plain = (place for place, wording in enumerate(known) if wording.says(wanted))
    assert wordings.first_that_says(wanted) == next(plain, None)


def test_a_longer_wording_is_found_by_a_shorter_one() -> None:
    long = read("one two three four five six seven eight nine ten eleven")
    wordings: Wordings[str] = Wordings()
    wordings.add(long, "long")
    assert wordings.first_that_says(Wording(long.words[:-1])) == "long"
    assert wordings.first_that_says(Wording(long.words[:-2])) is None
    assert wordings.first_that_says(Wording(())) is None


def test_a_long_token_is_read_like_a_short_one() -> None:
    long = "x" * 1_000
    assert read(f"The {long}s, -- tests").words == (long, "test")


def test_only_short_texts_are_remembered() -> None:
    calls: list[str] = []

    @remembered
    def length(text: str) -> int:
        calls.append(text)
        return len(text)

    short, long = "a" * 600, "a" * 601
    assert [length(text) for text in (short, short, long, long)] == [600, 600, 601, 601]
    assert calls == [short, long, long]
