"""Which parts of a source are known, which are new versions, and which are gone. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple
from uuid import UUID

import msgspec

from services.cache.sessions.objects.parts import Part, parts_of
from services.cache.sessions.objects.schemas import AdmitInput
from services.cache.sessions.paging.partial import Holder, Reread, inside, reread
from shared.text import Language

# Tokens of a source's objects whose lines an admission compares, from those that were read last.
_MOST_COMPARED = 524_288


class Known(NamedTuple):
    """A part that the session has of the source."""

    id: UUID
    segment: int
    content_hash: bytes
    tokens: int
    last_access: int
    """The turn."""


class Match(NamedTuple):
    """For each new part the known one that it repeats or supersedes, if any, and the known ones that are gone."""

    same: list[UUID | None]
    first: list[int]
    """The place of the first new part with the content: its own, unless the content repeats itself."""
    older: list[UUID | None]
    gone: list[UUID]


class Plan(NamedTuple):
    """What an admission does to its source."""

    known: Sequence[Known]
    """What the session had of it."""
    again: Sequence[Known]
    """Objects that hold a part of the content."""
    parts: Sequence[Part]
    segment: int
    """Of the first part."""
    match: Match


def match(known: Sequence[Known], hashes: Sequence[bytes]) -> Match:
    """Equal content is the same part, wherever it stands. Of the others, those at the same place are versions."""
    by_hash = {part.content_hash: part.id for part in reversed(known)}
    same = [by_hash.get(digest) for digest in hashes]
    places = {digest: place for place, digest in reversed([*enumerate(hashes)])}
    first = [places[digest] for digest in hashes]
    repeated = set(same)
    left = {part.segment: part.id for part in known if part.id not in repeated}
    new = [id_ is None and first[place] == place for place, id_ in enumerate(same)]
    older = [left.pop(place, None) if is_new else None for place, is_new in enumerate(new)]
    return Match(same, first, older, list(left.values()))


def compared(known: Sequence[Known], parts: Sequence[Part], partial: bool | None) -> list[UUID]:
    """The objects whose text tells what a part of the source holds; none where the content is no part."""
    found = match(known, [part.content_hash for part in parts])
    if partial is False or (not found.gone and None not in found.same):
        return []
    newest = sorted(known, key=lambda part: part.last_access, reverse=True)
    taken = accumulate(part.tokens for part in newest)
    return [part.id for part, tokens in zip(newest, taken, strict=True) if tokens <= _MOST_COMPARED]


def plan(
    wanted: AdmitInput,
    language: Language,
    parts: Sequence[Part],
    known: Sequence[Known],
    texts: Mapping[UUID, str],
    *,
    parsed: bool = True,
) -> Plan:
    """`parts` are those of the whole content, and `texts` of what it is compared with."""
    holders = [Holder(str(part.id), texts[part.id]) for part in known if part.id in texts]
    if wanted.partial and holders:
        return _of_part(reread(wanted.content, holders), known, wanted, language, parsed)
    if again := inside(wanted.content, holders):
        return _of_part(Reread(again, "", []), known, wanted, language, parsed)
    return Plan(known, [], parts, 0, match(known, [part.content_hash for part in parts]))


def _of_part(
    found: Reread, known: Sequence[Known], wanted: AdmitInput, language: Language, parsed: bool
) -> Plan:
    """What the content lacks stays as it is, but for what has the numbers of new lines."""
    by_id = {str(part.id): part for part in known}
    rest = msgspec.structs.replace(wanted, content=found.rest)
    parts = parts_of(rest, language, parsed=parsed) if found.rest else []
    same, first, *_ = match(known, [part.content_hash for part in parts])
    starts = [*accumulate((len(part.segment.text) for part in parts), initial=0)][:-1]
    older: list[UUID | None] = [None] * len(parts)
    gone: list[UUID] = []
    for replaced in found.replaced:
        place = first[bisect_right(starts, replaced.offset) - 1]
        if older[place] is None and same[place] is None:
            older[place] = by_id[replaced.id].id
        else:
            gone.append(by_id[replaced.id].id)
    next_segment = max((part.segment for part in known), default=-1) + 1
    again = [by_id[id_] for id_ in found.again if by_id[id_].id not in same]
    return Plan(known, again, parts, next_segment, Match(same, first, older, gone))
