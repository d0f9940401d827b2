"""How much an entry's age counts in a direct query. Pure."""

from __future__ import annotations

from datetime import datetime

# The figures of assembly for this store: it weighs the same evidence, so a direct query agrees with it.
HALF_LIFE_HOURS = 6.0
RECENCY_FLOOR = 0.5


def recency(at: datetime, now: datetime) -> float:
    """2^(-age / half-life), never below the floor: old is not wrong."""
    hours = max(0.0, (now - at).total_seconds() / 3600)
    return float(max(RECENCY_FLOOR, 2.0 ** (-hours / HALF_LIFE_HOURS)))
