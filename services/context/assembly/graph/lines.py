"""The lines of a block that show facts of the question's entities. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec

from services.context.log.replay import LEAST_BUDGET_OF_FACTS, facts_that_fit
from services.context.stores import FACTS
from shared.packing import shorten, tokens_of_line
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


def lines(triples: Sequence[Triple], tokens: int, fence: Fence) -> list[Line]:
    """Every fact, in order. The block shows as many as their share of the budget takes."""
    entries = [_entry(triple, fence) for triple in triples]
    fit = facts_that_fit([entry.tokens for entry in entries], tokens)
    return list(map(Line, triples, entries, fit))


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
