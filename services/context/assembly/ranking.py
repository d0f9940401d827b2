"""Scores candidates for a caller: weight * relevance * recency * priority. Pure."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from operator import attrgetter
from typing import NamedTuple

from services.context import stores
from services.context.assembly.supersession.order import Item, position
from services.context.stores import Store
from shared.search.evidence import Candidate
from shared.search.experience import confident, decayed, experienced
from shared.search.relevance import Scored, unsaturated

RECENCY_FLOOR = 0.6
# The factor for each further chunk of an item, which adds less that is new.
FURTHER_CHUNK = 0.7
NEIGHBOUR_SHARE = 0.5
# What is relevant ends where the value falls at once by this share of the best one's, below a share of it that depends
# on the room: a reader who asks for little wants what is nearest.
_GAP = 0.06
_NEAR, _NEAR_TOKENS = 0.65, 2_000
_NEARER_BY_HALF = 0.025
_NEAREST = 0.7
# Saturation brings strong values together. The best one counts by at least this share of its value before that.
_UNSATURATED = 0.89
_score = attrgetter("score")


class Ranked(NamedTuple):
    """A candidate with its `score` and the factors of it."""

    scored: Scored
    score: float
    weight: float
    relevance: float
    recency: float
    priority: float
    was: str | None = None
    """What the newest item that it supersedes states in its place."""

    @property
    def store(self) -> str:
        return self.scored.store

    @property
    def candidate(self) -> Candidate:
        return self.scored.candidate


def recency(store: Store, at: datetime, now: datetime) -> float:
    """2^(-age / half-life), but never below the floor: old is not wrong."""
    if store.half_life_hours is None:
        return 1.0
    hours = max(0.0, (now - at).total_seconds() / 3600)
    return float(max(RECENCY_FLOOR, 2.0 ** (-hours / store.half_life_hours)))


def freshness(store: Store, candidate: Candidate, now: datetime) -> float:
    """By its age, or by the confidence that is left of it."""
    if candidate.confidence is not None:
        return confident(decayed(candidate.confidence, candidate.stated_at, now))
    return 1.0 if candidate.kind in store.ageless else recency(store, candidate.time, now)


def own_relevance(candidate: Candidate, relevance: float) -> float:
    """What the agent experienced with an own memory moves its relevance."""
    return relevance if candidate.composite is None else experienced(relevance, candidate.composite)


def with_distance(scored: Iterable[Scored], neighbours: Collection[str]) -> list[Scored]:
    """What is of a neighbour's scope counts half as relevant."""
    if not neighbours:
        return list(scored)
    return [
        each._replace(relevance=each.relevance * NEIGHBOUR_SHARE)
        if each.candidate.scope in neighbours
        else each
        for each in scored
    ]


def rank(candidates: Iterable[Scored], weights: Mapping[str, float], now: datetime) -> list[Ranked]:
    """Best first, by the caller's weights or else the stores' start values.

    Ties go to the newer candidate, then by store and id, so that the same evidence always gives the same order.
    """
    candidates = list(candidates)
    positions = position(candidates)
    ranking = in_order(_rank(scored, weights, positions, now) for scored in candidates)
    items = {(scored.store, scored.candidate.id) for scored in candidates}
    if len(items) == len(candidates):
        return ranking
    chunks: Counter[tuple[str, int]] = Counter()
    for place, ranked in enumerate(ranking):
        item = (ranked.store, ranked.candidate.id)
        if chunks[item]:
            less = FURTHER_CHUNK ** chunks[item]
            ranking[place] = ranked._replace(score=ranked.score * less, relevance=ranked.relevance * less)
        chunks[item] += 1
    return in_order(ranking)


def _rank(
    scored: Scored, weights: Mapping[str, float], positions: Mapping[Item, float], now: datetime
) -> Ranked:
    store, candidate = stores.BY_NAME[scored.store], scored.candidate
    weight = weights.get(store.name, store.weight)
    relevance = own_relevance(candidate, scored.relevance)
    fresh = freshness(store, candidate, now)
    fresh *= positions.get((scored.store, candidate.id), 1.0)
    priority = store.priorities.get(candidate.kind, 1.0)
    return Ranked(scored, weight * relevance * fresh * priority, weight, relevance, fresh, priority)


def in_order(ranking: Iterable[Ranked]) -> list[Ranked]:
    """Best first. Few scores are equal: only among these does the rest of a key count."""
    ordered: list[Ranked] = []
    for _, equal in itertools.groupby(sorted(ranking, key=_score, reverse=True), key=_score):
        tied = list(equal)
        ordered += sorted(tied, key=_by_time) if len(tied) > 1 else tied
    return ordered


def _by_time(ranked: Ranked) -> tuple[float, str, int, int]:
    candidate = ranked.candidate
    return -candidate.stated_at.timestamp(), ranked.store, -candidate.id, candidate.chunk


def cut(ranking: Iterable[Ranked], tokens: int) -> float:
    """The least relevance that is near the best: the last one before the first gap, or 0 where there is no gap.

    Whatever depends on the caller, such as weights and ages, only orders what is near.
    """
    relevances = sorted((ranked.relevance for ranked in ranking), reverse=True)
    if not relevances:
        return 0.0
    values = [unsaturated(relevance) for relevance in relevances]
    near = _near(tokens) * max(relevances[0], _UNSATURATED * values[0])
    for place, (above, below) in enumerate(itertools.pairwise(values)):
        if below < near and above - below >= _GAP * values[0]:
            return relevances[place]
    return 0.0


def _near(tokens: int) -> float:
    """The share of the best value that is near it in a block of so many tokens."""
    halvings = max(0.0, math.log2(_NEAR_TOKENS / max(1, tokens)))
    return min(_NEAREST, _NEAR + halvings * _NEARER_BY_HALF)
