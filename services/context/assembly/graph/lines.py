"""The lines of a block that show facts of the question's entities. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec

from services.context.log.replay import (
    BACKGROUND,
    LEAST_BUDGET_OF_FACTS,
    facts_that_fit,
    room_for_facts,
)
from services.context.stores import FACTS
from shared.packing import NOT_PACKED, TAKEN, shorten, tokens_of_line
from shared.provenance import author, doubt
from shared.render import GRAPH_MARK, Fence, render_item
from shared.search.evidence import Triple

_MOST_VALUE = 300
"""Characters of a value."""
_CUT_MARK = " […]"


class GraphContextEntry(msgspec.Struct):
    """A fact in the block."""

    id: int
    subject: str
    predicate: str
    object: str
    valid_from: datetime
    """Since when it holds."""
    valid_to: datetime | None
    """When it ceases to hold; null: it is open."""
    tokens: int
    """Estimated tokens of its line."""
    content: str
    """Its line in the block."""
    weight: float = 1.0
    """How much it counts beside other facts of its entity: 1 when it was just stated, and never below 0.5."""
    half_life_days: float | None = None
    """In how many days what is above 0.5 halves, by its predicate. Null: it does not fade."""
    stated_at: datetime | None = None
    """When it was recorded, or last confirmed by consolidation. The weight counts from then."""
    confirmations: int = 0
    """How often consolidation learned it again."""


def graph_scopes(tokens: int, scopes: Iterable[str], caller: str, user_id: str | None) -> list[str] | None:
    """Where to look for facts: where the request does, and what the caller, its user and everybody keep."""
    if tokens < LEAST_BUDGET_OF_FACTS:
        return None
    own = [f"agent:{caller}", *([] if user_id is None else [f"user:{user_id}"]), "shared"]
    return list(dict.fromkeys([*scopes, *own]))


def texts(triples: Iterable[Triple]) -> list[str]:
    return [text for triple in triples for text in (triple.subject, triple.predicate, triple.object)]


class Line(NamedTuple):
    """A fact that was found, and whether the block shows it."""

    triple: Triple
    entry: GraphContextEntry
    shown: bool

    @property
    def handle(self) -> str:
        return FACTS.handle(self.triple.id)

    @property
    def answers(self) -> bool:
        """Whether it shares words with the question, so that it may answer it."""
        return self.triple.overlap > 0

    @property
    def outcome(self) -> str:
        if not self.shown:
            return NOT_PACKED
        return TAKEN if self.answers else BACKGROUND


def lines(triples: Sequence[Triple], tokens: int, fence: Fence) -> list[Line]:
    """Every fact, first those that may answer. The block shows as many of these as their share of the budget takes."""
    facts = [Line(triple, _entry(triple, fence), shown=False) for triple in triples]
    facts.sort(key=lambda fact: not fact.answers)
    return _shown(facts, room_for_facts(tokens), answers=True)


def with_others(facts: Sequence[Line], tokens: int, left: int) -> list[Line]:
    """The block shows the others, too, where their share of the budget and what nothing else took have room."""
    spent = sum(fact.entry.tokens for fact in facts if fact.shown)
    return _shown(facts, min(room_for_facts(tokens) - spent, left), answers=False)


def _shown(facts: Sequence[Line], room: int, *, answers: bool) -> list[Line]:
    fit = facts_that_fit((fact.entry.tokens for fact in facts if fact.answers == answers), room)
    return [fact._replace(shown=next(fit)) if fact.answers == answers else fact for fact in facts]


def _entry(triple: Triple, fence: Fence) -> GraphContextEntry:
    line = _line(triple, fence)
    return GraphContextEntry(
        id=triple.id,
        subject=triple.subject,
        predicate=triple.predicate,
        object=triple.object,
        valid_from=triple.valid_from,
        valid_to=triple.valid_to,
        tokens=tokens_of_line(line),
        content=line,
        weight=triple.weight,
        half_life_days=triple.half_life_days,
        stated_at=triple.stated_at,
        confirmations=triple.confirmations,
    )


def _line(triple: Triple, fence: Fence) -> str:
    words = [
        doubt(triple.source_kind, triple.source_claim),
        author(triple.agent_name, None),
        "disputed" if triple.disputed else None,
    ]
    value = triple.object
    if len(value) > _MOST_VALUE:
        value = shorten(value, _MOST_VALUE) + _CUT_MARK
    text = f"{triple.subject} — {triple.predicate} — {value}"
    if triple.valid_to is not None:
        text += f" (until {triple.valid_to:%Y-%m-%d})"
    return f"{GRAPH_MARK}{render_item(FACTS.handle(triple.id), triple.valid_from, filter(None, words), text, fence)}"
