"""Late interaction over the local model's token vectors (MaxSim, Khattab & Zaharia 2020: ColBERT)."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

Tokens = NDArray[np.float16]
"""Shape (tokens, 384), each row of unit length."""

# Token vectors of a text of 40 tokens take 30 kB.
CACHE_BYTES = 128 * 1024 * 1024
_MAX_CHARS = 1_500


class MaxSim:
    """score = mean over the question's tokens of their greatest cosine with any token of the text.

    The first look at a text costs a run of the model; its token vectors are kept.
    """

    name = "maxsim"

    def __init__(self, session: InferenceSession, tokenizer: Tokenizer) -> None:
        self._session, self._tokenizer = session, tokenizer
        self._thread = ThreadPoolExecutor(1, "maxsim")
        self._kept: OrderedDict[bytes, Tokens] = OrderedDict()
        self._bytes = 0

    async def score(self, query: str, texts: list[str]) -> list[float]:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._score, query, texts)

    async def close(self) -> None:
        await asyncio.to_thread(self._thread.shutdown, cancel_futures=True)

    def _score(self, query: str, texts: list[str]) -> list[float]:
        asked = self._tokens(query).astype(np.float32)
        return [float((asked @ self._tokens(text).astype(np.float32).T).max(axis=1).mean()) for text in texts]

    def _tokens(self, text: str) -> Tokens:
        key = hashlib.sha256(text.encode(errors="surrogatepass")).digest()
        kept = self._kept.get(key)
        if kept is not None:
            self._kept.move_to_end(key)
            return kept
        made = self._embed(text)
        self._kept[key] = made
        self._bytes += made.nbytes
        while self._bytes > CACHE_BYTES:
            self._bytes -= self._kept.popitem(last=False)[1].nbytes
        return made

    def _embed(self, text: str) -> Tokens:
        ids = self._tokenizer.encode(text[:_MAX_CHARS].encode(errors="replace").decode()).ids
        tokens = np.array([ids], np.int64)
        inputs = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            "token_type_ids": np.zeros_like(tokens),
        }
        hidden = self._session.run(["last_hidden_state"], inputs)[0][0]
        # Without the model's own marks at both ends, unless there is nothing else.
        words = hidden[1:-1] if len(hidden) > 2 else hidden
        unit = words / np.maximum(np.linalg.norm(words, axis=1, keepdims=True), 1e-9)
        return np.asarray(unit, np.float16)
