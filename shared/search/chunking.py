"""Cuts long texts into chunks for search. Offsets are characters, end exclusive."""

from __future__ import annotations

from typing import NamedTuple

TARGET = 900
# A text slightly over the target stays whole: each half would lose context.
_WHOLE_UP_TO = TARGET * 5 // 4
MAX_CHUNKS = 512


class Chunk(NamedTuple):
    start: int
    stop: int


def chunk(text: str) -> list[Chunk]:
    """Chunks of about TARGET characters, cut after a line, a sentence or a word where possible."""
    if len(text) <= _WHOLE_UP_TO:
        return [Chunk(0, len(text))]
    chunks: list[Chunk] = []
    start = 0
    while True:
        stop = min(len(text), start + TARGET)
        if stop < len(text):
            stop = _boundary(text, start + TARGET // 2, stop)
        chunks.append(Chunk(start, stop))
        if stop >= len(text):
            return chunks
        if len(chunks) == MAX_CHUNKS - 1:
            return [*chunks, Chunk(stop, len(text))]
        start = stop


def _boundary(text: str, low: int, high: int) -> int:
    for mark in ("\n", ". ", " "):
        at = text.rfind(mark, low, high)
        if at >= 0:
            return at + len(mark)
    return high
