from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.search.chunking import MAX_CHUNKS, TARGET, Chunk, chunk
from shared.text import MAX_CONTENT
from shared.tokens import width

PIECES = st.sampled_from(
    ["word ", "A sentence. ", "line\n", "x" * 700, "日本語", "\u2028", ". ", " ", "\n\n"]
)
TEXTS = st.one_of(st.text(max_size=50), st.lists(PIECES, max_size=400).map("".join))


@settings(deadline=None)
@given(TEXTS)
def test_chunks_cover_a_text_without_gaps_or_overlaps(text: str) -> None:
    chunks = chunk(text)
    assert chunks[0].start == 0
    assert chunks[-1].stop == len(text)
    assert all(a.stop == b.start for a, b in itertools.pairwise(chunks))
    assert "".join(text[c.start : c.stop] for c in chunks) == text


@settings(deadline=None)
@given(TEXTS)
def test_no_chunk_is_empty_or_far_from_the_target(text: str) -> None:
    chunks = chunk(text)
    assert all(c.stop > c.start for c in chunks) or text == ""
    widths = [width(text[c.start : c.stop]) for c in chunks]
    assert all(wide <= TARGET * 5 // 4 for wide in widths)
    # A cut before a mark, and rounding, take a few characters.
    assert all(wide >= TARGET // 2 - 40 for wide in widths[:-1])


@pytest.mark.parametrize("mark", ["\n", ". ", " "])
def test_cuts_follow_lines_sentences_and_words(mark: str) -> None:
    text = ("abcdefg" + mark) * 400
    assert all(text[: c.stop].endswith(mark) for c in chunk(text)[:-1])


def test_a_text_a_little_over_the_target_stays_whole() -> None:
    assert chunk("x" * (TARGET * 5 // 4)) == [Chunk(0, TARGET * 5 // 4)]
    assert len(chunk("x" * (TARGET * 5 // 4 + 1))) == 2


def test_the_last_of_too_many_chunks_takes_the_rest() -> None:
    text = "x" * (TARGET * MAX_CHUNKS * 2)
    chunks = chunk(text)
    assert len(chunks) == MAX_CHUNKS
    assert chunks[-1].stop == len(text)


@pytest.mark.parametrize("mark", ["。", "！", "？」", "、"])
def test_cuts_follow_sentences_and_phrases_without_spaces(mark: str) -> None:
    text = ("服务器放在地下室" + mark) * 400
    assert all(text[: c.stop].endswith(mark) for c in chunk(text)[:-1])


def test_no_cut_separates_a_sign_from_its_letter() -> None:
    text = "ก็ที่" * 1_000
    assert all(text[c.start] in "กท" for c in chunk(text))


def test_a_chunk_of_wide_characters_holds_no_more_tokens() -> None:
    text = "服务器放在地下室。" * 1_000
    assert max(c.stop - c.start for c in chunk(text)) < TARGET / 3


def test_the_longest_text_of_wide_characters_has_chunks_of_one_size() -> None:
    text = "服务器放在地下室。" * (MAX_CONTENT // 9)
    lengths = [c.stop - c.start for c in chunk(text)]
    assert len(lengths) < MAX_CHUNKS
    assert max(lengths) < 2 * min(lengths[:-1])
