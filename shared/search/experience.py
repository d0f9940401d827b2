"""How far an agent's experience with a memory, or the confidence in what was kept, moves its score. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

# How much the odds of relevance grow at most. docs/decisions/0222 says what these cost at ten times the reads.
ACCESS, OUTCOME = 0.2, 0.1

HALF_LIFE = timedelta(days=30)
# What a reinforcement gives back of the confidence that is missing.
GAIN = 0.5
# What a score keeps without any confidence: as with ages, old is not wrong.
_LEAST = 0.5


def experienced(relevance: float, experience: Mapping[str, float]) -> float:
    """`access` and `outcome`, each in [0, 1], scale the odds of relevance.

    The result stays below 1: a product clipped there would make most good memories equal.
    """
    scale = 1 + ACCESS * experience["access"] + OUTCOME * experience["outcome"]
    return relevance * scale / (1 + relevance * (scale - 1))


def decayed(confidence: float, reinforced_at: datetime, now: datetime) -> float:
    """What is left of a confidence. It halves with every HALF_LIFE since it was last reinforced."""
    age = max(timedelta(), now - reinforced_at)
    return confidence * float(2.0 ** -(age / HALF_LIFE))


def reinforced(confidence: float) -> float:
    """The confidence once somebody has said it again. It never exceeds 1."""
    return confidence + GAIN * (1 - confidence)


def confident(confidence: float) -> float:
    """The factor of a score, in [0.5, 1]."""
    return _LEAST + (1 - _LEAST) * confidence
