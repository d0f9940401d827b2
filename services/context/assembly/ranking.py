"""What a candidate is worth to a caller: weight * relevance * recency * priority. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from services.context import stores
from services.context.stores import Store
from shared.search.evidence import Candidate
from shared.search.relevance import Scored

RECENCY_FLOOR = 0.5
# A further chunk of an item that is in already says less that is new.
FURTHER_CHUNK = 0.7
# Seed 003's composite for an agent's own memories.
_RELEVANCE, _ACCESS, _OUTCOME = 0.625, 0.25, 0.125


class Worth(NamedTuple):
    scored: Scored
    score: float
    weight: float
    relevance: float
    recency: float
    priority: float


def recency(store: Store, at: datetime, now: datetime) -> float:
    """2^(-age / half-life), never below the floor: old is not wrong."""
    if store.half_life_hours is None:
        return 1.0
    hours = max(0.0, (now - at).total_seconds() / 3600)
    return float(max(RECENCY_FLOOR, 2.0 ** (-hours / store.half_life_hours)))


def own_relevance(candidate: Candidate, relevance: float) -> float:
    """Own memories enter with their composite; without relevance, access and outcome count for nothing."""
    if candidate.composite is None:
        return relevance
    boost = _ACCESS * candidate.composite["access"] + _OUTCOME * candidate.composite["outcome"]
    return min(1.0, relevance * (_RELEVANCE + boost) / _RELEVANCE)


def rank(scored: Iterable[Scored], weights: Mapping[str, float], now: datetime) -> list[Worth]:
    """Best first, under the caller's weights and, where it has none, those that stores start with.

    Ties go to the newer, then by handle, so that the same evidence gives the same order.
    """
    worths = sorted((_worth(one, weights, now) for one in scored), key=_order)
    taken: Counter[tuple[str, int]] = Counter()
    for place, worth in enumerate(worths):
        item = (worth.scored.store, worth.scored.candidate.id)
        if taken[item]:
            less = FURTHER_CHUNK ** taken[item]
            worths[place] = worth._replace(score=worth.score * less, relevance=worth.relevance * less)
        taken[item] += 1
    if len(taken) < taken.total():
        worths.sort(key=_order)
    return worths


def _order(worth: Worth) -> tuple[float, float, str, int, int]:
    candidate = worth.scored.candidate
    return (
        -worth.score,
        -time_of(candidate).timestamp(),
        worth.scored.store,
        candidate.id,
        candidate.chunk,
    )


def _worth(scored: Scored, weights: Mapping[str, float], now: datetime) -> Worth:
    store = stores.BY_NAME[scored.store]
    weight = weights.get(store.name, store.weight)
    relevance = own_relevance(scored.candidate, scored.relevance)
    fresh = recency(store, time_of(scored.candidate), now)
    priority = store.priorities.get(scored.candidate.kind, 1.0)
    return Worth(scored, weight * relevance * fresh * priority, weight, relevance, fresh, priority)


def time_of(candidate: Candidate) -> datetime:
    return candidate.occurred_at or candidate.created_at


def text_key(worth: Worth) -> str:
    """Equal for texts that differ in spaces and case only."""
    return " ".join(worth.scored.candidate.text.split()).casefold()


def without_repeats(worths: Iterable[Worth]) -> tuple[list[Worth], list[Worth]]:
    """The same text from two places counts once, where it is worth most. Returns (kept, repeats)."""
    seen: set[str] = set()
    kept: list[Worth] = []
    repeats: list[Worth] = []
    for worth in worths:
        text = text_key(worth)
        (repeats if text in seen else kept).append(worth)
        seen.add(text)
    return kept, repeats
