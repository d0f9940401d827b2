"""An assembly's row in the log: every candidate with its factors and outcome, never content. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

import msgspec

from services.context.assembly import rendering
from services.context.assembly.asking import Ask
from services.context.assembly.choice import Chosen
from services.context.assembly.graph.lines import Line
from services.context.assembly.ranking import Ranked
from services.context.assembly.rendering import handle_of
from services.context.assembly.schemas import Assembly
from services.context.log.journal import AssemblyRow
from services.context.log.replay import REPEAT, SUPERSEDED, LoggedCandidate
from shared.search.evidence import SearchResult
from shared.search.relevance import Scored


def row(
    ask: Ask,
    assembly: Assembly,
    chosen: Chosen,
    facts: Sequence[Line],
    results: Sequence[SearchResult],
    scored: Sequence[Scored],
    created_at: datetime,
    written: str | None = None,
) -> AssemblyRow:
    """`results` hold everything found, `scored` the candidates that were ranked, `written` what a model made of them.

    What was written holds content. So the row is erased with everybody whose words may be in it.
    """
    request = ask.request
    below_floor = _below_floor(results, scored)
    touched = [
        *ask.scopes,
        *ask.neighbours.scopes,
        f"agent:{request.caller}",
        *chosen.scopes(),
        *(scope for fact in facts for scope in fact.triple.scopes),
        *(scope for below in below_floor for scope in below.candidate.scopes),
        *(_authors(chosen, facts) if written is not None else ()),
    ]
    candidates = [*map(logged_fact, facts), *logged(chosen)]
    return AssemblyRow(
        tenant=ask.principal.tenant,
        id=assembly.assembly_id,
        caller=request.caller,
        mission_namespace=request.mission_namespace,
        session_id=request.session_id,
        user_id=request.user_id,
        dispatch_id=request.dispatch_id,
        scopes=list(dict.fromkeys(touched)),
        query_hash=ask.query_hash,
        token_budget=ask.budget.tokens,
        budget_asked=request.token_budget is not None,
        token_shares=ask.config.token_shares,
        as_of=ask.as_of,
        total_tokens=chosen.tokens + sum(fact.entry.tokens for fact in facts if fact.shown),
        retrieval_ms=assembly.retrieval_ms,
        low_relevance=assembly.low_relevance,
        degraded=msgspec.to_builtins(assembly.degraded),
        candidates=candidates,
        taken=[candidate.handle for candidate in candidates if candidate.taken],
        below_floor=_besides(candidates, below_floor),
        created_at=created_at,
        synthesis=_synthesis(assembly, written),
    )


def _synthesis(assembly: Assembly, written: str | None) -> dict[str, Any] | None:
    if assembly.synthesis is msgspec.UNSET:
        return None
    return {**msgspec.to_builtins(assembly.synthesis), "text": written}


def _authors(chosen: Chosen, facts: Iterable[Line]) -> Iterator[str]:
    """The agents that wrote what is in the block, and the users that it is about."""
    for placed in chosen.taken:
        candidate = placed.ranked.candidate
        if candidate.agent is not None:
            yield f"agent:{candidate.agent}"
        if candidate.user_id is not None:
            yield f"user:{candidate.user_id}"
    yield from (f"agent:{fact.triple.agent_name}" for fact in facts if fact.shown and fact.triple.agent_name)


def logged(chosen: Chosen) -> list[LoggedCandidate]:
    """Every ranked candidate. What is superseded names the newer item, a repeat the candidate that says the same."""
    rows = [_logged(placed.ranked, placed.tokens, placed.taken, placed.outcome) for placed in chosen.placed]
    for older in chosen.superseded:
        row = _logged(older.ranked, rendering.size(older.ranked, chosen.fence), 0, SUPERSEDED)
        row.superseded_by = older.by
        rows.append(row)
    for ranked, of in chosen.repeats:
        row = _logged(ranked, rendering.size(ranked, chosen.fence), 0, REPEAT)
        row.same_as = rendering.handle(of)
        rows.append(row)
    return rows


def logged_fact(fact: Line) -> LoggedCandidate:
    """Its relevance is the share of the question's words that it holds."""
    tokens, overlap = fact.entry.tokens, fact.triple.overlap
    return LoggedCandidate(
        handle=fact.handle,
        score=overlap,
        weight=1.0,
        relevance=overlap,
        recency=1.0,
        priority=1.0,
        tokens=tokens,
        taken=tokens if fact.shown else 0,
        outcome=fact.outcome,
    )


def _logged(ranked: Ranked, tokens: int, taken: int, outcome: str) -> LoggedCandidate:
    return LoggedCandidate(
        handle=rendering.handle(ranked),
        score=round(ranked.score, 6),
        weight=round(ranked.weight, 4),
        relevance=round(ranked.relevance, 6),
        recency=round(ranked.recency, 6),
        priority=ranked.priority,
        tokens=tokens,
        taken=taken,
        outcome=outcome,
    )


def _besides(candidates: Iterable[LoggedCandidate], below_floor: Iterable[Scored]) -> list[str]:
    """The handles of what is below the floor and not in the block as background."""
    known = {candidate.handle for candidate in candidates}
    handles = (handle_of(below.candidate, below.store) for below in below_floor)
    return [handle for handle in handles if handle not in known]


def _below_floor(results: Iterable[SearchResult], scored: Iterable[Scored]) -> list[Scored]:
    """The candidates with too little evidence to be ranked."""
    above = {id(above.candidate) for above in scored}
    return [
        Scored(store, candidate, 0.0, 0.0, 0.0, 0.0)
        for result in results
        for store, found in result.stores.items()
        for candidate in found.candidates
        if id(candidate) not in above
    ]
