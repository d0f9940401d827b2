"""Cuts long texts into chunks for search. Offsets are characters, end exclusive."""

from __future__ import annotations

from typing import NamedTuple

from shared.tokens import width, within
from shared.tokens.boundaries import boundary

TARGET = 900
"""The width of a chunk. A local model reads twice as much."""
MAX_CHUNKS = 512


class Chunk(NamedTuple):
    start: int
    stop: int


# A text slightly over the target stays whole: each half would lose context.
_WHOLE = TARGET * 5 // 4


def is_short(text: str) -> bool:
    """Whether the text is one chunk. Takes no longer for a long text."""
    return len(text) <= _WHOLE and width(text) <= _WHOLE


def chunk(text: str) -> list[Chunk]:
    """Chunks of about TARGET in width, cut after a line, a sentence or a word where possible."""
    whole = width(text)
    target = _target(text, whole)
    if whole <= target * 5 // 4:
        return [Chunk(0, len(text))]
    chunks: list[Chunk] = []
    start = 0
    while True:
        stop = start + within(text, target, start)
        if stop < len(text):
            stop = boundary(text, start + within(text, target // 2, start), stop)
        chunks.append(Chunk(start, stop))
        if stop >= len(text):
            return chunks
        if len(chunks) == MAX_CHUNKS - 1:
            return [*chunks, Chunk(stop, len(text))]
        start = stop


def _target(text: str, whole: int) -> int:
    """TARGET, or more where a text of wide characters would have too many chunks."""
    return TARGET if whole == len(text) else max(TARGET, 2 * whole // MAX_CHUNKS)
