"""The block of a direct query: which entries are in it, and what of each. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from services.cache.entries.entry import CacheEntry
from shared.packing import Packed, pack
from shared.reading.excerpts import Passages, Wanted
from shared.render import Fence, parse_block, render_item
from shared.search.relevance import Scored

HANDLE = "cache"
# Of an entry that is shown in part.
_LEFT_OUT: Mapping[str, Any] = {"tags": [], "paths": [], "symbols": [], "metadata": {}}
# The same figures as in assembly, so that a direct query agrees with it.
HALF_LIFE_HOURS = 6.0
RECENCY_FLOOR = 0.6


def recency(at: datetime, now: datetime) -> float:
    """2^(-age / half-life), but never below the floor: old is not wrong."""
    hours = max(0.0, (now - at).total_seconds() / 3600)
    return float(max(RECENCY_FLOOR, 2.0 ** (-hours / HALF_LIFE_HOURS)))


class Ranked(NamedTuple):
    scored: Scored
    recency: float

    @property
    def worth(self) -> float:
        return self.scored.relevance * self.recency


class Block(NamedTuple):
    text: str
    entries: list[CacheEntry]
    tokens: int
    """Of the text, and of what whole entries hold besides: tags, say."""
    dropped: int
    """How many entries found no room."""


def ranked(found: Iterable[Scored], now: datetime) -> list[Ranked]:
    """By relevance and age; each entry once, by its best chunk."""
    chunks = [Ranked(scored, recency(scored.candidate.time, now)) for scored in found]
    best: dict[int, Ranked] = {}
    for chunk in sorted(chunks, key=lambda chunk: -chunk.worth):
        best.setdefault(chunk.scored.candidate.id, chunk)
    return list(best.values())


def block(
    found: Sequence[Ranked], rows: Mapping[int, Any], budget: int, fence: Fence, wanted: Wanted
) -> Block:
    """The entries that fit the budget, from their rows. The block and the entries show the same of each."""
    items = [_Item(each, fence, wanted) for each in found]
    packed = pack(items, budget, {HANDLE: 1.0})
    left = budget - sum(piece.tokens for piece in packed)
    entries = []
    for piece in packed:
        each = found[piece.place]
        row = rows[each.scored.candidate.id]
        beyond = max(0, row["token_count"] - piece.tokens)
        if piece.cut or each.scored.candidate.chunks > 1 or beyond > left:
            entries.append(_truncated(each, row, piece))
        else:
            left -= beyond
            entries.append(_entry(each, row))
    text = "\n".join(piece.rendered for piece in packed)
    return Block(text, entries, budget - left, dropped=len(found) - len(packed))


class _Item:
    store = HANDLE

    def __init__(self, each: Ranked, fence: Fence, wanted: Wanted) -> None:
        self.text = each.scored.candidate.text
        self.worth = each.worth
        self._candidate = each.scored.candidate
        self._fence = fence
        self._passages = Passages(self.text, wanted)

    def shorten(self, characters: int) -> str:
        return self._passages.excerpt(characters)

    def render(self, text: str) -> str:
        candidate = self._candidate
        place = f"#{candidate.chunk}" if candidate.chunks > 1 else ""
        handle = f"{HANDLE}:{candidate.id}{place}"
        return render_item(handle, candidate.time, candidate.header, text, self._fence)


def _entry(each: Ranked, row: Mapping[str, Any], **more: Any) -> CacheEntry:
    columns = {**row, "id": each.scored.candidate.id, "context_type": each.scored.candidate.kind}
    more |= {"relevance": round(each.scored.relevance, 4), "recency": round(each.recency, 4)}
    return CacheEntry.from_row(columns, **more)


def _truncated(each: Ranked, row: Mapping[str, Any], piece: Packed) -> CacheEntry:
    """What the block shows of an entry, and who, when and where; `_LEFT_OUT` is what else it holds."""
    candidate = each.scored.candidate
    ((_, shown),) = parse_block(piece.rendered)
    place = {"chunk": candidate.chunk, "chunks": candidate.chunks} if candidate.chunks > 1 else {}
    return _entry(each, {**row, "content": shown, **_LEFT_OUT}, truncated=True, **place)
