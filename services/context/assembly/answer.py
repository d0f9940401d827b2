"""An assembly's answer: its block, the block's sources and, for debugging, the evidence. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from services.context.assembly import rendering
from services.context.assembly.asking import Ask
from services.context.assembly.choice import Chosen, Placed
from services.context.assembly.graph.lines import Line
from services.context.assembly.ranking import Ranked
from services.context.assembly.schemas import Assembly, BlockBudget, Evidence, LeftOut, SearchedScope, Source
from services.context.assembly.searching import Found
from services.context.delta.corrections import Line as Update
from services.context.log.replay import BACKGROUND, GIVEN, REPEAT, SUPERSEDED
from services.context.schemas import Degraded
from shared.packing import BELOW_CUT
from shared.render import Fence

# Enough to see whether a larger budget is worth it.
_BEST_LEFT_OUT = 5


def answer(
    ask: Ask,
    found: Found,
    chosen: Chosen,
    facts: Sequence[Line],
    degraded: list[Degraded],
    low_relevance: bool,
    retrieval_ms: float,
    updates: Sequence[Update] = (),
) -> Assembly:
    graph = [fact.entry for fact in facts if fact.shown]
    lines = [*(update.text for update in updates), *(fact.content for fact in graph)]
    block = "\n".join([*lines, *([chosen.block] if chosen.block else [])])
    return Assembly(
        assembly_id=0,
        context_block=block,
        nonce=chosen.fence.nonce,
        sources=[_source(placed, ask.neighbours.scopes) for placed in chosen.taken],
        graph=graph,
        total_tokens=chosen.tokens
        + sum(fact.tokens for fact in graph)
        + sum(update.tokens for update in updates),
        retrieval_ms=round(retrieval_ms, 2),
        degraded=degraded,
        low_relevance=low_relevance,
        searched=searched(ask, found),
        budget=BlockBudget(*ask.budget),
        left_out=_left_out(chosen),
    )


def _left_out(chosen: Chosen) -> LeftOut:
    out = [placed for placed in chosen.placed if placed.rendered is None and placed.outcome != GIVEN]
    waiting = [placed.ranked for placed in out if placed.outcome != BELOW_CUT]
    handles = [rendering.handle(ranked) for ranked in waiting[:_BEST_LEFT_OUT]]
    return LeftOut(len(waiting), handles, below_cut=len(out) - len(waiting))


def searched(ask: Ask, found: Found) -> list[SearchedScope]:
    """The scopes of a request and those that always are searched. Nothing is known of a store that did not answer."""
    counted: Counter[str] = Counter()
    for store in found.stores():
        counted.update(store.items or {})
    whole = not found.degraded and all(store.items is not None for store in found.stores())
    nothing = 0 if whole else None
    sessions = [name for name in counted if name.startswith("session:")]
    names = dict.fromkeys([*ask.scopes, *sessions, f"agent:{ask.request.caller}", "agent:*"])
    own = [SearchedScope(name, counted.get(name, nothing)) for name in names]
    near = [SearchedScope(name, counted.get(name, nothing), neighbour=True) for name in ask.neighbours.scopes]
    return [*own, *near]


def _source(placed: Placed, neighbours: Collection[str]) -> Source:
    ranked, candidate = placed.ranked, placed.ranked.candidate
    return Source(
        handle=rendering.handle(ranked),
        store=ranked.store,
        id=candidate.id,
        chunk=candidate.chunk,
        kind=candidate.kind,
        score=round(ranked.score, 4),
        weight=ranked.weight,
        relevance=round(ranked.relevance, 4),
        recency=round(ranked.recency, 4),
        priority=ranked.priority,
        tokens=placed.taken,
        cut=placed.outcome == "cut",
        agent=candidate.agent,
        speaker=candidate.speaker,
        source_kind=candidate.source_kind,
        at=candidate.time,
        was=ranked.was,
        background=placed.outcome == BACKGROUND,
        neighbour=candidate.scope if candidate.scope in neighbours else None,
        excerpt=placed.excerpt,
        repeats=[rendering.handle(repeat) for repeat in placed.repeats],
    )


def evidence(chosen: Chosen) -> Iterable[Evidence]:
    """Every ranked candidate with the scores of each arm, for the debug answer."""
    for placed in chosen.placed:
        yield _evidence(placed.ranked, placed.outcome, chosen.fence)
    for older in chosen.superseded:
        yield _evidence(older.ranked, SUPERSEDED, chosen.fence, superseded_by=older.by)
    for ranked, of in chosen.repeats:
        yield _evidence(ranked, REPEAT, chosen.fence, same_as=rendering.handle(of))


def _evidence(ranked: Ranked, outcome: str, fence: Fence, **pointer: str) -> Evidence:
    scored, candidate = ranked.scored, ranked.candidate
    return Evidence(
        handle=rendering.handle(ranked),
        store=ranked.store,
        id=candidate.id,
        chunk=candidate.chunk,
        score=round(ranked.score, 6),
        relevance=round(ranked.relevance, 6),
        text=round(scored.text, 6),
        vector=round(scored.vector, 6),
        cosine=candidate.cosine,
        tokens=rendering.size(ranked, fence),
        outcome=outcome,
        **pointer,
    )
