"""One calibrated relevance for candidates of all stores. Pure functions; constants are measured, see DECISIONS.md."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec

from shared.search import dates
from shared.search.evidence import Candidate, SearchResult

# A model's cosines live in a narrow band: `low` is noise, `high` a paraphrase.
COSINE_BANDS: Mapping[str, tuple[float, float]] = {
    "bge-small-en-v1.5-int8": (0.45, 0.80),
    "default": (0.20, 0.75),
}
TEXT_SHARE = 0.5
SMOOTHING = 0.2
SPEAKER_BOOST = 0.15
DATE_BOOST = 0.2
ASSISTANT_PRIOR = 0.7


class Scored(NamedTuple):
    """A candidate with its two single-arm scores and the fused relevance, each in [0, 1]."""

    store: str
    candidate: Candidate
    text: float
    vector: float
    relevance: float


class Question(msgspec.Struct, frozen=True):
    query: str
    model: str


def score(question: Question, results: Iterable[SearchResult]) -> list[Scored]:
    """Candidates of all stores by descending relevance.

    text = sum(idf * tf) / sum(idf), idf = ln(1 + N/df) over the union of what was searched;
    vector = (cosine - low) / (high - low); relevance = their mean, smoothed over neighbouring turns, raised for
    a speaker or a date that the question names.
    """
    results = list(results)
    found = [
        (store, candidate)
        for result in results
        for store, one in result.stores.items()
        for candidate in one.candidates
    ]
    weight = _word_weights(results)
    mass = sum(weight) or 1.0
    texts = [sum(w * tf for w, tf in zip(weight, c.tf, strict=False)) / mass for _, c in found]
    low, high = COSINE_BANDS.get(question.model, COSINE_BANDS["default"])
    vectors = [
        0.0 if c.cosine is None else min(1.0, max(0.0, (c.cosine - low) / (high - low))) for _, c in found
    ]
    blind = all(c.cosine is None for _, c in found)
    share = 1.0 if blind else TEXT_SHARE
    fused = [
        (share * text + (1 - share) * vector) * _prior(candidate)
        for text, vector, (_, candidate) in zip(texts, vectors, found, strict=True)
    ]
    fused = _smooth(fused, found)
    fused = _boost(question.query, fused, found)
    scored = [
        Scored(store, candidate, min(1.0, text), vector, min(1.0, relevance))
        for (store, candidate), text, vector, relevance in zip(found, texts, vectors, fused, strict=True)
    ]
    return sorted(scored, key=lambda s: (-s.relevance, s.store, s.candidate.id, s.candidate.chunk))


def _word_weights(results: Sequence[SearchResult]) -> list[float]:
    words = max((len(r.lexemes) for r in results), default=0)
    stores = [one for result in results for one in result.stores.values() if len(one.df) == words]
    documents = sum(one.documents for one in stores)
    return [
        math.log(1 + documents / max(1, sum(one.df[i] for one in stores))) if documents else 0.0
        for i in range(words)
    ]


def _prior(candidate: Candidate) -> float:
    """What a model said at length matters less than what people, tools and agents stated."""
    return ASSISTANT_PRIOR if candidate.speaker == "assistant" else 1.0


def _smooth(values: list[float], found: Sequence[tuple[str, Candidate]]) -> list[float]:
    """s_i + a (s_(i-1) + s_(i+1)) over consecutive turns of one session: what surrounds a hit is about it."""
    order = sorted(
        (i for i, (_, c) in enumerate(found) if c.session_id is not None and c.seq is not None),
        key=lambda i: _place(found[i]),
    )
    smoothed = list(values)
    for a, b in zip(order, order[1:], strict=False):
        if _adjacent(found[a], found[b]):
            smoothed[a] += SMOOTHING * values[b]
            smoothed[b] += SMOOTHING * values[a]
    return smoothed


def _place(item: tuple[str, Candidate]) -> tuple[str, str, str, int, int]:
    store, c = item
    return store, c.scope, c.session_id or "", c.seq or 0, c.chunk


def _adjacent(a: tuple[str, Candidate], b: tuple[str, Candidate]) -> bool:
    if _place(a)[:3] != _place(b)[:3]:
        return False
    first, second = a[1], b[1]
    if first.id == second.id:
        return second.chunk == first.chunk + 1
    return (second.seq or 0) - (first.seq or 0) == 1 and first.chunk == first.chunks - 1 and second.chunk == 0


def _boost(query: str, values: list[float], found: Sequence[tuple[str, Candidate]]) -> list[float]:
    speaker = _named_speaker(query, found)
    named = dates.mentions(query)
    boosted = list(values)
    for i, (_, candidate) in enumerate(found):
        if speaker is not None and _who(candidate) == speaker:
            boosted[i] += SPEAKER_BOOST
        when: datetime | None = candidate.occurred_at
        if named and when is not None and any(mention.covers(when.date()) for mention in named):
            boosted[i] += DATE_BOOST
    return boosted


def _who(candidate: Candidate) -> str | None:
    return candidate.speaker or candidate.agent


def _named_speaker(query: str, found: Sequence[tuple[str, Candidate]]) -> str | None:
    """The one speaker whose first name the question holds; None when it names nobody or several."""
    words = set(re.findall(r"\w+", query.lower()))
    speakers = {who for _, candidate in found if (who := _who(candidate))}
    named = {who for who in speakers if (first := re.match(r"\w+", who.lower())) and first[0] in words}
    return named.pop() if len(named) == 1 else None
