"""Voyage's rerank models, through their own client."""

from __future__ import annotations

from voyageai.client_async import AsyncClient
from voyageai.error import APIError, AuthenticationError, InvalidRequestError, RateLimitError, VoyageError

from services.context.rerank import RerankerUnavailable, RerankSettings
from shared.spending import Meter, Outcome, Tokens, estimated_tokens

_SECONDS = 1.0


class VoyageReranker:
    name = "voyage"

    def __init__(self, settings: RerankSettings, meter: Meter | None = None) -> None:
        self._meter = meter
        self._model = settings.model
        # One attempt only: assembly continues without reranking rather than wait for another.
        self._client = AsyncClient(
            api_key=settings.api_key, max_retries=0, timeout=_SECONDS, base_url=settings.base_url
        )

    async def score(self, query: str, texts: list[str]) -> list[float]:
        if self._meter is not None and await self._meter.reached() is not None:
            raise RerankerUnavailable("ceiling")
        outcome: Outcome = "abandoned"
        tokens: Tokens | None = None
        try:
            answer = await self._client.rerank(query, texts, model=self._model, truncation=True)
            outcome, tokens = "ok", Tokens(answer.total_tokens, 0)
        except (AuthenticationError, InvalidRequestError) as error:
            outcome = "failed"
            raise RerankerUnavailable("refused") from error
        except RateLimitError as error:
            outcome = "failed"
            raise RerankerUnavailable("dead") from error
        except (APIError, VoyageError, AttributeError, OSError) as error:
            raise RerankerUnavailable("dead") from error
        finally:
            if self._meter is not None:
                # Each text is read together with the query.
                sent = estimated_tokens(sum(len(text) + len(query) for text in texts))
                self._meter.note("rerank", f"voyage:{self._model}", tokens, outcome, sent)
        scores: dict[int, float] = {result.index: result.relevance_score for result in answer.results}
        if sorted(scores) != list(range(len(texts))):
            raise RerankerUnavailable("malformed")
        return [scores[index] for index in range(len(texts))]

    async def close(self) -> None:
        """The client keeps no connection open."""
