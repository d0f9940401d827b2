"""Which items get the tokens of a budget. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from shared.tokens import CHARACTERS_PER_TOKEN, estimate_tokens

# A store's share of the budget, unless the caller sets another.
DEFAULT_TOKEN_SHARE = 0.8
# About what the header of an item takes; the rest is text that can be cut.
HEADER_CHARACTERS = 40
# A piece below a third of an item says too little of it.
_LEAST_SHARE = 1 / 3
_CUT_MARK = " […]"
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


class Item(Protocol):
    @property
    def store(self) -> str: ...

    @property
    def text(self) -> str: ...

    def render(self, text: str) -> str:
        """The item as it stands in a block, with `text` for its own; `text` is a beginning of that."""


class Packed(NamedTuple):
    """What of an item is in the block. `place` is the item's in the order of worth."""

    place: int
    rendered: str
    tokens: int
    cut: bool

    @property
    def outcome(self) -> str:
        return "cut" if self.cut else "taken"


NOT_PACKED = "budget"
"""The outcome of an item that found no room."""


def pack(items: Sequence[Item], budget: int, shares: Mapping[str, float]) -> list[Packed]:
    """Fills a block from items in their order of worth, and returns what went in, in the same order.

    Each store first gets its share of the budget; then what is left goes to whatever still fits. An item that does
    not fit whole is cut at a sentence's end when a third of it fits; when nothing else is in, however little fits.
    """
    block = _Block(items, budget)
    block.take_rest(block.take_within(shares))
    if not block.taken:
        block.take_a_beginning()
    return [block.taken[place] for place in sorted(block.taken)]


class _Block:
    """A block while it is filled."""

    def __init__(self, items: Sequence[Item], budget: int) -> None:
        self.taken: dict[int, Packed] = {}
        self._items = items
        self._budget = self._left = budget

    def take_within(self, shares: Mapping[str, float]) -> list[int]:
        """Whole items within their stores' shares; answers the places of those that may still fit."""
        rooms: dict[str, float] = {}
        waiting = []
        for place, item in enumerate(self._items):
            if self._left * CHARACTERS_PER_TOKEN < _LEAST_SHARE * len(item.text):
                # Not even cut, and there will never be more room: most candidates end here, unrendered.
                continue
            store = item.store
            room = rooms.setdefault(store, shares.get(store, DEFAULT_TOKEN_SHARE) * self._budget)
            if packed := _whole(place, item, min(self._left, room)):
                rooms[store] -= packed.tokens
                self._take(packed)
            else:
                waiting.append(place)
        return waiting

    def take_rest(self, places: Iterable[int]) -> None:
        for place in places:
            item = self._items[place]
            if packed := _whole(place, item, self._left) or _cut(place, item, self._left, _LEAST_SHARE):
                self._take(packed)

    def take_a_beginning(self) -> None:
        """However little of the first item of which anything fits."""
        beginnings = (_cut(place, item, self._left, 0.0) for place, item in enumerate(self._items))
        if packed := next(filter(None, beginnings), None):
            self._take(packed)

    def _take(self, packed: Packed) -> None:
        self.taken[packed.place] = packed
        self._left -= packed.tokens


def _whole(place: int, item: Item, room: float) -> Packed | None:
    """The whole item, or None where it takes more than `room` tokens."""
    if len(item.text) >= room * CHARACTERS_PER_TOKEN:
        # Rendered it is longer still.
        return None
    rendered = item.render(item.text)
    tokens = tokens_of_line(rendered)
    return Packed(place, rendered, tokens, cut=False) if tokens <= room else None


def _cut(place: int, item: Item, left: int, least: float) -> Packed | None:
    """The beginning of an item that does not fit whole, or None where less than `least` of it fits."""
    text = item.text
    if left * CHARACTERS_PER_TOKEN < least * len(text):
        return None
    header = tokens_of_line(item.render("")) + 1
    room = (left - header) * CHARACTERS_PER_TOKEN - len(_CUT_MARK)
    while room > 0 and room >= least * len(text):
        rendered = item.render(shorten(text, room) + _CUT_MARK)
        tokens = tokens_of_line(rendered)
        if tokens <= left:
            return Packed(place, rendered, tokens, cut=True)
        # Escapes made it longer than its text.
        room -= (tokens - left) * CHARACTERS_PER_TOKEN
    return None


def shorten(text: str, characters: int) -> str:
    """The beginning of a text, up to a sentence's end, a word's end at the least."""
    if len(text) <= characters:
        return text
    beginning = text[:characters]
    ends = [match.start() for match in _SENTENCE_END.finditer(beginning)]
    if ends and ends[-1] >= _LEAST_SHARE * characters:
        return beginning[: ends[-1]]
    word = beginning.rfind(" ")
    return beginning[:word] if word >= _LEAST_SHARE * characters else beginning


def tokens_of_line(rendered: str) -> int:
    return estimate_tokens(rendered + "\n")
