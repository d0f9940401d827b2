"""What an agent notes of a long text. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence

from bench.demo.transcript import (
    Definition,
    errors,
)
from shared.tokens import estimate_tokens

_LONGEST_PART = 4
# A digest may have this share of what it digests, between these bounds in tokens.
_SHARE, _LEAST, _MOST = 0.2, 150, 700
NOISE = re.compile(
    r"^\W*$|^\s*(?:%|\d+)\s+(?:Total|\d+)\s.*(?:--:--|Speed|\d:\d)|^\s+Dload\s|^Terminal features will"
    r"|^<<<<<|^(?:START|END)_CURSOR|^\(\d+ more lines|^Warning: _curses|\bPASSED\b|^(?:platform|cachedir|plugins)\b"
)


def pieces(parts: Iterable[str], limit: int, between: str = " ") -> Iterator[str]:
    """Parts joined into pieces of at most `limit` characters; a longer part is a piece of its own, or several."""
    longest = _LONGEST_PART * limit
    piece = ""
    for part in (whole[i : i + longest] for whole in parts for i in range(0, len(whole), longest)):
        if piece and len(piece) + len(between) + len(part) > limit:
            yield piece
            piece = ""
        piece = piece + between + part if piece else part
    if piece:
        yield piece


def allowance(text: str) -> int:
    """Tokens that the digest of a text may have."""
    return int(min(_MOST, max(_LEAST, estimate_tokens(text) * _SHARE)))


def listing(found: Sequence[Definition], budget: int) -> list[str]:
    """Signatures within `budget` tokens, in the order of the file, with notes while there is room.

    When not all fit, tests and dunders go first.
    """
    by_worth = sorted(range(len(found)), key=lambda place: (_minor(found[place]), place))
    chosen: set[int] = set()
    for place in by_worth:
        cost = estimate_tokens(found[place].signature) + 1
        if cost <= budget:
            budget -= cost
            chosen.add(place)
    notes: dict[int, str] = {}
    for place in by_worth:
        cost = estimate_tokens(found[place].note) + 1
        if place in chosen and found[place].note and cost <= budget:
            budget -= cost
            notes[place] = f"  # {found[place].note}"
    lines = (
        ("  " if found[place].indent else "") + found[place].signature + notes.get(place, "")
        for place in sorted(chosen)
    )
    return list(dict.fromkeys(lines))


def _minor(one: Definition) -> int:
    if one.name.startswith("test_") or one.name.startswith("Test"):
        return 2
    return 1 if one.name.startswith("__") or (one.indent and "self)" in one.signature) else 0


def digest(text: str, budget: int | None = None) -> list[str]:
    """The errors, the beginning and the end of an output, within a budget of tokens."""
    left = budget or allowance(text)
    lines = telling(text)
    turns = [*(line for line in lines if line in set(errors(text))), *_from_both_ends(lines)]
    chosen: set[str] = set()
    for line in dict.fromkeys(turns):
        cost = estimate_tokens(line) + 1
        if cost <= left:
            left -= cost
            chosen.add(line)
    return [line for line in lines if line in chosen]


def _from_both_ends(lines: list[str]) -> Iterator[str]:
    """Two from the beginning for each one from the end."""
    first, last = 0, len(lines) - 1
    while first <= last:
        yield lines[first]
        if first + 1 <= last:
            yield lines[first + 1]
        if last > first + 1:
            yield lines[last]
        first, last = first + 2, last - 1


def telling(text: str) -> list[str]:
    lines = (line.rstrip()[:300] for line in text.splitlines())
    return list(dict.fromkeys(line for line in lines if line.strip() and not NOISE.search(line)))
