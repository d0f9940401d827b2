from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.concurrency.calls import retry_after_seconds
from shared.embeddings.base import DIM, EmbedderUnavailable, unit_rows
from shared.embeddings.remote import batches, clean_text

any_text = st.text(st.characters(exclude_categories=()))


def tokens(text: str) -> int:
    return len(text.encode()) // 3 + 1


@given(st.lists(st.text(max_size=60)), st.integers(1, 5), st.integers(1, 40))
def test_batches_keep_order_and_stay_within_both_limits(
    texts: list[str], max_texts: int, max_tokens: int
) -> None:
    parts = list(batches(texts, max_texts, max_tokens))
    assert [text for part in parts for text in part] == texts
    for part in parts:
        assert 0 < len(part) <= max_texts
        assert sum(map(tokens, part)) <= max_tokens or len(part) == 1


@given(any_text, st.integers(4, 40))
def test_cleaned_text_can_be_sent(text: str, max_bytes: int) -> None:
    clean = clean_text(text, max_bytes)
    assert clean.strip()
    assert len(clean.encode()) <= max_bytes


def test_text_within_the_limit_is_sent_as_it_is() -> None:
    assert clean_text("Grüße, 世界", 40) == "Grüße, 世界"


def test_retry_after_is_seconds_or_a_date() -> None:
    now = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)
    assert retry_after_seconds("1.5") == 1.5
    assert retry_after_seconds("-3") == 0
    assert retry_after_seconds("Thu, 01 Jan 2026 12:00:07 GMT", now) == 7
    assert retry_after_seconds("Thu, 01 Jan 2026 11:00:00 GMT", now) == 0
    assert retry_after_seconds("soon") is None
    assert retry_after_seconds(None) is None


@given(st.integers(1, 4), st.integers(1, DIM), st.integers(0, 2**32 - 1))
def test_rows_become_unit_vectors_with_the_same_cosines(count: int, width: int, seed: int) -> None:
    raw = np.random.default_rng(seed).normal(size=(count, width)) * 100
    vectors = unit_rows(raw.tolist(), count)
    assert vectors.shape == (count, DIM)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    unit = raw / np.linalg.norm(raw, axis=1, keepdims=True)
    np.testing.assert_allclose(vectors @ vectors.T, unit @ unit.T, atol=1e-5)


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [[]],
        [[1.0] * DIM, [1.0] * DIM],
        [[1.0] * (DIM + 1)],
        [[float("nan")] * DIM],
        [[float("inf")] * DIM],
        [[0.0] * DIM],
        [["a"] * DIM],
        None,
    ],
)
def test_what_is_not_one_vector_is_malformed(rows: object) -> None:
    with pytest.raises(EmbedderUnavailable, match="malformed"):
        unit_rows(rows, 1)


def test_ragged_rows_and_another_width_are_malformed() -> None:
    with pytest.raises(EmbedderUnavailable, match="malformed"):
        unit_rows([[1.0], [1.0, 2.0]], 2)
    with pytest.raises(EmbedderUnavailable, match="malformed"):
        unit_rows([[1.0] * 384], 1, width=DIM)
