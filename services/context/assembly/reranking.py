"""Reranks the best candidates, if the installation has a reranker."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from services.context import rerank
from services.context.rerank import Reranker, RerankerUnavailable
from services.context.schemas import Degraded
from shared.search.relevance import Scored


class Reranked(NamedTuple):
    """`scored` in the reranked order, or unchanged if the reranker failed."""

    scored: list[Scored]
    degraded: list[Degraded]


async def look_again(reranker: Reranker | None, query: str, scored: list[Scored], seconds: float) -> Reranked:
    if reranker is None:
        return Reranked(scored, [])
    texts = [best.candidate.text for best in scored[: rerank.DEPTH]]
    try:
        second = await asyncio.wait_for(reranker.score(query, texts), seconds)
    except TimeoutError:
        return Reranked(scored, [Degraded("reranker", "timeout")])
    except RerankerUnavailable as error:
        return Reranked(scored, [Degraded("reranker", error.reason)])
    return Reranked(rerank.blend(scored, second), [])
