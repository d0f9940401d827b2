"""The local model is ready for its first caller: a session's first run is slow, and no request waits for it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

from shared.embeddings import CachedEmbedder, EmbeddingSettings, english, open_embedder
from shared.embeddings.bounded import embed_within

_FIRST_RUN = 0.3


class _Session:
    """A model whose first run takes a while."""

    def __init__(self) -> None:
        self.begun = self.ended = 0

    def run(self, _: Any, inputs: dict[str, Any]) -> list[Any]:
        self.begun += 1
        if self.begun == 1:
            time.sleep(_FIRST_RUN)
        self.ended += 1
        return [np.ones((1, inputs["input_ids"].shape[1], 384), np.float32)]


class _Encoding(NamedTuple):
    ids: list[int]


class _Tokenizer:
    def encode_batch(self, texts: Sequence[str]) -> list[_Encoding]:
        return [_Encoding([1] * len(text)) for text in texts]


async def test_the_first_text_does_not_wait_for_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    session = _Session()
    model = english.EnglishModel(session, _Tokenizer())  # type: ignore[arg-type]
    monkeypatch.setattr(english, "load_model", lambda: model)
    embedder = await open_embedder(EmbeddingSettings())
    try:
        assert embedder.model == EmbeddingSettings().stored_name
        assert 0 < session.begun == session.ended
        embedded = await embed_within(CachedEmbedder(embedder), ["why do cards decline?"], "query", "t", 60.0)
        assert embedded.trouble is None
    finally:
        await embedder.close()
