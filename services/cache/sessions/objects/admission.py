"""Admits objects to a session's context: new ones, new versions of known ones, and known ones that were read again."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

import msgspec

from services.cache.sessions.objects import queries, queries_admit, queries_write
from services.cache.sessions.objects.novelty import UNSEEN, Seen, seen
from services.cache.sessions.objects.parts import Part, parts_of, path_of
from services.cache.sessions.objects.queries_admit import Edge, NewObject, Score, Stored
from services.cache.sessions.objects.queries_write import Move, Pair
from services.cache.sessions.objects.reading import pressure_of
from services.cache.sessions.objects.schemas import AdmitInput, Admitted, AdmittedObjects
from services.cache.sessions.objects.versions import Known, Plan, compared, plan
from services.cache.sessions.paging.admission import Admission as PartScore
from services.cache.sessions.paging.admission import less_novel
from services.cache.sessions.paging.fidelity import Level
from services.cache.sessions.paging.parsing import WEIGHT, Author, parsing
from services.cache.sessions.paging.summaries import SHORTEST_DETAILED
from services.cache.sessions.search.indexing import STORE
from services.cache.sessions.search.words import IndexedObject
from services.cache.sessions.transactions import Held, SessionTransactions
from shared.auth import Principal
from shared.database.idempotency import Key
from shared.database.index_claims import FRESH_CHARACTERS, Fresh
from shared.database.indexer import Indexer
from shared.database.postgres import Connection
from shared.deadline import Deadline
from shared.text import Language
from shared.tokens import estimate_tokens

# Characters of the content that a score keeps.
_PREVIEW = 200


class Prepared(NamedTuple):
    """An admission, as it is if no other comes in between."""

    wanted: AdmitInput
    language: Language
    parts: Sequence[Part]
    expected: Plan
    author: Author


class Admission:
    def __init__(
        self, transactions: SessionTransactions, indexer: Indexer, model: str, summarize: Callable[[], None]
    ) -> None:
        """`model` is that of vectors. It calls `summarize` when there may be something to summarize."""
        self._transactions = transactions
        self._indexer = indexer
        self._model = model
        self._summarize = summarize

    async def admit(
        self, principal: Principal, session: str, wanted: AdmitInput, key: Key | None, deadline: Deadline
    ) -> AdmittedObjects:
        prepared = await self.prepare(principal, session, wanted, deadline)
        queued: list[Fresh] = []

        async def work(c: Connection, held: Held) -> AdmittedObjects:
            return await self.within(c, held, prepared, queued)

        admitted = await self._transactions.write(
            principal, session, AdmittedObjects, work, key, deadline, status=201
        )
        self.wake(queued, len(wanted.content))
        return admitted

    async def prepare(
        self, principal: Principal, session: str, wanted: AdmitInput, deadline: Deadline
    ) -> Prepared:
        """What takes a while, and is done before the session is held."""
        language = principal.language or "en"
        length = WEIGHT * len(wanted.content)
        author = Author(principal.tenant, principal.key)
        parts = await parsing(author, _path(wanted), length, parts_of, wanted, language)
        expected = await self._expected(principal, session, wanted, parts, deadline)
        return Prepared(wanted, language, parts, expected, author)

    async def within(
        self, c: Connection, held: Held, prepared: Prepared, queued: list[Fresh]
    ) -> AdmittedObjects:
        """Adds to `queued` what waits for vectors once the transaction has ended."""
        wanted, language, parts, found, author = prepared
        if found.known != await _known(c, held, wanted.source_key):
            # Another admission came in between.
            found = await _planned(author, wanted, language, parts, await _source(c, held, wanted, parts))
        # What has a name of its own is admitted, whatever else says the same.
        named = wanted.source_key is not None
        shown = [UNSEEN] * len(found.parts) if named else await seen(c, held, found.parts)
        admitted, stored = _stored(held, wanted, found, shown)
        queued += await self._store(c, held, admitted, stored)
        await _follow(c, held, admitted, held.last_place + len(stored.objects))
        return admitted

    def wake(self, queued: Sequence[Fresh], length: int) -> None:
        """After the commit. A large write, by its characters, can wait for its turn."""
        self._indexer.wake(queued if length <= FRESH_CHARACTERS else [])
        self._summarize()

    async def _store(
        self, c: Connection, held: Held, admitted: AdmittedObjects, stored: Stored
    ) -> list[Fresh]:
        """Returns what waits for vectors."""
        numbers = await queries_admit.admit(
            c,
            held.tenant,
            held.id,
            stored,
            model=self._model,
            summarized_from=SHORTEST_DETAILED,
            payload=_counts(admitted),
        )
        return [Fresh(held.tenant, f"session:{held.id}", STORE, number) for number in numbers]

    async def _expected(
        self,
        principal: Principal,
        session: str,
        wanted: AdmitInput,
        parts: Sequence[Part],
        deadline: Deadline,
    ) -> Plan:
        """Made before the session is held: comparing long texts takes a while."""
        language, author = principal.language or "en", Author(principal.tenant, principal.key)
        if wanted.source_key is None:
            return await _planned(author, wanted, language, parts, _Source([], {}))
        source = await self._transactions.read(
            principal, session, lambda c, held: _source(c, held, wanted, parts), deadline
        )
        return await _planned(author, wanted, language, parts, source)


class _Source(NamedTuple):
    """What the session has of a source, and the texts of what the content is compared with."""

    known: Sequence[Known]
    texts: Mapping[UUID, str]


async def _source(c: Connection, held: Held, wanted: AdmitInput, parts: Sequence[Part]) -> _Source:
    known = await _known(c, held, wanted.source_key)
    ids = compared(known, parts, wanted.partial)
    rows = await queries.texts(c, held.tenant, held.id, ids) if ids else []
    return _Source(known, {row["id"]: row["content_full"] for row in rows})


async def _known(c: Connection, held: Held, source_key: str | None) -> list[Known]:
    if source_key is None:
        return []
    rows = await queries.known(c, held.tenant, held.id, source_key)
    return [Known(**row) for row in rows]


async def _planned(
    author: Author, wanted: AdmitInput, language: Language, parts: Sequence[Part], source: _Source
) -> Plan:
    length = WEIGHT * len(wanted.content) + sum(map(len, source.texts.values())) if source.texts else 0
    return await parsing(
        author, _path(wanted), length, plan, wanted, language, parts, source.known, source.texts
    )


def _path(wanted: AdmitInput) -> str | None:
    return path_of(wanted.object_type, wanted.source_key)


def _stored(
    held: Held, wanted: AdmitInput, planned: Plan, shown: Sequence[Seen]
) -> tuple[AdmittedObjects, Stored]:
    """What becomes of each part, and what is new of it."""
    new = Stored(objects=[], words=[], scores=[], edges=[])
    parts, found = planned.parts, planned.match
    again = [Admitted(status="touched", id=each.id, tokens=each.tokens) for each in planned.again]
    admitted: list[Admitted] = []
    for place, part in enumerate(parts):
        repeated, older, first = found.same[place], found.older[place], found.first[place]
        if first < place:
            repeated = admitted[first].id
        if repeated is not None:
            admitted.append(Admitted(status="touched", id=repeated, tokens=part.tokens))
            continue
        score = less_novel(part.score, shown[place].likeness) if shown[place].like else part.score
        if not score.admitted:
            new.scores.append(_score(None, part, score))
            admitted.append(_rejected(part, score, shown[place]))
            continue
        at = held.last_place + len(new.objects) + 1
        row = _row(held, wanted, part, segment=planned.segment + place, place=at)
        new.objects.append(row)
        new.words.append(IndexedObject(id=row.id, **msgspec.structs.asdict(part.words)))
        new.scores.append(_score(row.id, part, score))
        status = "created" if older is None else "superseding"
        admitted.append(Admitted(status=status, id=row.id, tokens=part.tokens, supersedes=older))  # type: ignore[arg-type]
    new.edges = _edges(parts, admitted) if new.objects else []
    return AdmittedObjects([*again, *admitted], found.gone), new


async def _follow(c: Connection, held: Held, admitted: AdmittedObjects, last_place: int) -> None:
    """What becomes of the parts that were known: read again, superseded or gone."""
    objects = admitted.objects
    again = [each.id for each in objects if each.status == "touched" and each.id is not None]
    pairs = [
        Pair(each.supersedes, each.id)
        for each in objects
        if each.supersedes is not None and each.id is not None
    ]
    if read := [*again, *(each.like for each in objects if each.like is not None)]:
        await queries_write.touch(c, held.tenant, held.id, read, held.turn)
    await queries_write.supersede(c, held.tenant, held.id, pairs)
    moves = [Move(each, Level.FULL, "access", rises=True) for each in again]
    moves += [Move(each, Level.STUB, "access") for each in [*(pair.older for pair in pairs), *admitted.stale]]
    if moves:
        before = await pressure_of(c, held)
        await queries_write.move(
            c,
            held.tenant,
            held.id,
            moves,
            turn=held.turn,
            zone=before.zone,
            tokens=before.total_context_tokens,
            last_place=last_place,
        )


def _counts(admitted: AdmittedObjects) -> dict[str, int]:
    """What the event says."""
    statuses = [each.status for each in admitted.objects]
    tokens = sum(each.tokens for each in admitted.objects)
    return {**{status: statuses.count(status) for status in sorted(set(statuses))}, "tokens": tokens}


def _id(place: int) -> UUID:
    """Of version 7, in the order of places: what is missed equally little leaves the context in the order it came."""
    milliseconds = time.time_ns() // 1_000_000
    version = (7 << 12) | (place & 0xFFF)
    return UUID(int=(milliseconds << 80) | (version << 64) | (2 << 62) | secrets.randbits(62))


def _row(held: Held, wanted: AdmitInput, part: Part, *, segment: int, place: int) -> NewObject:
    return NewObject(
        id=_id(place),
        object_type=wanted.object_type,
        source_tool=wanted.source_tool,
        source_key=wanted.source_key,
        segment=segment,
        content_full=part.segment.text,
        stub=part.stub,
        fault_when=wanted.fault_when,
        tags=wanted.tags,
        place=place,
        created_turn=held.turn,
        last_accessed_turn=held.turn,
        tokens_l0=part.tokens,
        tokens_l3=estimate_tokens(part.stub),
        source_turn_start=wanted.source_turn_start,
        source_turn_end=wanted.source_turn_end,
        start_line=part.segment.first_line,
        end_line=part.segment.last_line,
        key_entities=part.segment.names,
    )


def _rejected(part: Part, score: PartScore, shown: Seen) -> Admitted:
    return Admitted(status="rejected", tokens=part.tokens, score=round(score.total, 4), like=shown.like)


def _score(object_id: UUID | None, part: Part, score: PartScore) -> Score:
    return Score(
        object_id=object_id,
        admitted=score.admitted,
        score_total=score.total,
        score_type=score.type,
        score_novelty=score.novelty,
        score_utility=score.utility,
        score_recency=score.recency,
        threshold=score.threshold,
        content_preview=part.segment.text[:_PREVIEW],
    )


def _edges(parts: Sequence[Part], admitted: Sequence[Admitted]) -> list[Edge]:
    """From the part with the heading to those under it."""
    ids = [each.id for each in admitted]
    pairs = [
        (ids[part.segment.parent], ids[place])
        for place, part in enumerate(parts)
        if part.segment.parent is not None
    ]
    return [
        Edge(above, below, "parent_of")
        for above, below in pairs
        if above is not None and below is not None and above != below
    ]
