"""Shorter forms of a text without a model: what they keep, what they lose, what they can answer. Pure."""

from __future__ import annotations

from services.cache.sessions.paging.summaries.stubs import stub
from services.cache.sessions.paging.summaries.summary import (
    COMPACT,
    DETAILED,
    SHORTEST_COMPACT,
    SHORTEST_DETAILED,
    Summaries,
    Summary,
    summarize,
)

__all__ = [
    "COMPACT",
    "DETAILED",
    "SHORTEST_COMPACT",
    "SHORTEST_DETAILED",
    "Summaries",
    "Summary",
    "stub",
    "summarize",
]
