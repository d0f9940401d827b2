"""Units merged and cut to a size that is worth an object of its own. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from services.cache.sessions.paging.segmentation import code, hunks, prose
from services.cache.sessions.paging.segmentation.kinds import LANGUAGES, Kind, extension_of, kind_of
from services.cache.sessions.paging.segmentation.listing import Listing, Point
from services.cache.sessions.paging.segmentation.units import Unit
from shared.tokens import CHARACTERS_PER_TOKEN
from shared.tokens.boundaries import boundary

# Characters. Neighbours below SMALL become one segment; a segment above LARGE is cut after a line.
SMALL = 200 * CHARACTERS_PER_TOKEN
LARGE = 2_000 * CHARACTERS_PER_TOKEN
# A text of more characters is cut by lines alone, in linear time.
_MOST_PARSED = 131_072
_MOST_NAMES = 4
_MOST_KEPT = 20
# Characters of a unit that never stands alone.
_TINY = 120


class Segment(NamedTuple):
    """A part of a text. All segments, one after another, are the text, byte for byte."""

    text: str
    kind: Kind
    label: str
    """Such as `function`, `class`, `section`, `hunk`, `value`, `lines`."""
    name: str
    first_line: int
    """From 1."""
    last_line: int
    parent: int | None
    """The place in the list of the segment that holds the heading of this."""
    names: list[str]
    """All that `name` lists the first of, up to a bound."""


class _Cut(NamedTuple):
    start: int
    stop: int
    unit: Unit


def segment(
    text: str, path: str | None = None, kind: Kind | None = None, *, parsed: bool = True
) -> list[Segment]:
    """A text of any size, in linear time unless code is `parsed`. An empty text has no segment."""
    if not text:
        return []
    listing = Listing(text)
    kind = kind or kind_of(listing.plain, path)
    units = _units(listing, kind, path, parsed) if len(text) <= _MOST_PARSED else []
    cuts = _cuts(listing, units)
    return _segments(listing, kind, cuts, _groups(cuts))


def _units(listing: Listing, kind: Kind, path: str | None, parsed: bool) -> list[Unit]:
    if kind in ("code", "json"):
        language = "json" if kind == "json" else LANGUAGES.get(extension_of(path)) if parsed else None
        root = None if language is None else code.parse(listing.plain, language)
        return hunks.of_log(listing.plain) if root is None else code.units(root)
    if kind == "prose":
        return prose.units(listing.plain)
    return hunks.of_diff(listing.plain) if kind == "diff" else hunks.of_log(listing.plain)


def _cuts(listing: Listing, units: Sequence[Unit]) -> list[_Cut]:
    """Where each unit begins and ends. A unit that another precedes on its line may be empty."""
    starts = [listing.offset(unit.start) for unit in units]
    if not starts or starts[0] > 0:
        starts.insert(0, 0)
        shifted = [unit if unit.parent is None else unit._replace(parent=unit.parent + 1) for unit in units]
        units = [Unit(Point(0, 0), "lines"), *shifted]
    return [_Cut(*cut) for cut in zip(starts, [*starts[1:], len(listing.text)], units, strict=True)]


def _groups(cuts: Sequence[_Cut]) -> list[range]:
    """Units that become one segment."""
    groups: list[range] = []
    first = 0
    for place in range(1, len(cuts) + 1):
        if place == len(cuts) or not _joins(cuts, first, place):
            groups.append(range(first, place))
            first = place
    return groups


def _joins(cuts: Sequence[_Cut], first: int, place: int) -> bool:
    """Whether a unit goes on with those from `first` on."""
    before, after = cuts[place].start - cuts[first].start, cuts[place].stop - cuts[place].start
    if before + after > LARGE:
        return False
    if before < _TINY or after < _TINY:
        return True
    parent = cuts[place].unit.parent
    related = parent == cuts[first].unit.parent or (parent is not None and first <= parent < place)
    return related and before < SMALL and after < SMALL


def _segments(listing: Listing, kind: Kind, cuts: Sequence[_Cut], groups: Sequence[range]) -> list[Segment]:
    found: list[Segment] = []
    holders: dict[int, int] = {}
    line = 1
    for group in groups:
        units = [cuts[place].unit for place in group]
        above = units[0].parent
        parent = None if above is None else holders.get(above)
        names = _names(units)
        holders.update(dict.fromkeys(group, len(found)))
        for piece in _pieces(listing.text[cuts[group[0]].start : cuts[group[-1]].stop]):
            last = line + piece.count("\n")
            ends = last - 1 if piece.endswith("\n") else last
            found.append(Segment(piece, kind, _label(units), _listed(names), line, ends, parent, names))
            line = last
    return found


def _pieces(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > LARGE:
        stop = boundary(text, start + LARGE // 2, start + LARGE)
        yield text[start:stop]
        start = stop
    yield text[start:]


def _label(units: Sequence[Unit]) -> str:
    return next((unit.label for unit in units if unit.name), units[0].label)


def _names(units: Sequence[Unit]) -> list[str]:
    return [*dict.fromkeys(unit.name for unit in units if unit.name)][:_MOST_KEPT]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST_NAMES]) + (", …" if len(names) > _MOST_NAMES else "")
