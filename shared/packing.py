"""Packs items into a token budget. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from shared.render import most_escapes
from shared.tokens import CHARACTERS_PER_TOKEN, estimate_tokens, width, within
from shared.tokens.boundaries import after_pause, after_sentence, before_word

# A store's default share of the budget.
DEFAULT_TOKEN_SHARE = 0.8
# The approximate width of an item's header. The rest is text that can be cut.
HEADER_CHARACTERS = 40
# A header's date and numbers take more tokens than as many letters. English words, which take fewer than estimated,
# make up for them; the words of these scripts don't.
_HEADER_EXCESS = 12
_OTHER_SCRIPTS = re.compile(r"[\u0370-\u1dff\u2e80-\ud7ff\uf900-\ufaff\uff66-\uff9f]")
# When the best items have filled this share of a block, later items are cut to half while others wait for room.
_WHOLE_SHARE = 0.4
_SHORT_SHARE = 0.5
# One item takes at most this share of a block while others wait for room.
_MOST_SHARE = 0.6
# Every item but the best is at most as wide as this while others wait for room.
_MOST_WIDTH = 350
# An item worth at most this share of the best one gets only the room that the better items leave.
_LESSER_SHARE = 0.5
# A smaller piece of an item says too little, unless it is as wide as this.
_LEAST_SHARE = 1 / 3
_LEAST_WIDTH = 80
# The shortest possible header.
_LEAST_HEADER = 20
_CUT_MARK = " […]"
_SENTENCE_ENDS = (". ", "! ", "? ")


class Item(Protocol):
    @property
    def store(self) -> str: ...

    @property
    def text(self) -> str: ...

    @property
    def worth(self) -> float:
        """At most that of the previous item."""

    def shorten(self, characters: int) -> str:
        """At most so many characters of its text."""

    def render(self, text: str) -> str:
        """The item's lines in a block, with `text`, which is its own or what is left of it."""


class Packed(NamedTuple):
    """The part of an item that is in the block. `place` is the item's index by worth."""

    place: int
    rendered: str
    tokens: int
    cut: bool
    excerpt: bool = False
    """What is left of it is no beginning of it."""

    @property
    def outcome(self) -> str:
        return "cut" if self.cut else TAKEN


TAKEN = "taken"
NOT_PACKED = "budget"
"""The outcome of an item without room."""
BELOW_CUT = "below_cut"
"""The outcome of an item that is too far from the best to be packed."""


def pack(items: Sequence[Item], budget: int, shares: Mapping[str, float]) -> list[Packed]:
    """Fills a block from items ordered by worth, and returns what went in, in the same order.

    The best item always goes in, cut if necessary. Items worth more than half of it come next, then the lesser ones.
    Each store first gets its share of the budget, then the rest goes to whatever still fits. While items wait for
    room, long ones are cut. Room that remains at the end goes to the best items that were cut.
    """
    block = _Block(items, budget, shares)
    block.take_best()
    least = _LESSER_SHARE * items[0].worth if items else 0.0
    block.fill([place for place, item in enumerate(items) if item.worth > least])
    block.fill([place for place, item in enumerate(items) if item.worth <= least])
    if not block.taken:
        block.take_a_beginning()
    return [block.taken[place] for place in sorted(block.taken)]


