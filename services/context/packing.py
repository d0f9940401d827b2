"""Which items get the tokens of a budget. Pure: an assembly packs what it found, a replay what was logged."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from services.context.stores import DEFAULT_TOKEN_SHARE
from shared.tokens import CHARACTERS_PER_TOKEN, estimate_tokens

# A piece below a third of an item says too little of it.
_LEAST_SHARE = 1 / 3
_CUT_MARK = " […]"
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")

T = TypeVar("T")


class Packed(NamedTuple):
    """The place of an item in the order of worth, its rendered text and whether it was cut."""

    place: int
    rendered: str
    tokens: int
    cut: bool


def pack(
    items: Sequence[T],
    budget: int,
    store_of: Callable[[T], str],
    shares: Mapping[str, float],
    text_of: Callable[[T], str],
    render: Callable[[T, str], str],
) -> tuple[list[Packed], dict[int, str]]:
    """Items in their order of worth: first within each store's share of the budget, then whatever still fits.

    What does not fit whole goes in cut at a sentence's end when a third of it fits; when nothing else is in,
    however little fits. Returns what was taken, in order of worth, and the reason for each that was not.
    """
    left = budget
    spent: dict[str, int] = {}
    taken: dict[int, Packed] = {}
    later: list[int] = []
    dropped: dict[int, str] = {}
    for index, item in enumerate(items):
        text = text_of(item)
        if left * CHARACTERS_PER_TOKEN < _LEAST_SHARE * len(text):
            # Not even cut, and there will never be more room: most candidates end here, unrendered.
            dropped[index] = "budget"
            continue
        store = store_of(item)
        room = min(left, shares.get(store, DEFAULT_TOKEN_SHARE) * budget - spent.get(store, 0))
        whole = _whole(index, item, room, text, render)
        if whole is None:
            later.append(index)
            continue
        taken[index] = whole
        spent[store] = spent.get(store, 0) + whole.tokens
        left -= whole.tokens
    for index in later:
        item = items[index]
        packed = _whole(index, item, left, text_of(item), render) or _cut(index, item, left, text_of, render)
        if packed is None:
            dropped[index] = "budget"
        else:
            taken[index] = packed
            left -= packed.tokens
    if not taken:
        pieces = (_cut(index, item, budget, text_of, render, least=0) for index, item in enumerate(items))
        if some := next((piece for piece in pieces if piece is not None), None):
            taken[some.place] = some
            del dropped[some.place]
    return [taken[index] for index in sorted(taken)], dropped


def _whole(index: int, item: T, room: float, text: str, render: Callable[[T, str], str]) -> Packed | None:
    """The whole item, or None where it takes more than `room` tokens."""
    if len(text) >= room * CHARACTERS_PER_TOKEN:
        # Rendered it is longer still.
        return None
    rendered = render(item, text)
    tokens = _with_newline(rendered)
    return Packed(index, rendered, tokens, cut=False) if tokens <= room else None


def _cut(
    index: int,
    item: T,
    left: int,
    text_of: Callable[[T], str],
    render: Callable[[T, str], str],
    least: float = _LEAST_SHARE,
) -> Packed | None:
    """The beginning of an item that does not fit whole, or None."""
    text = text_of(item)
    if left * CHARACTERS_PER_TOKEN < least * len(text):
        return None
    around = _with_newline(render(item, "")) + 1
    room = (left - around) * CHARACTERS_PER_TOKEN - len(_CUT_MARK)
    while room > 0 and room >= least * len(text):
        rendered = render(item, shorten(text, room) + _CUT_MARK)
        tokens = _with_newline(rendered)
        if tokens <= left:
            return Packed(index, rendered, tokens, cut=True)
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


def _with_newline(rendered: str) -> int:
    return estimate_tokens(rendered + "\n")
