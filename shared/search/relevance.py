"""One calibrated relevance for candidates of all stores. Pure functions; constants are measured, see DECISIONS.md."""

from __future__ import annotations

import itertools
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
    "bge-small-en-v1.5-int8": (0.45, 0.85),
    "default": (0.20, 0.75),
}
TEXT_SHARE = 0.5
# A text score is taken against the best one found anywhere, but never against less than this share of the
# question's idf mass: long questions are never covered whole, and the best of junk must stay low.
MASS_SHARE = 0.4
SMOOTHING = 0.2
# Neighbours tell of short turns; long ones speak for themselves.
SMOOTHING_WORDS = 40
SPEAKER_BOOST = 0.2
DATE_BOOST = 0.2
ASSISTANT_PRIOR = 0.65
# Evidence below it is noise: the candidate is dropped.
FLOOR = 0.15
# With no evidence above it, nothing here answers the question.
ANSWERABLE = 0.45
_ROLES = frozenset({"user", "assistant", "tool", "system", "human", "ai"})
_KNEE = 0.8


class Scored(NamedTuple):
    """A candidate with its single-arm scores, what they say together, and the relevance made of that.

    `evidence` is before priors, neighbours and boosts: the floors are measured on it. Relevance is in [0, 1).
    """

    store: str
    candidate: Candidate
    text: float
    vector: float
    evidence: float
    relevance: float


class Question(msgspec.Struct, frozen=True):
    query: str
    model: str


def score(question: Question, results: Iterable[SearchResult]) -> list[Scored]:
    """Candidates of all stores that reach the floor, by descending relevance.

    text = sum(idf * tf) over the greater of the best candidate's and MASS_SHARE of sum(idf), with
    idf = ln(1 + N/df) over the union of what was searched; vector = (cosine - low) / (high - low);
    relevance = their mean, smoothed over neighbouring turns, raised for a speaker or a date the question names.
    """
    results = list(results)
    found = [
        (store, candidate)
        for result in results
        for store, one in result.stores.items()
        for candidate in one.candidates
    ]
    if not found:
        return []
    weight = _word_weights(results)
    mass = sum(weight) * MASS_SHARE or 1.0
    sums = [sum(weight[place - 1] * tf for place, tf in zip(c.places, c.tf, strict=True)) for _, c in found]
    best = max(mass, *sums)
    low, high = COSINE_BANDS.get(question.model, COSINE_BANDS["default"])
    vectors = [0.0 if c.cosine is None else max(0.0, (c.cosine - low) / (high - low)) for _, c in found]
    # What has no vector yet is judged by its text alone: nothing is held against it.
    plain = [
        total / best if c.cosine is None else TEXT_SHARE * total / best + (1 - TEXT_SHARE) * vector
        for total, vector, (_, c) in zip(sums, vectors, found, strict=True)
    ]
    addressed = _addresses_assistant(question.query)
    fused = [value * _prior(candidate, addressed) for value, (_, candidate) in zip(plain, found, strict=True)]
    fused = _boost(question.query, _smooth(fused, found), found)
    scored = [
        Scored(store, candidate, sums[i] / best, vectors[i], plain[i], _saturate(fused[i]))
        for i, (store, candidate) in enumerate(found)
        if plain[i] >= FLOOR
    ]
    return sorted(scored, key=lambda s: (-s.relevance, s.store, s.candidate.id, s.candidate.chunk))


def answerable(scored: Iterable[Scored]) -> bool:
    """False when nothing found stands out of what any question finds anywhere."""
    return max((one.evidence for one in scored), default=0.0) >= ANSWERABLE


def _saturate(value: float) -> float:
    """Into [0, 1) without ties: the identity up to the knee, then ever flatter."""
    room = 1.0 - _KNEE
    return value if value <= _KNEE else _KNEE + room * (1.0 - math.exp(-(value - _KNEE) / room))


def _word_weights(results: Sequence[SearchResult]) -> list[float]:
    words = max((len(r.lexemes) for r in results), default=0)
    stores = [one for result in results for one in result.stores.values() if len(one.df) == words]
    documents = sum(one.documents for one in stores)
    return [
        math.log(1 + documents / max(1, sum(one.df[i] for one in stores))) if documents else 0.0
        for i in range(words)
    ]


def _addresses_assistant(query: str) -> bool:
    return re.search(r"\byour?s?\b", query, re.IGNORECASE) is not None


def _prior(candidate: Candidate, addressed: bool) -> float:
    """What a model said at length matters less than what people, tools and agents stated, unless it is asked."""
    return ASSISTANT_PRIOR if candidate.speaker == "assistant" and not addressed else 1.0


def _smooth(values: list[float], found: Sequence[tuple[str, Candidate]]) -> list[float]:
    """s_i + a (s_(i-1) + s_(i+1)) over consecutive turns of one session: what surrounds a hit is about it."""
    order = sorted(
        (i for i, (_, c) in enumerate(found) if c.session_id is not None and c.seq is not None),
        key=lambda i: _place(found[i]),
    )
    smoothed = list(values)
    for a, b in itertools.pairwise(order):
        if _adjacent(found[a], found[b]):
            smoothed[a] += _reach(found[a][1]) * values[b]
            smoothed[b] += _reach(found[b][1]) * values[a]
    return smoothed


def _reach(candidate: Candidate) -> float:
    return SMOOTHING * min(1.0, SMOOTHING_WORDS / max(1, candidate.words))


def _place(item: tuple[str, Candidate]) -> tuple[str, str, str, int, int, int]:
    store, c = item
    return store, c.scope, c.session_id or "", c.seq or 0, c.id, c.chunk


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
    speakers = {who for _, c in found if (who := _who(c)) and who.lower() not in _ROLES}
    named = {who for who in speakers if (first := re.match(r"\w+", who.lower())) and first[0] in words}
    return named.pop() if len(named) == 1 else None
