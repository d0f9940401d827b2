"""Embedding with a time limit: when it fails, the caller continues without vectors and can say why."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from shared.embeddings.base import EmbedderUnavailable, Kind, Vectors
from shared.embeddings.cache import CachedEmbedder


class Embedded(NamedTuple):
    """`trouble` is why there are no vectors: "timeout", or the embedder's reason."""

    vectors: Vectors | None
    trouble: str | None = None


async def embed_within(
    embedder: CachedEmbedder, texts: Sequence[str], kind: Kind, tenant: str, seconds: float
) -> Embedded:
    try:
        return Embedded(await asyncio.wait_for(embedder.embed(texts, kind, tenant), seconds))
    except TimeoutError:
        return Embedded(None, "timeout")
    except EmbedderUnavailable as error:
        return Embedded(None, error.reason)
