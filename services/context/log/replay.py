"""A candidate as the log keeps it, and a logged assembly packed anew under other weights or another budget. Pure.

No content is kept: packing needs sizes only, so a replay packs texts of the same sizes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from services.context import packing, stores
from services.context.stores import LINKS
from shared.tokens import CHARACTERS_PER_TOKEN

# About what a header takes; the rest of an item is text that can be cut.
HEADER_CHARACTERS = 40
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
    taken, dropped = packing.pack(
        items,
        tokens,
        lambda one: one.store,
        shares,
        _text,
        lambda _, text: _HEADER + text,
    )
    by_place = {one.place: one for one in taken}
    return [
        msgspec.structs.replace(
            one,
            taken=by_place[place].tokens if place in by_place else 0,
            outcome=_outcome(by_place.get(place), dropped.get(place)),
        )
        for place, one in enumerate(items)
    ]


def _outcome(packed: packing.Packed | None, dropped: str | None) -> str:
    if packed is None:
        return dropped or "budget"
    return "cut" if packed.cut else "taken"


def _text(one: LoggedCandidate) -> str:
    characters = max(0, one.tokens * CHARACTERS_PER_TOKEN - len(_HEADER) - 1)
    return (_WORD * (characters // len(_WORD) + 1))[:characters]
