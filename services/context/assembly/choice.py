"""Which candidates make a block, what becomes of the others, and how each is told of. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from urllib.parse import quote

from services.context import packing, stores
from services.context.assembly import ranking
from services.context.assembly.ranking import Worth
from services.context.assembly.schemas import Evidence, Source
from services.context.log.replay import HEADER_CHARACTERS, LoggedCandidate
from services.context.packing import Packed
from services.context.stores import LINKS
from shared.render import render_item
from shared.search.evidence import Candidate, SearchResult
from shared.search.relevance import Scored
from shared.tokens import CHARACTERS_PER_TOKEN, estimate_tokens


class File(Candidate, omit_defaults=True):
    """A file that the request linked."""

    path: str = ""


class Placed(NamedTuple):
    worth: Worth
    tokens: int
    """Of the whole item; an estimate where it had no chance to be taken."""
    taken: int
    outcome: str


class Chosen(NamedTuple):
    """The block and, by order of worth, what became of each candidate; repeats of a text stand apart."""

    block: str
    placed: list[Placed]
    repeats: list[Worth]

    def taken(self) -> Iterable[Placed]:
        return (one for one in self.placed if one.taken)

    def scopes(self) -> Iterable[str]:
        return (
            scope
            for worth in (*(one.worth for one in self.placed), *self.repeats)
            if worth.scored.store != LINKS.name
            for scope in worth.scored.candidate.scopes
        )


def choose(
    scored: Sequence[Scored],
    weights: Mapping[str, float],
    shares: Mapping[str, float],
    tokens: int,
    now: datetime,
    files: Sequence[File] = (),
) -> Chosen:
    """Linked files first, within their share of the budget; then what was found, in its order of worth."""
    linked, links = _pack(
        [_linked(file) for file in files], int(tokens * LINKS.token_share), {LINKS.name: 1.0}, now
    )
    spent = sum(one.tokens for one in linked)
    ranked = ranking.rank(scored, weights, now)
    worths, repeats = ranking.without_repeats(ranked)
    packed, placed = _pack(worths, tokens - spent, {**stores.TOKEN_SHARES, **shares}, now)
    block = "\n".join(one.rendered for one in (*linked, *packed))
    return Chosen(block, [*links, *placed], repeats)


def _pack(
    worths: Sequence[Worth], tokens: int, shares: Mapping[str, float], now: datetime
) -> tuple[list[Packed], list[Placed]]:
    sizes: dict[int, int] = {}

    def render(worth: Worth, text: str) -> str:
        rendered = _render(worth, text, now)
        if text is worth.scored.candidate.text:
            sizes[id(worth)] = estimate_tokens(rendered + "\n")
        return rendered

    packed, dropped = packing.pack(worths, tokens, _store, shares, _text, render)
    by_place = {one.place: one for one in packed}
    placed = []
    for place, worth in enumerate(worths):
        one = by_place.get(place)
        outcome = dropped.get(place, "budget") if one is None else "cut" if one.cut else "taken"
        tokens = sizes.get(id(worth)) or _about(worth)
        placed.append(Placed(worth, tokens, one.tokens if one else 0, outcome))
    return packed, placed


def _linked(file: File) -> Worth:
    return Worth(Scored(LINKS.name, file, 1.0, 1.0, 1.0, 1.0), 1.0, 1.0, 1.0, 1.0, 1.0)


def _store(worth: Worth) -> str:
    return worth.scored.store


def _text(worth: Worth) -> str:
    return worth.scored.candidate.text


def handle_of(candidate: Candidate, store: str) -> str:
    """`store:id`, with `#chunk` where the item has several; `link:path` of a file, percent-encoded."""
    if isinstance(candidate, File):
        return LINKS.handle(quote(candidate.path, safe="/._-~"))
    return stores.BY_NAME[store].handle(candidate.id, candidate.chunk if candidate.chunks > 1 else None)


def _handle(worth: Worth) -> str:
    return handle_of(worth.scored.candidate, worth.scored.store)


def _render(worth: Worth, text: str, now: datetime) -> str:
    candidate = worth.scored.candidate
    who = candidate.speaker or candidate.agent
    words = [candidate.kind, who] if who else [candidate.kind]
    return render_item(_handle(worth), ranking.time_of(candidate), words, text, now)


def source(placed: Placed) -> Source:
    worth = placed.worth
    candidate = worth.scored.candidate
    return Source(
        handle=_handle(worth),
        store=worth.scored.store,
        id=candidate.id,
        chunk=candidate.chunk,
        kind=candidate.kind,
        score=round(worth.score, 4),
        weight=worth.weight,
        relevance=round(worth.relevance, 4),
        recency=round(worth.recency, 4),
        priority=worth.priority,
        tokens=placed.taken,
        cut=placed.outcome == "cut",
        agent=candidate.agent,
        speaker=candidate.speaker,
        at=ranking.time_of(candidate),
    )


def evidence(chosen: Chosen, now: datetime) -> list[Evidence]:
    """Every ranked candidate with what each arm said of it, for the debug answer."""
    return [
        *(_evidence(one.worth, _size(one.worth, now), one.outcome) for one in chosen.placed),
        *(_evidence(worth, _size(worth, now), "repeat") for worth in chosen.repeats),
    ]


def _evidence(worth: Worth, tokens: int, outcome: str) -> Evidence:
    scored = worth.scored
    candidate = scored.candidate
    return Evidence(
        handle=_handle(worth),
        store=scored.store,
        id=candidate.id,
        chunk=candidate.chunk,
        score=round(worth.score, 6),
        relevance=round(worth.relevance, 6),
        text=round(scored.text, 6),
        vector=round(scored.vector, 6),
        cosine=candidate.cosine,
        tokens=tokens,
        outcome=outcome,
    )


def _size(worth: Worth, now: datetime) -> int:
    return estimate_tokens(_render(worth, _text(worth), now) + "\n")


def _about(worth: Worth) -> int:
    return -(-(len(_text(worth)) + HEADER_CHARACTERS) // CHARACTERS_PER_TOKEN)


def logged(chosen: Chosen, now: datetime) -> list[LoggedCandidate]:
    rows = [_logged(one.worth, one.tokens, one.taken, one.outcome) for one in chosen.placed]
    if chosen.repeats:
        first = {ranking.text_key(one.worth): _handle(one.worth) for one in reversed(chosen.placed)}
        for worth in chosen.repeats:
            row = _logged(worth, _size(worth, now), 0, "repeat")
            row.same_as = first.get(ranking.text_key(worth))
            rows.append(row)
    return rows


def _logged(worth: Worth, tokens: int, taken: int, outcome: str) -> LoggedCandidate:
    return LoggedCandidate(
        _handle(worth),
        round(worth.score, 6),
        round(worth.weight, 4),
        round(worth.relevance, 6),
        round(worth.recency, 6),
        worth.priority,
        tokens,
        taken,
        outcome,
    )


def below_floor(results: Iterable[SearchResult], scored: Iterable[Scored]) -> list[Scored]:
    """What was found and said too little of the question to be ranked."""
    ranked = {id(one.candidate) for one in scored}
    return [
        Scored(store, candidate, 0.0, 0.0, 0.0, 0.0)
        for result in results
        for store, one in result.stores.items()
        for candidate in one.candidates
        if id(candidate) not in ranked
    ]
