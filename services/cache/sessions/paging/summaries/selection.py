"""The highest ranked lines that fit, in the order of the text. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from shared.packing import shorten
from shared.tokens import CHARACTERS_PER_TOKEN, width

GAP = "…"
_LONGEST = 200
# No line fits into fewer characters.
_LEAST = 12


def select(lines: Sequence[str], ranks: Sequence[int], tokens: int) -> str:
    """At most so many tokens. A mark stands for what is left out between two lines. Long lines count as several."""
    room = tokens * CHARACTERS_PER_TOKEN
    longest = max(40, min(_LONGEST, room // 4))
    rows, ranks = _wrapped(lines, ranks)
    kept: dict[int, str] = {}
    for row in sorted(range(len(rows)), key=ranks.__getitem__):
        line = shorten(rows[row].rstrip() if longest == _LONGEST else rows[row].strip(), longest)
        size = width(line) + 1 + _gaps(kept, row) * (width(GAP) + 1)
        if line.strip() and size <= room:
            kept[row] = line
            room -= size
        if room < _LEAST:
            break
    return (
        _rendered(kept, len(rows))
        if kept
        else shorten(" ".join(lines).strip(), tokens * CHARACTERS_PER_TOKEN)
    )


def _wrapped(lines: Sequence[str], ranks: Sequence[int]) -> tuple[list[str], list[int]]:
    rows: list[str] = []
    found: list[int] = []
    for line, rank in zip(lines, ranks, strict=True):
        pieces = [line[start : start + _LONGEST] for start in range(0, len(line), _LONGEST)] or [line]
        rows += pieces
        # The beginning of a line says what the rest is.
        found += [rank, *[rank + 1] * (len(pieces) - 1)]
    return rows, found


def _gaps(kept: dict[int, str], row: int) -> int:
    """How many marks a line may add at most."""
    return (row - 1 not in kept) + (row + 1 not in kept) - 1 if kept else 2


def _rendered(kept: dict[int, str], count: int) -> str:
    pieces: list[str] = []
    before = -1
    for row in sorted(kept):
        if row != before + 1:
            pieces.append(GAP)
        pieces.append(kept[row])
        before = row
    return "\n".join([*pieces, GAP] if before + 1 < count else pieces)
