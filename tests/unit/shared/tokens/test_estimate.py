"""`o200k_base.tsv` holds what that tokenizer counted for the sentences of the tests of languages: of their text, and of
a block that holds each as an item.
"""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.packing import tokens_of_line
from shared.render import Fence, render_item
from shared.tokens import estimate_tokens, estimate_tokens_of, width, within

SENTENCES = Path(__file__).parents[3] / "integration" / "shared" / "search" / "languages"
FENCE = Fence(datetime(2026, 7, 4, 12, 0, tzinfo=UTC), "k3f")
COUNTED = {
    language: (int(text), int(block))
    for language, text, block in (
        line.split("\t") for line in Path(__file__).with_name("o200k_base.tsv").read_text().splitlines()
    )
}
TEXTS = st.text(st.one_of(st.characters(codec="ascii"), st.sampled_from("日本語한글ไทยжéż’…😀\ud800")))


def sentences(language: str) -> list[str]:
    lines = (SENTENCES / f"{language}.tsv").read_text().splitlines()
    return [line.split("\t")[0] for line in lines]


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("x" * 40_000, 10_000)]
)
def test_four_ascii_characters_are_a_token(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


def test_the_tokenizer_counted_every_language() -> None:
    assert COUNTED.keys() == {path.stem for path in SENTENCES.glob("*.tsv")}


@pytest.mark.parametrize("language", COUNTED)
def test_the_estimate_is_within_a_fifth_of_what_a_tokenizer_counts(language: str) -> None:
    counted, _ = COUNTED[language]
    assert abs(estimate_tokens("\n".join(sentences(language))) / counted - 1) <= 0.2


@pytest.mark.parametrize("language", ["chinese", "japanese", "korean", "thai", "russian"])
def test_a_block_takes_no_more_tokens_than_estimated(language: str) -> None:
    items = [
        render_item(f"cache:{place}", FENCE.now, ["note", "scout"], sentence, FENCE)
        for place, sentence in enumerate(sentences(language), 1)
    ]
    _, counted = COUNTED[language]
    assert counted <= sum(map(tokens_of_line, items)) <= 1.2 * counted


def test_english_punctuation_is_no_wider_than_ascii() -> None:
    assert width("it’s “fine” — so far …") == width("it's 'fine' - so far .")


def test_values_in_lists_and_objects_count() -> None:
    assert estimate_tokens_of(["日本", {"a": ["語"]}]) == estimate_tokens("日本a語")


@given(TEXTS, st.integers(0, 60))
def test_the_longest_beginning_that_fits_a_width(text: str, most: int) -> None:
    fitting = within(text, most)
    assert width(text[:fitting]) <= most
    assert fitting == len(text) or width(text[: fitting + 1]) > most


@given(TEXTS)
def test_a_longer_text_is_wider(text: str) -> None:
    widths = [width(text[:end]) for end in range(len(text) + 1)]
    assert all(shorter < longer for shorter, longer in pairwise(widths))


@given(TEXTS)
def test_few_wide_characters_are_as_wide_as_among_many(text: str) -> None:
    many = "日" * 40
    assert width(text * 10 + many) == pytest.approx(10 * width(text) + width(many), abs=10)
