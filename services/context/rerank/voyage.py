"""Voyage's rerank models, through their own client."""

from __future__ import annotations

from voyageai.client_async import AsyncClient
from voyageai.error import APIError, AuthenticationError, InvalidRequestError, RateLimitError, VoyageError

from services.context.rerank import RerankerUnavailable, RerankSettings

_SECONDS = 1.0


class VoyageReranker:
    name = "voyage"

    def __init__(self, settings: RerankSettings) -> None:
        self._model = settings.model
        # One attempt only: assembly continues without reranking rather than wait for another.
        self._client = AsyncClient(
            api_key=settings.api_key, max_retries=0, timeout=_SECONDS, base_url=settings.base_url
        )

    async def score(self, query: str, texts: list[str]) -> list[float]:
        try:
            answer = await self._client.rerank(query, texts, model=self._model, truncation=True)
        except (AuthenticationError, InvalidRequestError) as error:
            raise RerankerUnavailable("refused") from error
        except (RateLimitError, APIError, VoyageError, AttributeError, OSError) as error:
            raise RerankerUnavailable("dead") from error
        scores: dict[int, float] = {result.index: result.relevance_score for result in answer.results}
        if sorted(scores) != list(range(len(texts))):
            raise RerankerUnavailable("malformed")
        return [scores[index] for index in range(len(texts))]

    async def close(self) -> None:
        """The client keeps no connection open."""
