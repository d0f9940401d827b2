"""Texts to unit vectors of 512 dimensions: a local model, Voyage, or any OpenAI-compatible endpoint."""

from __future__ import annotations

import asyncio
from functools import partial

from shared.embeddings.base import DIM, Embedder, EmbedderUnavailable, Kind, OnUsage, Vectors
from shared.embeddings.cache import CachedEmbedder
from shared.embeddings.dedup import fact_key, normal_form, same_fact, stated_key
from shared.embeddings.local import LocalEmbedder
from shared.embeddings.models import in_spare_time, local_model
from shared.embeddings.settings import EmbeddingSettings
from shared.spending import Meter

__all__ = [
    "DIM",
    "CachedEmbedder",
    "Embedder",
    "EmbedderUnavailable",
    "EmbeddingSettings",
    "Kind",
    "OnUsage",
    "Vectors",
    "fact_key",
    "normal_form",
    "open_embedder",
    "same_fact",
    "stated_key",
]


async def open_embedder(
    settings: EmbeddingSettings, on_usage: OnUsage | None = None, meter: Meter | None = None
) -> Embedder:
    """Raises SettingsError when the model cannot serve. An unreachable API does not stop a service from starting.
    The meter counts calls of an API; the local model costs nothing.

    The local model has embedded a text when this returns, so a service is never ready before its model.
    """
    if settings.provider == "local":
        model = await asyncio.to_thread(local_model, settings.model)
        embedder = LocalEmbedder(
            model, settings.threads, settings.dedup_distance, on_usage, partial(in_spare_time, settings.model)
        )
        await embedder.warm()
        return embedder
    if settings.provider == "voyage":
        # Not before it is selected: its libraries take memory and most of a second.
        from shared.embeddings.voyage import VoyageEmbedder

        return await VoyageEmbedder(settings, on_usage, meter).checked()
    # Not before it is selected: its libraries take memory and most of a second.
    from shared.embeddings.openai import OpenAIEmbedder

    return await OpenAIEmbedder(settings, on_usage, meter).checked()
