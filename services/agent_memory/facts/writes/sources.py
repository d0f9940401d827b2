"""The facts of files, which are replaced together with their file. For other packages, inside their transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import asyncpg

from services.agent_memory.facts.names import entity_key, predicate_key
from services.agent_memory.facts.writes import queries, queries_sources
from services.agent_memory.facts.writes.queries_sources import Move
from services.agent_memory.facts.writes.recording import close_rows, group_of, resolve, row_of
from services.agent_memory.facts.writes.spans import Span, Writer
from services.agent_memory.facts.writes.statements import Group, Place, Provenance, Statement
from shared.database.postgres import Connection


class Triple(NamedTuple):
    subject: str
    predicate: str
    object: str
    line: int


class SourceFacts(NamedTuple):
    """What a file states, from one of its pieces on."""

    place: Place
    triples: Sequence[Triple]
    piece: int = 1

    @property
    def path(self) -> str:
        return self.place.source or ""


async def replace(c: Connection, tenant: str, given: Sequence[SourceFacts], by: str) -> None:
    """Closes what the files no longer state, and adds what they state now. Doing it again changes nothing.

    Each file has a place of its own, so this ends nothing that anybody else stated. What a file stated before stays
    readable by its time.
    """
    now = await queries.lock_scopes(c, tenant, [each.place.scope for each in given])
    new = await _stated(c, tenant, given, by)
    pieces = {each.place: each.piece for each in given}
    gone, moved = [], []
    for row in await queries_sources.open_facts(c, tenant, [each.place for each in given]):
        group = group_of(row)
        statement = new.pop(_Key(group, row["object_key"]), None)
        if row["piece"] < pieces[group.place]:
            continue
        if statement is None:
            gone.append(row)
        elif (move := _move(row, statement.provenance)) is not None:
            moved.append(move)
    if gone:
        await close_rows(c, tenant, gone, now, now, Writer(trusted=True), by)
    if moved:
        await queries_sources.move(c, tenant, moved)
    if new:
        await queries.add(c, tenant, [row_of(Span(now), each) for each in new.values()], now)


class _Key(NamedTuple):
    group: Group
    object_key: str


def _move(row: asyncpg.Record, provenance: Provenance) -> Move | None:
    """None: the file states it where it did before."""
    if (row["line"], row["piece"]) == (provenance.line, provenance.piece):
        return None
    return Move(row["id"], provenance.line, provenance.piece)


async def _stated(c: Connection, tenant: str, given: Iterable[SourceFacts], by: str) -> dict[_Key, Statement]:
    """Each fact once, with its entities' keys. A triple whose name is of spaces is skipped."""
    statements = [_statement(each, triple, by) for each in given for triple in each.triples]
    named = [s for s in statements if s.subject_key and s.predicate_key and s.object_key]
    if named:
        await resolve(c, tenant, named)
    return {_Key(s.group, s.object_key): s for s in reversed(named)}


def _statement(source: SourceFacts, triple: Triple, by: str) -> Statement:
    return Statement(
        place=source.place,
        subject=triple.subject,
        predicate=triple.predicate,
        object=triple.object,
        subject_key=entity_key(triple.subject),
        predicate_key=predicate_key(triple.predicate),
        object_key=entity_key(triple.object),
        writer=Writer(trusted=False),
        provenance=Provenance(written_by=by, source_kind="document", line=triple.line, piece=source.piece),
    )
