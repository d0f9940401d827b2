"""Voyage AI through its own client. Imported only when selected: voyageai takes most of a second."""

from __future__ import annotations

import voyageai
from voyageai.client_async import AsyncClient
from voyageai.error import APIConnectionError, Timeout, VoyageError

from shared.embeddings.base import DIM, EmbedderUnavailable, Kind, OnUsage
from shared.embeddings.remote import Answer, RemoteEmbedder
from shared.embeddings.settings import EmbeddingSettings
from shared.spending import Meter


class VoyageEmbedder(RemoteEmbedder):
    provider = "voyage"
    # The API takes 1,000 texts and, for its largest models, 120,000 tokens per call and 32,000 per text.
    batch_texts = 128
    batch_tokens = 100_000
    text_bytes = 96_000
    default_dedup_distance = 0.2

    def __init__(
        self, settings: EmbeddingSettings, on_usage: OnUsage | None = None, meter: Meter | None = None
    ) -> None:
        super().__init__(settings, on_usage, meter)
        self._name = settings.model
        # `max_retries` counts attempts. We retry and time out ourselves; the client's default timeout is 600 s.
        self._client = AsyncClient(
            settings.api_key, max_retries=1, timeout=settings.document_timeout, base_url=settings.base_url
        )
        self._width = DIM

    async def _request(self, texts: list[str], kind: Kind) -> Answer:
        # Without a session in this variable, the client opens a connection for each call.
        token = voyageai.aiosession.set(self._session)
        try:
            answer = await self._client.embed(texts, self._name, input_type=kind, output_dimension=DIM)
        except Timeout as error:
            raise EmbedderUnavailable("slow", str(error)) from error
        except APIConnectionError as error:
            raise EmbedderUnavailable("dead", str(error)) from error
        except (VoyageError, AttributeError, KeyError, TypeError, ValueError) as error:
            raise EmbedderUnavailable("malformed", repr(error)) from error
        finally:
            voyageai.aiosession.reset(token)
        return Answer(answer.embeddings, answer.total_tokens)
