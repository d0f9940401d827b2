"""Which parts of a source are known, which are new versions, and which are gone. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID


class Known(NamedTuple):
    """A part that the session has of the source."""

    id: UUID
    segment: int
    content_hash: bytes


class Match(NamedTuple):
    """For each new part the known one that it repeats or supersedes, if any, and the known ones that are gone."""

    same: list[UUID | None]
    older: list[UUID | None]
    gone: list[UUID]


def match(known: Sequence[Known], hashes: Sequence[bytes]) -> Match:
    """Equal content is the same part, wherever it moved to. Of the others, those at the same place are versions."""
    by_hash: dict[bytes, list[Known]] = {}
    for part in sorted(known, key=lambda part: part.segment, reverse=True):
        by_hash.setdefault(part.content_hash, []).append(part)
    same = [by_hash[digest].pop().id if by_hash.get(digest) else None for digest in hashes]
    repeated = set(same)
    left = {part.segment: part.id for part in known if part.id not in repeated}
    older = [left.pop(place, None) if part is None else None for place, part in enumerate(same)]
    return Match(same, older, list(left.values()))
