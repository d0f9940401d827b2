"""How much a scope holds, and what follows: exact search up to a size, HNSW above. The planner cannot know."""

from __future__ import annotations

import time

# Chunks in a scope. An exact scan of a covering index costs 0.3 ms per 1,000 and finds all; filtered HNSW costs
# the same for any size above, and loses some.
EXACT_UP_TO = 20_000
HNSW_SETTINGS = {
    "hnsw.iterative_scan": "relaxed_order",
    "hnsw.ef_search": "800",
    "hnsw.max_scan_tuples": "40000",
}
_SMALL = 2_000
_MAX_SCOPES = 20_000


class ScopeCounts:
    """Counts as searches report them. A small scope is counted anew by each search, a large one now and then."""

    def __init__(self, seconds: float = 30.0) -> None:
        self._seconds = seconds
        self._known: dict[str, tuple[float, int]] = {}

    def get(self, scope: str) -> int | None:
        known = self._known.get(scope)
        if known is None or known[1] < _SMALL or time.monotonic() - known[0] > self._seconds:
            return None
        return known[1]

    def last(self, scope: str) -> int | None:
        """What it held when it was counted last, however long ago: enough to choose the form of a search."""
        known = self._known.get(scope)
        return None if known is None else known[1]

    def put(self, scope: str, count: int) -> None:
        if len(self._known) >= _MAX_SCOPES:
            self._known.clear()
        self._known[scope] = (time.monotonic(), count)
