"""Measures a model's cosine band on an installation's own texts. Pure.

A sentence stands for a question. Its own text is about it, and texts of other groups are noise. A group holds what
belongs together, such as a mission's entries.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shared.embeddings.band import Band
from shared.search.chunking import TARGET
from shared.search.relevance import ANSWERABLE, FLOOR, TEXT_SHARE

# These percentiles give the band of the local model about as retrieval quality on three data sets chose it.
NOISE_PERCENTILE, RELATED_PERCENTILE = 10, 75
FEWEST = 30
"""Fewer texts say too little."""
_SENTENCE_END = re.compile(r"[.!?](?:\s|$)|\n")
_SENTENCE_WORDS = 5


class Sample(NamedTuple):
    group: str
    text: str
    sentence: str


class Measured(NamedTuple):
    """`noise_kept` is the share of unrelated texts that reach the floor by their cosine alone.

    `noise_answering` is the share of sentences for which an unrelated text alone would count as an answer.
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
        long = [sentence for sentence in sentences if len(sentence.split()) >= _SENTENCE_WORDS]
        if len(long) > 1:
            found.append(Sample(group, text, max(long, key=len)))
    return random.Random(seed).sample(found, min(most, len(found)))  # noqa: S311


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
    return Measured(
        Band(round(low, 2), round(high, 2)),
        len(chosen),
        noise_kept=float((evidence[unrelated] >= FLOOR).mean()),
        noise_answering=float((best >= ANSWERABLE).mean()),
    )
