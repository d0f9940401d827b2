"""Measures a model's cosine band and floors on an installation's own texts. Pure.

A sentence stands for a question. Its own text is about it, and texts of other groups are noise. A group holds what
belongs together, such as a mission's entries.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shared.embeddings.band import FLOORS, Band, Floors
from shared.search.chunking import TARGET
from shared.search.relevance import TEXT_SHARE
from shared.tokens import width

# These percentiles give the band of the local model about as retrieval quality on three data sets chose it.
NOISE_PERCENTILE, RELATED_PERCENTILE = 10, 75
# So much noise passes the floors of the local model on three data sets, at the most.
_NOISE_KEPT, _NOISE_ANSWERING = 0.35, 0.01
# No floor drops more of the related texts for their cosine alone.
_RELATED_LOST = 0.1
FEWEST = 30
"""Fewer texts say too little."""
_SENTENCE_END = re.compile(r"[.!?](?:\s|$)|[。！？]|\n")
# A sentence has this many words, or is as wide as they are where it has no spaces.
_SENTENCE_WORDS, _SENTENCE_WIDTH = 5, 30


class Sample(NamedTuple):
    group: str
    text: str
    sentence: str


class Measured(NamedTuple):
    """`noise_kept` is the share of unrelated texts that reach the floor by their cosine alone.

    `noise_answering` is the share of sentences for which an unrelated text alone would count as an answer. Both are
    for the floors that it measured.
    """

    band: Band
    samples: int
    noise_kept: float
    noise_answering: float


def samples(texts: Iterable[tuple[str, str]], most: int, seed: int = 0) -> list[Sample]:
    """Up to `most` of the texts, given with their groups, that have a sentence of their own and more."""
    found = []
    for group, whole in texts:
        text = whole[:TARGET]
        sentences = [part.strip() for part in _SENTENCE_END.split(text)]
        long = list(filter(_is_long, sentences))
        if len(long) > 1:
            found.append(Sample(group, text, max(long, key=len)))
    return random.Random(seed).sample(found, min(most, len(found)))  # noqa: S311


def _is_long(sentence: str) -> bool:
    if len(sentence.split()) >= _SENTENCE_WORDS:
        return True
    return not sentence.isascii() and width(sentence) >= _SENTENCE_WIDTH


def measure(chosen: list[Sample], questions: NDArray[np.float32], documents: NDArray[np.float32]) -> Measured:
    """From the unit vectors of the sentences and of their texts. Raises ValueError when they say too little."""
    cosines = questions @ documents.T
    groups = np.array([sample.group for sample in chosen])
    unrelated = groups[:, None] != groups[None, :]
    if len(chosen) < FEWEST or not unrelated.any(axis=1).all():
        raise ValueError(f"it takes {FEWEST} texts of several sentences, in two groups or more")
    low = float(np.percentile(cosines[unrelated], NOISE_PERCENTILE))
    high = float(np.percentile(np.diag(cosines), RELATED_PERCENTILE))
    if high <= low:
        raise ValueError("the model does not tell related texts from unrelated ones")
    evidence = (1 - TEXT_SHARE) * (cosines - low) / (high - low)
    best = np.where(unrelated, evidence, 0.0).max(axis=1)
    floors = _floors(evidence[unrelated], best, np.diag(evidence))
    return Measured(
        Band(round(low, 2), round(high, 2), floors),
        len(chosen),
        noise_kept=float((evidence[unrelated] >= floors.noise).mean()),
        noise_answering=float((best >= floors.answer).mean()),
    )


def _floors(noise: NDArray[np.float32], best: NDArray[np.float32], related: NDArray[np.float32]) -> Floors:
    """At least the built-in floors, and higher where more noise would pass them than with the local model."""
    most = max(FLOORS.noise, float(np.quantile(related, _RELATED_LOST)))
    kept = min(most, max(FLOORS.noise, float(np.quantile(noise, 1 - _NOISE_KEPT))))
    answer = max(FLOORS.answer, float(np.quantile(best, 1 - _NOISE_ANSWERING)))
    return Floors(_up(kept), min(0.99, _up(answer)))


def _up(value: float) -> float:
    """To two digits, so that what a floor should stop does not just reach it."""
    return math.ceil(round(value * 100, 6)) / 100
