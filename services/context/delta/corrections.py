"""The lines of a block that correct what its session was given. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from services.context.delta.known import CUT, passage
from services.context.delta.queries import Gift
from services.context.delta.schemas import Correction
from shared.packing import shorten, tokens_of_line
from shared.render import Fence, with_header
from shared.states.schemas import What

_LONGEST = 1_200
"""Characters of what an edited item says now."""
_CUT_MARK = " […]"
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
        line = _line(change, fence)
        if line.tokens <= room:
            fitting.append(line)
            room -= line.tokens
    return fitting


def told(updates: Iterable[Line], names: Iterable[str]) -> set[str]:
    """Those of the items, or parts of items, of which the lines say what became of them."""
    handles = {update.change.handle for update in updates}
    if not handles:
        return set()
    items = {_item(handle) for handle in handles}
    return {name for name in names if name in handles or name in items or _item(name) in handles}


def _item(handle: str) -> str:
    """Without the part: an edit may part an item, or make its parts one."""
    return handle.partition("#")[0]


def texts(changes: Sequence[Change]) -> list[str]:
    return [change.text for change in changes if change.text is not None]


def _line(change: Change, fence: Fence) -> Line:
    text = _rendered(change, fence)
    if change.what == "edited" and len(change.text or "") > _LONGEST:
        # The session was given a passage: more of the item may follow.
        gift = change.gift._replace(state=f"{change.gift.state}{CUT}{passage(text)}")
        change = change._replace(gift=gift)
    return Line(change, text, tokens_of_line(text))


def _rendered(change: Change, fence: Fence) -> str:
    if change.what == "gone":
        return with_header(_header(change, "no longer held", fence), "It is no longer known to hold.")
    if change.by is not None:
        text = f"{change.by} says what holds now."
        return with_header(_header(change, f"superseded by {change.by}", fence), text)
    text = change.text or ""
    if len(text) > _LONGEST:
        text = shorten(text, _LONGEST) + _CUT_MARK
    return with_header(_header(change, "now says", fence), text)


def _header(change: Change, words: str, fence: Fence) -> str:
    return f"[update {change.handle} {words} {fence.nonce}]"
