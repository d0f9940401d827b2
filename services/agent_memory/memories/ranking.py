"""The composite score that a query shows beside each memory, and its parts. Pure."""

from __future__ import annotations

import math

_RELEVANCE, _ACCESS, _OUTCOME = 0.625, 0.25, 0.125
_OUTCOMES = {"success": 1.0, "partial": 0.5, None: 0.5, "failed": 0.0}


def access_boost(access_count: int, most_accessed: int) -> float:
    """log1p of the count over log1p of the agent's maximum, in [0, 1]."""
    return math.log1p(access_count) / math.log1p(most_accessed) if most_accessed > 0 else 0.0


def outcome_boost(outcome: str | None) -> float:
    return _OUTCOMES[outcome]


def composite(relevance: float, access: float, outcome: float) -> float:
    return _RELEVANCE * relevance + _ACCESS * access + _OUTCOME * outcome
