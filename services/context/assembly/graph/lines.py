"""The lines of a block that show facts of the question's entities. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec

from shared.packing import shorten, tokens_of_line
from shared.provenance import author, doubt
from shared.render import GRAPH_MARK, Fence, render_item
from shared.search.evidence import Triple

BUDGET_SHARE = 0.075
"""Of a block's tokens."""
LEAST_BUDGET = 500
"""A smaller block shows no facts."""
PREFIX = "kg"
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
    if tokens < LEAST_BUDGET:
        return None
    own = [f"agent:{caller}", *([] if user_id is None else [f"user:{user_id}"]), "shared"]
    return list(dict.fromkeys([*scopes, *own]))


def texts(triples: Iterable[Triple]) -> list[str]:
    return [text for triple in triples for text in (triple.subject, triple.predicate, triple.object)]


def entries(triples: Sequence[Triple], tokens: int, fence: Fence) -> list[GraphContextEntry]:
    """As many facts, in their order, as their share of the budget takes."""
    left, shown = int(tokens * BUDGET_SHARE), []
    for triple in triples:
        line = _line(triple, fence)
        if (size := tokens_of_line(line)) <= left:
            left -= size
            shown.append(
                GraphContextEntry(
                    triple.id,
                    triple.subject,
                    triple.predicate,
                    triple.object,
                    triple.valid_from,
                    triple.valid_to,
                    size,
                    line,
                )
            )
    return shown


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
    handle = f"{PREFIX}:{triple.id}"
    return f"{GRAPH_MARK}{render_item(handle, triple.valid_from, filter(None, words), text, fence)}"
