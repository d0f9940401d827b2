"""A logged candidate, and the replay of a logged assembly with other weights, shares or budget. Pure.

The log keeps no content. Packing needs only sizes, so a replay packs dummy texts of the same sizes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from services.context import stores
from services.context.stores import FACTS, LINKS, PROFILES, Source
from shared import packing
from shared.packing import BELOW_CUT, HEADER_CHARACTERS, NOT_PACKED, TAKEN, Packed
from shared.tokens import CHARACTERS_PER_TOKEN

REPEAT = "repeat"
SUPERSEDED = "superseded"
"""The outcome of an item that a newer one supersedes."""
BACKGROUND = "background"
"""The outcome of what is in the block because it fits, and not because it is relevant."""
GIVEN = "given"
"""The outcome of what the session of the request holds already."""
# What nobody searched for, in the order of a block.
_GIVEN = {source.name: source for source in (PROFILES, LINKS)}
LEAST_BUDGET_OF_FACTS = 500
"""A block of fewer tokens shows no facts."""
_HEADER = "h" * (HEADER_CHARACTERS - 1) + " "
_WORD = "xxxxxxx "


class LoggedCandidate(msgspec.Struct, array_like=True):
    """score = weight * relevance * recency * priority. `tokens` is the whole item's size, `taken` what went in."""

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
    """The handle of the item that it repeats, if that is why it was left out."""
    superseded_by: str | None = None
    """The handle of the newer item, if that is why it was left out."""

    @property
    def store(self) -> str:
        return stores.name_of(self.handle)


class Replayed(msgspec.Struct):
    """Outcomes of cut items are estimates, because only their size is known."""

    candidates: list[LoggedCandidate]
    total_tokens: int


def replay(
    logged: Sequence[LoggedCandidate],
    tokens: int,
    shares: Mapping[str, float],
    weights: Mapping[str, float],
) -> Replayed:
    """What this budget, these shares and these weights would have taken. Stores without a weight keep theirs."""
    facts = [candidate for candidate in logged if candidate.store == FACTS.name]
    room = room_for_facts(tokens)
    answering = _fitted([fact for fact in facts if fact.relevance > 0], room, TAKEN)
    on_facts = sum(fact.taken for fact in answering)
    tokens -= on_facts
    found = [
        _reweighed(candidate, weights.get(candidate.store))
        for candidate in logged
        if candidate.store not in (*_GIVEN, FACTS.name) and candidate.superseded_by is None
    ]
    superseded = [
        _reweighed(candidate, weights.get(candidate.store))
        for candidate in logged
        if candidate.superseded_by is not None
    ]
    # The logged cut stays: it goes by relevance, which weights do not change, and by the budget that was asked for.
    far = [candidate for candidate in found if candidate.outcome in (BELOW_CUT, GIVEN)]
    besides = [candidate for candidate in found if candidate.outcome == BACKGROUND]
    ranked = [candidate for candidate in found if candidate.outcome not in (BELOW_CUT, GIVEN, BACKGROUND)]
    kept, repeats = _without_repeats(sorted(ranked, key=lambda candidate: -candidate.score))
    given = [candidate for source in _GIVEN.values() for candidate in _given(source, logged, tokens)]
    spent = sum(candidate.taken for candidate in given)
    items = list(map(_Sized, kept))
    packed = _packed(kept, packing.pack(items, tokens - spent, {**stores.TOKEN_SHARES, **shares}))
    spent += sum(candidate.taken for candidate in packed)
    besides = _all_or_none(besides, tokens - spent)
    spent += sum(candidate.taken for candidate in besides)
    others = [fact for fact in facts if not fact.relevance > 0]
    others = _fitted(others, min(room - on_facts, tokens - spent), BACKGROUND)
    spent += on_facts + sum(fact.taken for fact in others)
    return Replayed(
        [*answering, *others, *given, *packed, *far, *besides, *superseded, *repeats], total_tokens=spent
    )


def room_for_facts(tokens: int) -> int:
    return int(tokens * FACTS.token_share) if tokens >= LEAST_BUDGET_OF_FACTS else 0


def facts_that_fit(sizes: Iterable[int], room: int) -> Iterator[bool]:
    """Whether the block shows each fact: as many, in their order, as there is room for."""
    for size in sizes:
        fits = size <= room
        room -= size if fits else 0
        yield fits


def _fitted(facts: Sequence[LoggedCandidate], room: int, outcome: str) -> list[LoggedCandidate]:
    fit = facts_that_fit((fact.tokens for fact in facts), room)
    return [
        msgspec.structs.replace(
            fact, taken=fact.tokens if fits else 0, outcome=outcome if fits else NOT_PACKED
        )
        for fact, fits in zip(facts, fit, strict=True)
    ]


def _all_or_none(background: Sequence[LoggedCandidate], room: int) -> list[LoggedCandidate]:
    if sum(candidate.tokens for candidate in background) <= room:
        return list(background)
    return [msgspec.structs.replace(candidate, taken=0, outcome=NOT_PACKED) for candidate in background]


def _given(source: Source, logged: Sequence[LoggedCandidate], tokens: int) -> list[LoggedCandidate]:
    candidates = [candidate for candidate in logged if candidate.store == source.name]
    room = int(tokens * source.token_share)
    return _packed(candidates, packing.pack_evenly(list(map(_Sized, candidates)), room))


def _reweighed(candidate: LoggedCandidate, weight: float | None) -> LoggedCandidate:
    if weight is None or weight == candidate.weight:
        return candidate
    score = weight * candidate.relevance * candidate.recency * candidate.priority
    return msgspec.structs.replace(candidate, weight=weight, score=round(score, 6))


def _without_repeats(
    ordered: Sequence[LoggedCandidate],
) -> tuple[list[LoggedCandidate], list[LoggedCandidate]]:
    """Keeps the highest-scored candidate of each text, which may differ from the logged choice."""
    first: dict[str, str] = {}
    kept, repeats = [], []
    for candidate in ordered:
        text = candidate.same_as or candidate.handle
        if text in first:
            repeats.append(msgspec.structs.replace(candidate, outcome=REPEAT, taken=0, same_as=first[text]))
        else:
            first[text] = candidate.handle
            kept.append(msgspec.structs.replace(candidate, same_as=None))
    return kept, repeats


def _packed(candidates: Sequence[LoggedCandidate], packed: Iterable[Packed]) -> list[LoggedCandidate]:
    pieces = {piece.place: piece for piece in packed}
    return [
        msgspec.structs.replace(
            candidate,
            taken=pieces[place].tokens if place in pieces else 0,
            outcome=pieces[place].outcome if place in pieces else NOT_PACKED,
        )
        for place, candidate in enumerate(candidates)
    ]


class _Sized:
    """A dummy text of the candidate's size."""

    def __init__(self, candidate: LoggedCandidate) -> None:
        characters = max(0, candidate.tokens * CHARACTERS_PER_TOKEN - len(_HEADER) - 1)
        self.store = candidate.store
        self.worth = candidate.score
        self.text = (_WORD * (characters // len(_WORD) + 1))[:characters]

    def shorten(self, characters: int) -> str:
        return packing.shorten(self.text, characters)

    def render(self, text: str) -> str:
        return _HEADER + text