def pack_evenly(items: Sequence[Item], budget: int) -> list[Packed]:
    """Gives each item the same room, and the room that short items leave to the others. Keeps the items' order."""
    left, taken = budget, []
    by_length = sorted(range(len(items)), key=lambda place: len(items[place].text))
    for waiting, place in zip(range(len(items), 0, -1), by_length, strict=True):
        item = items[place]
        packed = _whole(place, item, left // waiting) or _cut(place, item, left // waiting)
        if packed is not None:
            taken.append(packed)
            left -= packed.tokens
    return sorted(taken)


class _Block:
    """A block while it is filled."""

    def __init__(self, items: Sequence[Item], budget: int, shares: Mapping[str, float]) -> None:
        self.taken: dict[int, Packed] = {}
        self._items = items
        self._widths = [width(item.text) for item in items]
        self._budget = self._left = budget
        stores = {item.store for item in items}
        self._rooms = {store: shares.get(store, DEFAULT_TOKEN_SHARE) * budget for store in stores}

    def take_best(self) -> None:
        if self._items and not self._take_some(0):
            best = self._items[0]
            self._take(_whole(0, best, self._left) or _cut(0, best, self._left))

    def fill(self, places: Iterable[int]) -> None:
        """Fills first within the stores' shares, then with the rest."""
        waiting = [place for place in places if place not in self.taken]
        if self._take_all(waiting):
            return
        waiting = [place for place in waiting if not self._take_some(place)]
        for place in waiting:
            self._take_some(place, shared=False)
        self._lengthen()

    def _take_all(self, waiting: Sequence[int]) -> bool:
        """Takes whole what waits and what was cut, if all of it fits for certain.

        Nothing waits for room then: what is cut meanwhile is lengthened in the end, and never takes more than this.
        """
        cut = [place for place, packed in self.taken.items() if packed.cut]
        room = self._left + sum(self.taken[place].tokens for place in cut)
        places = [*waiting, *cut]
        if sum(self._widths[place] for place in places) >= room * CHARACTERS_PER_TOKEN:
            return False
        if sum(_most_tokens(self._items[place], self._widths[place]) for place in places) >= room:
            return False
        for place in places:
            self._take(_whole(place, self._items[place], room))
        return True

    def take_a_beginning(self) -> None:
        """Takes a beginning, however short, of the first item that has one which fits."""
        beginnings = (_cut(place, item, self._left) for place, item in enumerate(self._items))
        self._take(next(filter(None, beginnings), None))

    def _room(self, place: int) -> int:
        return int(min(self._left, self._rooms[self._items[place].store], _MOST_SHARE * self._budget))

    def _take_some(self, place: int, *, shared: bool = True) -> bool:
        """Takes the whole item or the part allowed now. False if too little fits to be worth reading.

        If `shared`, it leaves room to other stores and items.
        """
        whole_width = self._widths[place]
        least = min(_LEAST_WIDTH, _LEAST_SHARE * whole_width)
        if self._left * CHARACTERS_PER_TOKEN < least + _LEAST_HEADER:
            # Most candidates end here, before anything else is known of them.
            return False
        room = self._room(place) if shared else self._left
        if room * CHARACTERS_PER_TOKEN < least + _LEAST_HEADER:
            return False
        item = self._items[place]
        most = self._most_width(whole_width)
        whole = _whole(place, item, room) if most >= whole_width else None
        return self._take(whole or _cut(place, item, room, least, most))

    def _most_width(self, whole: int) -> int:
        """How much of an item of this width may be taken while others wait."""
        if not self.taken:
            return whole
        short = _MOST_WIDTH
        if self._left <= (1 - _WHOLE_SHARE) * self._budget:
            short = min(short, max(_LEAST_WIDTH, int(_SHORT_SHARE * whole)))
        return short if short + len(_CUT_MARK) < whole else whole

    def _lengthen(self) -> None:
        """Gives the remaining room to the best items that were cut."""
        for place in sorted(self.taken):
            short = self.taken[place]
            if not self._left:
                return
            if short.cut:
                room, item = short.tokens + self._left, self._items[place]
                # A single token may complete an item, but lengthens no other worth the rendering.
                more = self._left * CHARACTERS_PER_TOKEN >= _LEAST_HEADER
                longer = _whole(place, item, room) or (_cut(place, item, room) if more else None)
                if longer is not None and (not longer.cut or len(longer.rendered) > len(short.rendered)):
                    self._take(longer)

    def _take(self, packed: Packed | None) -> bool:
        """Takes a piece, replacing a shorter one of the same item. False without a piece."""
        if packed is None:
            return False
        shorter = self.taken.get(packed.place)
        tokens = packed.tokens - (shorter.tokens if shorter else 0)
        self.taken[packed.place] = packed
        self._left -= tokens
        self._rooms[self._items[packed.place].store] -= tokens
        return True


def _most_tokens(item: Item, wide: int) -> int:
    """At most so many tokens does an item of this width take, whole or cut."""
    header = tokens_of_line(item.render(""))
    text = wide + len(_CUT_MARK) + most_escapes(item.text)
    excess = _HEADER_EXCESS if _has_other_scripts(item.text) else 0
    return header + -(-text // CHARACTERS_PER_TOKEN) + excess


def _whole(place: int, item: Item, room: int) -> Packed | None:
    """The whole item, or None if it needs more than `room` tokens."""
    if width(item.text) >= room * CHARACTERS_PER_TOKEN:
        # Rendering only makes it wider.
        return None
    rendered = item.render(item.text)
    tokens = tokens_of_line(rendered)
    return Packed(place, rendered, tokens, cut=False) if tokens <= room else None


def _cut(place: int, item: Item, room: int, least: float = 0.0, most: int | None = None) -> Packed | None:
    """A part of an item, of at most `most` in width. None if less than `least` fits."""
    text = item.text
    wide = room * CHARACTERS_PER_TOKEN - _LEAST_HEADER - len(_CUT_MARK)
    wide = min(wide, width(text) - 1 if most is None else most)
    while wide > 0 and wide >= least:
        short = item.shorten(min(within(text, wide), len(text) - 1))
        rendered = item.render(short + _CUT_MARK)
        tokens = tokens_of_line(rendered)
        if tokens <= room:
            return Packed(place, rendered, tokens, cut=True, excerpt=not text.startswith(short))
        # The excess is what its header and escapes need beyond the estimate.
        wide -= (tokens - room) * CHARACTERS_PER_TOKEN
    return None


def shorten(text: str, characters: int) -> str:
    """The beginning of a text, up to the end of a sentence, or else of a word."""
    if len(text) <= characters:
        return text
    beginning = text[:characters]
    ends = [beginning.rfind(end) + 1 for end in _SENTENCE_ENDS]
    sentence = max(beginning.rfind("\n"), *ends, after_sentence(text, 0, characters))
    if sentence >= _LEAST_SHARE * characters:
        return beginning[:sentence]
    word = max(beginning.rfind(" "), after_pause(text, 0, characters))
    return beginning[: word if word >= _LEAST_SHARE * characters else before_word(text, characters)]


def tokens_of_line(rendered: str) -> int:
    """The tokens of an item, with its header and the end of its last line."""
    if rendered.isascii():
        return -(-(len(rendered) + 1) // CHARACTERS_PER_TOKEN)
    tokens = estimate_tokens(rendered + "\n")
    return tokens + _HEADER_EXCESS if _has_other_scripts(rendered) else tokens


def _has_other_scripts(text: str) -> bool:
    return not text.isascii() and _OTHER_SCRIPTS.search(text) is not None
