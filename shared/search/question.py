"""A question's vector within a share of its deadline; without one, a search goes by text alone."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector

from shared.embeddings import Embedder, EmbedderUnavailable

# Of the time left: when the vector is late, there must be time to search by text.
EMBED_SHARE = 0.5


class QueryVector(NamedTuple):
    """`trouble` is why there is no vector: "timeout", or the embedder's reason."""

    vector: NDArray[np.float32] | None
    trouble: str | None = None

    def half(self) -> HalfVector | None:
        return None if self.vector is None else HalfVector(self.vector)

    def degraded(self) -> list[str]:
        """What a direct query answers beside its results."""
        return [] if self.trouble is None else ["embedder: searched by text only"]


async def query_vector(embedder: Embedder, query: str, seconds: float) -> QueryVector:
    try:
        vectors = await asyncio.wait_for(embedder.embed([query], "query"), seconds)
    except TimeoutError:
        return QueryVector(None, "timeout")
    except EmbedderUnavailable as error:
        return QueryVector(None, error.reason)
    return QueryVector(vectors[0])
