"""Triples of the knowledge graph in a block: within a share of the budget, and only where there is room. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import msgspec

from shared.tokens import estimate_tokens

# Seed 004's constants.
MIN_KG_BUDGET_TOTAL = 500
KG_BUDGET_SHARE = 0.075
PREFIX = "[GRAPH] "


class GraphContextEntry(msgspec.Struct):
    """`content` is the triple as one line; `tokens` are its line's."""

    id: int
    subject: str
    predicate: str
    object: str
    valid_from: datetime | None
    valid_to: datetime | None
    tokens: int
    content: str


def take(entries: Iterable[GraphContextEntry], tokens: int) -> list[str]:
    """Lines for the head of a block, before its first item: no reader takes them for an item's text."""
    if tokens < MIN_KG_BUDGET_TOTAL:
        return []
    left = int(tokens * KG_BUDGET_SHARE)
    lines = []
    for entry in entries:
        line = PREFIX + " ".join(entry.content.split())
        if (cost := estimate_tokens(line + "\n")) <= left:
            lines.append(line)
            left -= cost
    return lines
