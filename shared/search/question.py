"""Embeds a question within a share of its deadline. Without a vector, a search uses text alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector

from shared.embeddings import CachedEmbedder
from shared.embeddings.band import Band
from shared.embeddings.bounded import embed_within

# The share of the time left: when the vector is late, there must be time to search by text.
EMBED_SHARE = 0.5


class QueryVector(NamedTuple):
    """`trouble` says why there is no vector: "timeout", or the embedder's reason."""

    model: str
    vector: NDArray[np.float32] | None
    trouble: str | None = None
    band: Band | None = None

    def half(self) -> HalfVector | None:
        return None if self.vector is None else HalfVector(self.vector)

    def degraded(self) -> list[str]:
        """The `degraded` field of a direct query's answer."""
        return [] if self.trouble is None else ["embedder: searched by text only"]


async def query_vector(embedder: CachedEmbedder, tenant: str, query: str, seconds: float) -> QueryVector:
    embedded = await embed_within(embedder, [query], "query", tenant, seconds)
    vector = None if embedded.vectors is None else embedded.vectors[0]
    return QueryVector(embedder.model, vector, embedded.trouble, embedder.band)
