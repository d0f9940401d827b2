"""The units that a grammar names, before they are merged or cut to size. Pure."""

from __future__ import annotations

from typing import NamedTuple

from services.cache.sessions.paging.segmentation.listing import Point


class Unit(NamedTuple):
    """It ends where the next begins."""

    start: Point
    label: str
    """Such as `function`, `class`, `section`, `hunk`, `value`."""
    name: str = ""
    parent: int | None = None
    """The place in the list of the unit that this is a part of: a class, or a section above."""
