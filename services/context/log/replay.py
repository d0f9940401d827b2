"""A candidate as the log keeps it, and a logged assembly packed anew under other weights or another budget. Pure.

No content is kept: packing needs sizes only, so a replay packs texts of the same sizes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from services.context import packing, stores
from services.context.packing import HEADER_CHARACTERS, NOT_PACKED
from services.context.stores import LINKS
from shared.tokens import CHARACTERS_PER_TOKEN

_HEADER = "h" * (HEADER_CHARACTERS - 1) + " "
_WORD = "xxxxxxx "


class LoggedCandidate(msgspec.Struct, array_like=True):
    """score = weight * relevance * recency * priority. `tokens` of the whole item, `taken` of what went in."""

    handle: str
    score: float
    weight: float
    relevance: float
    recency: float
    priority: float
    tokens: int
    taken: int
    outcome: str
    same_as: str | None = None
    """The handle whose text it repeats, when that is why it was left out."""

    @property
    def store(self) -> str:
        return stores.name_of(self.handle)


class Replayed(msgspec.Struct):
    """Outcomes are estimates where an item is cut: its text is not kept, only its size."""

    candidates: list[LoggedCandidate]
    total_tokens: int


def replay(
    logged: Sequence[LoggedCandidate],
    tokens: int,
    shares: Mapping[str, float],
    weights: Mapping[str, float],
) -> Replayed:
    """What would have been taken with this budget, these shares, and these weights where they differ."""
    links = [one for one in logged if one.store == LINKS.name]
    found = [_reweighed(one, weights.get(one.store)) for one in logged if one.store != LINKS.name]
    kept, repeats = _without_repeats(sorted(found, key=lambda one: -one.score))
    linked = _packed(links, int(tokens * LINKS.token_share), {LINKS.name: 1.0})
    spent = sum(one.taken for one in linked)
    packed = _packed(kept, tokens - spent, {**stores.TOKEN_SHARES, **shares})
    return Replayed([*linked, *packed, *repeats], spent + sum(one.taken for one in packed))


def _reweighed(one: LoggedCandidate, weight: float | None) -> LoggedCandidate:
    if weight is None or weight == one.weight:
        return one
    score = weight * one.relevance * one.recency * one.priority
    return msgspec.structs.replace(one, weight=weight, score=round(score, 6))


def _without_repeats(
    ordered: Sequence[LoggedCandidate],
) -> tuple[list[LoggedCandidate], list[LoggedCandidate]]:
    """Of the same text the one that is worth most now stays, which may be another than before."""
    first: dict[str, str] = {}
    kept, repeats = [], []
    for one in ordered:
        text = one.same_as or one.handle
        if text in first:
            repeats.append(msgspec.structs.replace(one, outcome="repeat", taken=0, same_as=first[text]))
        else:
            first[text] = one.handle
            kept.append(msgspec.structs.replace(one, same_as=None))
    return kept, repeats


def _packed(
    items: Sequence[LoggedCandidate], tokens: int, shares: Mapping[str, float]
) -> list[LoggedCandidate]:
    packed = {one.place: one for one in packing.pack([_Sized(one) for one in items], tokens, shares)}
    return [
        msgspec.structs.replace(
            one,
            taken=packed[place].tokens if place in packed else 0,
            outcome=packed[place].outcome if place in packed else NOT_PACKED,
        )
        for place, one in enumerate(items)
    ]


class _Sized:
    """A text of the size that a candidate had."""

    def __init__(self, one: LoggedCandidate) -> None:
        characters = max(0, one.tokens * CHARACTERS_PER_TOKEN - len(_HEADER) - 1)
        self.store = one.store
        self.text = (_WORD * (characters // len(_WORD) + 1))[:characters]

    def render(self, text: str) -> str:
        return _HEADER + text
