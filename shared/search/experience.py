"""How far an agent's experience with a memory moves the relevance of that memory. Pure."""

from __future__ import annotations

from collections.abc import Mapping

# How much the odds of relevance grow at most. docs/decisions/0222 says what these cost at ten times the reads.
ACCESS, OUTCOME = 0.2, 0.1


def experienced(relevance: float, experience: Mapping[str, float]) -> float:
    """`access` and `outcome`, each in [0, 1], scale the odds of relevance.

    The result stays below 1: a product clipped there would make most good memories equal.
    """
    scale = 1 + ACCESS * experience["access"] + OUTCOME * experience["outcome"]
    return relevance * scale / (1 + relevance * (scale - 1))
