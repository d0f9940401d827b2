"""Which entries a list or a query is narrowed to."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from shared.provenance import utc


class EntryFilter(NamedTuple):
    """None narrows nothing. The fields stand in the order of the parameters in MATCHES."""

    context_types: Sequence[str] | None = None
    tags: Sequence[str] | None = None
    """Entries with at least one of these."""
    agent_name: str | None = None
    dispatch_id: int | None = None
    since: datetime | None = None
    until: datetime | None = None

    @property
    def empty(self) -> bool:
        return not any(value is not None for value in self)


def entry_filter(
    *,
    context_types: Sequence[str] | None,
    tags: Sequence[str] | None,
    agent_name: str | None,
    dispatch_id: int | None,
    since: datetime | None,
    until: datetime | None,
) -> EntryFilter:
    """An empty list narrows nothing either; a time without an offset is UTC."""
    return EntryFilter(
        context_types or None,
        tags or None,
        agent_name,
        dispatch_id,
        utc(since, "since"),
        utc(until, "until"),
    )


# On a row of cache.psychic_cache, with a filter's fields as $4 to $9.
MATCHES = """
($4::text[] is null or context_type = any($4)) and ($5::text[] is null or tags && $5)
and ($6::text is null or agent_name = $6) and ($7::bigint is null or dispatch_id = $7)
and ($8::timestamptz is null or created_at >= $8) and ($9::timestamptz is null or created_at < $9)
"""
