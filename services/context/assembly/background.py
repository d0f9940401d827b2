"""Adds to a block what the caller's own memory holds besides, where all of it fits. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from services.context.assembly import ranking, rendering
from services.context.assembly.choice import Chosen, Placed
from services.context.assembly.ranking import Ranked
from services.context.assembly.supersession.newest import superseded
from services.context.assembly.supersession.repeats import text_key
from services.context.log.replay import BACKGROUND
from services.context.stores import OWN
from shared.packing import tokens_of_line
from shared.search.evidence import Candidate
from shared.search.relevance import Scored


def with_background(
    chosen: Chosen,
    memories: Sequence[Candidate],
    weights: Mapping[str, float],
    tokens: int,
    *,
    user_id: str | None,
) -> Chosen:
    """The choice with `memories` at its end. Those about the user go in whole or not at all, then so do the others."""
    left = tokens - chosen.tokens
    ranked = ranking.rank(_missing(chosen, memories), weights, chosen.fence.now)
    background: list[Placed] = []
    for others in (False, True):
        group = [one for one in ranked if _is_other(one.candidate, user_id) == others]
        placed = [_placed(one, chosen) for one in group]
        size = sum(one.taken for one in placed)
        if size <= left:
            background += placed
            left -= size
    handles = {rendering.handle(one.ranked) for one in background}
    before = [placed for placed in chosen.placed if rendering.handle(placed.ranked) not in handles]
    return chosen._replace(placed=[*before, *background])


def _is_other(candidate: Candidate, user_id: str | None) -> bool:
    return user_id is not None and candidate.user_id is None


def _missing(chosen: Chosen, memories: Sequence[Candidate]) -> Iterator[Scored]:
    """The memories that still hold and are not in the block, with the relevance that the search gave them, if any."""
    taken = [(placed.ranked.store, placed.ranked.candidate) for placed in chosen.taken]
    items = {(store, candidate.id) for store, candidate in taken}
    items |= {(older.ranked.store, older.ranked.candidate.id) for older in chosen.superseded}
    items |= {(repeat.ranked.store, repeat.ranked.candidate.id) for repeat in chosen.repeats}
    items |= superseded([*taken, *((OWN.name, memory) for memory in memories)]).keys()
    texts = {text_key(candidate) for _, candidate in taken}
    found = {
        placed.ranked.candidate.id: placed.ranked
        for placed in chosen.placed
        if placed.ranked.store == OWN.name
    }
    for memory in memories:
        if (OWN.name, memory.id) not in items and text_key(memory) not in texts:
            yield _scored(memory, found.get(memory.id))


def _scored(memory: Candidate, found: Ranked | None) -> Scored:
    if found is None or found.candidate.chunks > 1:
        return Scored(OWN.name, memory, 0.0, 0.0, 0.0, 0.0)
    candidate = msgspec.structs.replace(found.candidate, labels=memory.labels)
    return found.scored._replace(candidate=candidate)


def _placed(ranked: Ranked, chosen: Chosen) -> Placed:
    rendered = rendering.render(ranked, chosen.fence)
    tokens = tokens_of_line(rendered)
    return Placed(ranked, tokens, tokens, BACKGROUND, rendered)
