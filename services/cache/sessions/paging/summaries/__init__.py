"""Shorter forms of a text without a model: what they keep, what they lose, what they can answer. Pure."""

from __future__ import annotations

from services.cache.sessions.paging.summaries.stubs import stub
from services.cache.sessions.paging.summaries.summary import SHORTEST_DETAILED, Summaries, Summary, summarize

__all__ = ["SHORTEST_DETAILED", "Summaries", "Summary", "stub", "summarize"]
