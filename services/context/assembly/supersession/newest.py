"""Which candidates a newer one supersedes, as a write said or by rule. Pure.

A statement supersedes an older one with the same subject and relation and another value: of the same store and
scope, by the same author, about the same user, and from a source that is trusted as much.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from services.context import stores
from services.context.assembly.ranking import Ranked, in_order
from services.context.assembly.supersession.paraphrases import matters, restates
from services.context.assembly.supersession.parts import Statement
from services.context.assembly.supersession.statements import read, split
from services.context.assembly.supersession.values import Kind, alike, differ_in_a_number, is_short
from services.context.assembly.supersession.vocabulary import CHOSEN
from shared.provenance import TRUSTED
from shared.search.evidence import Candidate

Item = tuple[str, int]
"""A store and an item's id there."""


class Superseded(NamedTuple):
    ranked: Ranked
    by: str
    """The handle of the newer item."""


class Current(NamedTuple):
    """Candidates that hold now, and those that newer ones supersede."""

    kept: list[Ranked]
    superseded: list[Superseded]


def without_superseded(ranking: Sequence[Ranked]) -> Current:
    """What holds takes the place of what it supersedes: it is as relevant, in whatever words it says it."""
    newer = superseded((ranked.store, ranked.candidate) for ranked in ranking)
    current = Current([], [])
    places: dict[Item, float] = {}
    if not newer:
        return Current(list(ranking), [])
    for ranked in ranking:
        by = newer.get((ranked.store, ranked.candidate.id))
        if by is None:
            current.kept.append(ranked)
        else:
            current.superseded.append(Superseded(ranked, stores.BY_NAME[by[0]].handle(by[1])))
            places[by] = max(places.get(by, 0.0), ranked.relevance)
    if places:
        current.kept[:] = in_order(_raised(ranked, places) for ranked in current.kept)
    return current


def _raised(ranked: Ranked, places: dict[Item, float]) -> Ranked:
    """At least as relevant as its place says, at the best of its chunks."""
    relevance = places.pop((ranked.store, ranked.candidate.id), 0.0)
    if relevance <= ranked.relevance:
        return ranked
    factors = ranked.weight * ranked.recency * ranked.priority
    return ranked._replace(relevance=relevance, score=relevance * factors)


class _Claim(NamedTuple):
    store: str
    candidate: Candidate
    statement: Statement

    @property
    def item(self) -> Item:
        return self.store, self.candidate.id

    @property
    def time(self) -> tuple[float, float, int, int]:
        """Items of the same time are in the order in which they were written."""
        candidate = self.candidate
        return (
            candidate.stated_at.timestamp(),
            candidate.created_at.timestamp(),
            candidate.seq or 0,
            candidate.id,
        )


def superseded(candidates: Iterable[tuple[str, Candidate]]) -> Mapping[Item, Item]:
    """Each superseded item with the newest that supersedes it. Candidates come with their stores."""
    candidates = list(candidates)
    groups: defaultdict[Hashable, list[_Claim]] = defaultdict(list)
    for claim in _statements(candidates):
        bounds = _bounds(claim.store, claim.candidate)
        for matter in matters(claim.statement):
            groups[bounds, claim.statement.subject, matter].append(claim)
    by: dict[Item, _Claim] = {}
    for older, newer in (pair for group in groups.values() if len(group) > 1 for pair in _within(group)):
        if older.item not in by or by[older.item].time < newer.time:
            by[older.item] = newer
    found = {item: newer.item for item, newer in by.items()}
    # What a writer said is certain.
    for store, candidate in candidates:
        if candidate.superseded_by is not None:
            found[store, candidate.id] = store, candidate.superseded_by
    return found


