"""How many chunks a scope holds and which words are common in it, which Postgres's planner cannot know.

Each replica learns this from its own searches, so there is no table to keep up to date.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from shared.errors import AppError

# The largest scope, in chunks, that is searched exactly. An exact scan costs some 0.5 ms per 1,000 chunks and finds
# everything. Filtered HNSW costs the same at any size, but misses some.
EXACT_UP_TO = 20_000
HNSW_SETTINGS = {
    "hnsw.iterative_scan": "relaxed_order",
    "hnsw.ef_search": "400",
    "hnsw.max_scan_tuples": "40000",
}
_SMALL = 2_000
_MAX_SCOPES = 20_000


class ScopeCounts:
    """Chunk counts that searches reported. Every search counts a small scope again; a large one is counted rarely."""

    def __init__(self, seconds: float = 30.0) -> None:
        self._seconds = seconds
        self._known: dict[str, tuple[float, int]] = {}

    def get(self, scope: str) -> int | None:
        known = self._known.get(scope)
        if known is None or known[1] < _SMALL or time.monotonic() - known[0] > self._seconds:
            return None
        return known[1]

    def last(self, scope: str) -> int | None:
        """The last count, however old: accurate enough to choose between exact and HNSW."""
        known = self._known.get(scope)
        return None if known is None else known[1]

    def put(self, scope: str, count: int) -> None:
        if len(self._known) >= _MAX_SCOPES:
            self._known.clear()
        self._known[scope] = (time.monotonic(), count)


class Common(NamedTuple):
    """Common words, and how many chunks contain each."""

    words: list[str]
    df: list[int]


NONE_COMMON = Common([], [])
# Below this many chunks, every word selects rows. Above, a common word does not.
COMMON_FROM = 1_000
_COMMON_SHARE = 0.05
MAX_WORDS = 500
# A row that is selected costs some 4 us: rank and score it by each word. So no word of a large scope selects more of
# them, nor a larger share of its chunks.
MOST_SELECTED, SELECTED_SHARE = 5_000, 0.03
# The chunks that tell which words of a large scope are common. Of a million, a word that 5,000 hold is in ten of them.
SAMPLED = 2_000


def common_from(documents: int) -> float:
    """A word is common that more chunks hold."""
    if documents <= EXACT_UP_TO:
        return _COMMON_SHARE * documents
    return min(SELECTED_SHARE * documents, MOST_SELECTED)


class CommonWords:
    """The common words of each scope. A word expires after `seconds`; the next search then counts it again."""

    def __init__(self, seconds: float = 600.0) -> None:
        self._seconds = seconds
        self._known: dict[str, dict[str, tuple[float, int]]] = {}

    def get(self, scope: str) -> Common:
        words = self._known.get(scope)
        if not words:
            return NONE_COMMON
        oldest = time.monotonic() - self._seconds
        for word in [word for word, (at, _) in words.items() if at < oldest]:
            del words[word]
        return Common(list(words), [df for _, df in words.values()])

    def put(self, scope: str, documents: int, lexemes: Sequence[str], df: Sequence[int]) -> None:
        if documents < COMMON_FROM:
            self._known.pop(scope, None)
            return
        if scope not in self._known and len(self._known) >= _MAX_SCOPES:
            self._known.clear()
        words = self._known.setdefault(scope, {})
        for word, count in zip(lexemes, df, strict=True):
            if word not in words and count > common_from(documents) and len(words) < MAX_WORDS:
                words[word] = (time.monotonic(), count)


class SampledWords:
    """The common words of large scopes, estimated from a sample. A search that counts a word there reads too much."""

    def __init__(self, seconds: float = 600.0) -> None:
        self._seconds = seconds
        self._known: dict[str, tuple[float, Common]] = {}

    async def get(self, scope: str, sample: Callable[[], Awaitable[Common]]) -> Common:
        """After `seconds`, one search samples again. The others go on with what was known, and so does it if it fails.

        Raises as `sample` where nothing was known.
        """
        known, now = self._known.get(scope), time.monotonic()
        if known is None:
            return self._put(scope, await sample())
        if now - known[0] < self._seconds:
            return known[1]
        self._known[scope] = now, known[1]
        try:
            return self._put(scope, await sample())
        except AppError:
            return known[1]

    def _put(self, scope: str, common: Common) -> Common:
        if len(self._known) >= _MAX_SCOPES:
            self._known.clear()
        self._known[scope] = time.monotonic(), common
        return common
