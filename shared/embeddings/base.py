"""What every embedder shares: its interface, its only error, and the check on a model's answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from prometheus_client import Counter

from shared.concurrency.calls import CallFailed

DIM = 512

Kind = Literal["query", "document"]
Urgency = Literal["asked", "fresh", "backlog"]
"""A request waits for the vectors; an agent has just written the texts; or they wait in the index queue."""
Vectors = NDArray[np.float32]
"""Shape (n, 512), each row of unit length."""

OnUsage = Callable[[str, int, int], None]
"""Called after each call of a model with (model, input tokens, number of texts)."""

CALLS = Counter("scrubjay_embedding_calls_total", "Calls of an embedding model", ["provider", "outcome"])
TEXTS = Counter("scrubjay_embedding_texts_total", "Texts embedded", ["provider"])
TOKENS = Counter("scrubjay_embedding_tokens_total", "Tokens of texts embedded", ["provider"])


class Embedder(Protocol):
    @property
    def model(self) -> str:
        """Stored beside each vector: vectors of different models are never compared."""

    @property
    def dedup_distance(self) -> float:
        """Two memories of an agent within this cosine distance may be the same; `same_fact` decides."""

    async def embed(self, texts: Sequence[str], kind: Kind, *, urgency: Urgency = "asked") -> Vectors:
        """Raises EmbedderUnavailable. Any other error is a bug."""

    async def close(self) -> None: ...


class EmbedderUnavailable(CallFailed):
    """The embedder cannot give vectors now."""

    called = "embedder"


def unit_rows(rows: Any, count: int, width: int | None = None) -> Vectors:
    """Unit vectors from rows of at most 512 numbers. Zero-padding them changes no cosine.

    `width` is the required length of every row, if known. Raises EmbedderUnavailable("malformed").
    """
    try:
        raw = np.asarray(rows, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise EmbedderUnavailable("malformed", f"not a matrix of numbers: {error}") from error
    if raw.ndim != 2 or len(raw) != count or not 0 < raw.shape[1] <= DIM:
        raise EmbedderUnavailable("malformed", f"shape {raw.shape} for {count} texts and {DIM} dimensions")
    if width is not None and raw.shape[1] != width:
        raise EmbedderUnavailable("malformed", f"{raw.shape[1]} dimensions instead of {width}")
    norms = np.linalg.norm(raw, axis=1, keepdims=True)
    if not np.all(np.isfinite(norms) & (norms > 0)):
        raise EmbedderUnavailable("malformed", "a vector is zero or not finite")
    vectors = np.zeros((count, DIM), np.float32)
    vectors[:, : raw.shape[1]] = raw / norms
    return vectors
