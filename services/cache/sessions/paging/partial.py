"""A part of a source that is read again: which objects hold its lines, and what of it is new. Pure, in linear time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from services.cache.sessions.paging.segmentation.listing import Listing

# Where a text stands in a source more often than that, within lines, its lines decide.
_MOST_PLACES = 8


class Holder(NamedTuple):
    """An object of the source, and its text."""

    id: str
    text: str


class Replaced(NamedTuple):
    """An object with another text at a line's number, and where in the rest this line begins."""

    id: str
    offset: int


class Reread(NamedTuple):
    again: list[str]
    """The objects that hold lines of the text, in its order."""
    rest: str
    """The lines that none holds."""
    replaced: list[Replaced]


class _Index(NamedTuple):
    """Which objects hold a line. Of a line that stands in several, `only` is None."""

    only: Mapping[str, str | None]
    lines: Mapping[str, frozenset[str]]


def inside(text: str, known: Sequence[Holder]) -> list[str]:
    """The objects that hold the text as it is, from the start of a line or object to the end of one, if they do."""
    part = text.removesuffix("\n")
    if not part.strip():
        return []
    joined = "".join(holder.text for holder in known)
    ends = [*accumulate((len(holder.text) for holder in known), initial=0)]
    start = -1
    for _ in range(_MOST_PLACES):
        start = joined.find(part, start + 1)
        if start < 0:
            return []
        stop = start + len(part)
        if _is_edge(joined, start, ends) and (
            joined[stop : stop + 1] == "\n" or _is_edge(joined, stop, ends)
        ):
            return [
                holder.id for holder in known[bisect_right(ends, start) - 1 : bisect_right(ends, stop - 1)]
            ]
    return []


def _is_edge(joined: str, at: int, ends: Sequence[int]) -> bool:
    """Whether a line or an object begins here."""
    return joined[at - 1 : at] == "\n" or ends[bisect_right(ends, at) - 1] == at


def reread(text: str, known: Sequence[Holder]) -> Reread:
    """Lines that an object holds bring it back; the rest is new, and replaces what has its numbers."""
    if again := inside(text, known):
        return Reread(again, "", [])
    listing = Listing(text)
    holders = _holders(listing.lines, _index(known))
    new = [row for row, holder in enumerate(holders) if holder is None]
    pieces = [text[listing.starts[row] : listing.starts[row + 1]] for row in new]
    rest = "".join(pieces)
    held = dict.fromkeys(holder for holder in holders if holder is not None)
    if not rest.strip():
        return Reread([*held], "", [])
    offsets = accumulate(map(len, pieces), initial=0)
    places = {listing.numbers[row]: offset for row, offset in zip(new, offsets, strict=False)}
    return Reread([*held], rest, _replaced(places, [holder for holder in known if holder.id not in held]))


def _index(known: Sequence[Holder]) -> _Index:
    lines = {holder.id: frozenset(Listing(holder.text).lines) for holder in known}
    only: dict[str, str | None] = {}
    for id_, held in lines.items():
        for line in held:
            only[line] = None if line in only else id_
    return _Index(only, lines)


def _holders(lines: Sequence[str], index: _Index) -> list[str | None]:
    """For each line its object. A line that says little, or that several hold, goes with a neighbour."""
    own = [index.only.get(line) if _tells(line) else None for line in lines]
    found = _follow(lines, own, index)
    behind = _follow(lines[::-1], found[::-1], index)
    return behind[::-1]


def _follow(lines: Sequence[str], own: Sequence[str | None], index: _Index) -> list[str | None]:
    """A line without an object of its own goes with the line before it, if that one's object holds it, too."""
    found: list[str | None] = []
    before: str | None = None
    for line, holder in zip(lines, own, strict=True):
        if holder is None and before is not None and line in index.lines[before]:
            holder = before
        found.append(holder)
        before = holder
    return found


def _tells(line: str) -> bool:
    return any(character.isalnum() for character in line)


def _replaced(places: Mapping[str | None, int], known: Sequence[Holder]) -> list[Replaced]:
    found: list[Replaced] = []
    for holder in known:
        numbers = Listing(holder.text).numbers
        offset = next((places[number] for number in numbers if number is not None and number in places), None)
        if offset is not None:
            found.append(Replaced(holder.id, offset))
    return found
