"""The lines of a block that correct what its session was given. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from services.context.delta.queries import Gift
from services.context.delta.schemas import Correction
from shared.packing import shorten, tokens_of_line
from shared.render import Fence, with_header
from shared.states.schemas import What

_LONGEST = 1_200
"""Characters of what an edited item says now."""
SHARE = 0.5
"""Of the budget, for corrections. What has no room is told by the next answer."""


class Change(NamedTuple):
    """What became of an item. `gift` records that the session was told."""

    handle: str
    what: What
    by: str | None
    text: str | None
    gift: Gift


class Line(NamedTuple):
    change: Change
    text: str
    tokens: int

    @property
    def correction(self) -> Correction:
        return Correction(self.change.handle, self.change.what, self.change.by)


def lines(changes: Iterable[Change], fence: Fence, room: int) -> list[Line]:
    """Those that the room takes, in their order."""
    fitting = []
    for change in changes:
        text = _rendered(change, fence)
        tokens = tokens_of_line(text)
        if tokens <= room:
            fitting.append(Line(change, text, tokens))
            room -= tokens
    return fitting


def texts(changes: Sequence[Change]) -> list[str]:
    return [change.text for change in changes if change.text is not None]


def _rendered(change: Change, fence: Fence) -> str:
    if change.what == "gone":
        return with_header(_header(change, "no longer held", fence), "It is no longer known to hold.")
    if change.by is not None:
        text = f"{change.by} says what holds now."
        return with_header(_header(change, f"superseded by {change.by}", fence), text)
    return with_header(_header(change, "now says", fence), shorten(change.text or "", _LONGEST))


def _header(change: Change, words: str, fence: Fence) -> str:
    return f"[update {change.handle} {words} {fence.nonce}]"
