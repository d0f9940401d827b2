"""A text at about a quarter and at about a twentieth of its tokens. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from services.cache.sessions.paging.segmentation import Kind, kind_of
from services.cache.sessions.paging.segmentation.listing import Listing
from services.cache.sessions.paging.summaries import lines
from services.cache.sessions.paging.summaries.selection import select
from shared.search import code
from shared.tokens import estimate_tokens

DETAILED = 0.28
"""The share of tokens that a detailed summary (L1) may take."""
COMPACT = 0.06
"""The share that a compact summary (L2) may take."""
# A shorter text has no compact summary: its stub takes as much.
SHORTEST_COMPACT = 400
SHORTEST_DETAILED = 120
_MOST_LISTED = 20


class Summary(NamedTuple):
    text: str
    tokens: int
    losses: Sequence[str]
    """Names that the level above has and this text has not: functions, headings, paths, error codes."""
    can_answer: Sequence[str]
    """Names whose definition or heading this text shows."""


class Summaries(NamedTuple):
    detailed: Summary | None
    """None for a text that is too short to gain from one."""
    compact: Summary | None
    key_entities: Sequence[str]
    """Names that the text defines, then those that it mentions most often."""


def summarize(
    text: str, path: str | None = None, kind: Kind | None = None, *, parsed: bool = True
) -> Summaries:
    """In time linear in the text, but for sorting its lines, unless code is `parsed`."""
    listing = Listing(text)
    kind = kind or kind_of(listing.plain, path)
    found = lines.defined(listing.plain, kind, path, parsed=parsed)
    ranks = lines.ranks(listing.plain, kind, {row for row, _ in found})
    defined = [*dict.fromkeys(name for _, name in found)]
    mentioned = [name for name, _ in Counter(code.names(text)).most_common(5 * _MOST_LISTED)]
    names = [*dict.fromkeys([*defined, *mentioned])]
    tokens = estimate_tokens(text)
    detailed = compact = None
    if tokens >= SHORTEST_DETAILED:
        detailed = _summary(select(listing.lines, ranks, int(tokens * DETAILED)), text, names, defined)
    if tokens >= SHORTEST_COMPACT and detailed is not None:
        compact = _summary(select(listing.lines, ranks, int(tokens * COMPACT)), detailed.text, names, defined)
    return Summaries(detailed, compact, names[:_MOST_LISTED])


def _summary(short: str, above: str, names: Sequence[str], defined: Sequence[str]) -> Summary:
    lower, lower_above = short.lower(), above.lower()
    losses = [name for name in names if name.lower() in lower_above and name.lower() not in lower]
    answers = [name for name in defined if name in short]
    return Summary(short, estimate_tokens(short), losses[:_MOST_LISTED], answers[:_MOST_LISTED])