def _statements(candidates: Iterable[tuple[str, Candidate]]) -> Iterator[_Claim]:
    """Only an item of one sentence is superseded. A longer one is read if it may say something newer about the same."""
    longer: list[tuple[str, Candidate, Sequence[str]]] = []
    subjects: defaultdict[Hashable, set[tuple[str, ...]]] = defaultdict(set)
    for store, candidate in candidates:
        sentences = split(candidate.text) if candidate.chunks == 1 else ()
        if len(sentences) > 1:
            longer.append((store, candidate, sentences))
        for statement in read(sentences) if len(sentences) == 1 else ():
            subjects[_bounds(store, candidate)].add(statement.subject)
            yield _Claim(store, candidate, statement)
    for store, candidate, sentences in longer:
        if _mentions(candidate.text, subjects[_bounds(store, candidate)]):
            yield from (_Claim(store, candidate, statement) for statement in read(sentences))


def _mentions(text: str, subjects: Iterable[tuple[str, ...]]) -> bool:
    lower = text.lower()
    return any(all(word in lower for word in subject) for subject in subjects)


def _bounds(store: str, candidate: Candidate) -> Hashable:
    return store, candidate.scope, candidate.agent, candidate.speaker, candidate.user_id


def _within(group: Sequence[_Claim]) -> Iterator[tuple[_Claim, _Claim]]:
    """Each superseded statement with a newer one.

    Compares each with the newest of every other value, not with every newer one.
    """
    newest: dict[Hashable, _Claim] = {}
    for claim in sorted(group, key=lambda claim: claim.time, reverse=True):
        newer = next((newer for newer in newest.values() if _supersedes(newer, claim)), None)
        if newer is not None:
            yield claim, newer
        # What a writer has ended takes nothing's place.
        if claim.candidate.superseded_by is None:
            newest.setdefault((claim.statement, claim.candidate.source_kind in TRUSTED), claim)


def _supersedes(newer: _Claim, older: _Claim) -> bool:
    if newer.item == older.item or not older.statement.alone:
        return False
    if older.candidate.source_kind in TRUSTED and newer.candidate.source_kind not in TRUSTED:
        return False
    if newer.statement.relation == older.statement.relation:
        return replaces(newer.statement, older.statement)
    return restates(newer.statement, older.statement)


def replaces(newer: Statement, older: Statement) -> bool:
    """Whether the value of `newer` stands in the place of that of `older`, which has the same subject and relation."""
    if newer.value == older.value:
        return False
    if newer.many or older.many:
        return _replaces_one_of_many(newer, older)
    if newer.motion or older.motion:
        return _ends_in_motion(newer, older)
    if newer.bare and not newer.note and newer.relation[0] == "be":
        return newer.kind is older.kind is Kind.NUMBER
    if newer.note or newer.change:
        return True
    if newer.relation[0] == "prefer" and len(newer.value) + len(older.value) > 2:
        return differ_in_a_number(newer.value, older.value)
    comparable = alike(newer.kind, older.kind) or _are_choices(newer, older)
    return comparable and is_short(newer.value) and is_short(older.value)


def _ends_in_motion(newer: Statement, older: Statement) -> bool:
    """ "The deadline has moved to Monday" ends "The deadline is Friday", but of a person much else holds."""
    comparable = alike(newer.kind, older.kind) and newer.kind is not Kind.PLAIN
    same = newer.motion == older.motion or not newer.bare
    return comparable and same and is_short(newer.value) and is_short(older.value)


def _are_choices(newer: Statement, older: Statement) -> bool:
    """ "My favorite editor is vim" and "My favorite editor is Helix"."""
    chosen = any(word in CHOSEN for word in newer.subject[:-1])
    return chosen and {newer.kind, older.kind} <= {Kind.NAME, Kind.PLAIN, Kind.CODE}


def _replaces_one_of_many(newer: Statement, older: Statement) -> bool:
    if differ_in_a_number(newer.value, older.value):
        return True
    short = len(newer.value) <= 2 and len(older.value) <= 2
    return short and newer.kind is older.kind and (newer.change or len(newer.relation) > 2)
