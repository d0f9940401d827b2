"""The facts of a file, which are replaced together. For other packages, inside a transaction of theirs."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from services.agent_memory.facts.names import entity_key, predicate_key
from services.agent_memory.facts.writes import queries
from services.agent_memory.facts.writes.recording import close_rows, record, resolve
from services.agent_memory.facts.writes.spans import Writer
from services.agent_memory.facts.writes.statements import Place, Provenance, Statement
from shared.database.postgres import Connection

_AT_ONCE = 500


class Triple(NamedTuple):
    subject: str
    predicate: str
    object: str
    valid_from: datetime | None = None
    """Since when it holds, by default since it is recorded."""


class Replaced(NamedTuple):
    """How many facts a source gained and lost."""

    added: int
    closed: int


async def add_triples(
    c: Connection, tenant: str, place: Place, triples: Iterable[Triple], provenance: Provenance
) -> int:
    """Adds facts to those of a source, which `place` names. Those that it has stay. Returns how many are new.

    A triple without a subject, a predicate or an object is skipped.
    """
    now = await queries.lock_scopes(c, tenant, [place.scope])
    return await _add(c, tenant, await _statements(c, tenant, place, triples, provenance), now)


async def replace_triples(
    c: Connection, tenant: str, place: Place, triples: Iterable[Triple], provenance: Provenance
) -> Replaced:
    """As `add_triples`, and closes what the source no longer states. Doing it again changes nothing."""
    now = await queries.lock_scopes(c, tenant, [place.scope])
    statements = await _statements(c, tenant, place, triples, provenance)
    wanted = {(s.subject_key, s.predicate_key, s.object_key) for s in statements}
    rows = await queries.of_source(c, tenant, place)
    stated = {(row["subject_key"], row["predicate_key"], row["object_key"]) for row in rows}
    gone = [
        row for row in rows if (row["subject_key"], row["predicate_key"], row["object_key"]) not in wanted
    ]
    if gone:
        await close_rows(c, tenant, gone, now, now, Writer(trusted=True), provenance.written_by)
    new = [s for s in statements if (s.subject_key, s.predicate_key, s.object_key) not in stated]
    return Replaced(await _add(c, tenant, new, now), len(gone))


async def _add(c: Connection, tenant: str, statements: list[Statement], now: datetime) -> int:
    added = 0
    for start in range(0, len(statements), _AT_ONCE):
        some = statements[start : start + _AT_ONCE]
        results = await record(c, tenant, some, now, some[0].provenance.written_by)
        added += sum(result.status != "known" for result in results)
    return added


async def _statements(
    c: Connection, tenant: str, place: Place, triples: Iterable[Triple], provenance: Provenance
) -> list[Statement]:
    statements = [
        Statement(
            place=place,
            subject=triple.subject,
            predicate=triple.predicate,
            object=triple.object,
            subject_key=entity_key(triple.subject),
            predicate_key=predicate_key(triple.predicate),
            object_key=entity_key(triple.object),
            valid_from=triple.valid_from,
            provenance=provenance,
            writer=Writer(provenance.trusted),
        )
        for triple in triples
    ]
    named = [s for s in statements if s.subject_key and s.predicate_key and s.object_key]
    if named:
        await resolve(c, tenant, named)
    return list({(s.subject_key, s.predicate_key, s.object_key): s for s in named}.values())
