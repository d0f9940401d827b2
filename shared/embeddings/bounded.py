"""Embedding with a time limit: when it fails, the caller continues without vectors and can say why."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from shared.embeddings.base import Embedder, EmbedderUnavailable, Kind, Vectors


class Embedded(NamedTuple):
    """`trouble` is why there are no vectors: "timeout", or the embedder's reason."""

    vectors: Vectors | None
    trouble: str | None = None


async def embed_within(embedder: Embedder, texts: Sequence[str], kind: Kind, seconds: float) -> Embedded:
    try:
        return Embedded(await asyncio.wait_for(embedder.embed(texts, kind), seconds))
    except TimeoutError:
        return Embedded(None, "timeout")
    except EmbedderUnavailable as error:
        return Embedded(None, error.reason)
