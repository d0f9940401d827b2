"""Records what statements change of the facts that are believed. Callers hold the locks of the scopes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

import asyncpg
import msgspec

from services.agent_memory.facts import queries_aliases as aliases
from services.agent_memory.facts.schemas import WriteStatus, WrittenFact
from services.agent_memory.facts.writes import queries
from services.agent_memory.facts.writes.queries import Change, NewRow, Part, Wanted
from services.agent_memory.facts.writes.spans import (
    END,
    Held,
    Outcome,
    Span,
    Stated,
    Writer,
    clear,
    close,
    state,
)
from services.agent_memory.facts.writes.statements import Group, Place, Statement
from shared.database.postgres import Connection
from shared.errors import Invalid
from shared.provenance import TRUSTED

_TICK = timedelta(microseconds=1)
_NOT_AFTER = "must be later than valid_from, which is now by default"


class Beliefs:
    """The current facts that statements may change, and what has changed of them."""

    def __init__(self, rows: Sequence[asyncpg.Record], now: datetime) -> None:
        self.groups: defaultdict[Group, list[Held]] = defaultdict(list)
        self._before: dict[int, tuple[Held, Span]] = {}
        self._made: list[tuple[Held, Statement]] = []
        # A time of recording is later than those that it ends, whatever the clock says.
        self.now = max([now, *(row["recorded_at"] + _TICK for row in rows)])
        for row in rows:
            held = _held(row)
            self.groups[group_of(row)].append(held)
            self._before[row["id"]] = held, held.span

    def state(self, statement: Statement, place: int) -> tuple[Outcome, list[int], bool]:
        """What the statement adds, the ids of the facts that it closes, and whether it extends one."""
        held = self.groups[statement.group]
        before = [(each, each.span) for each in held]
        outcome = state(held, self._stated(statement, place))
        self._made += [(new, statement) for new in outcome.added]
        changed = [each for each, span in before if each not in held or each.span != span]
        own = [each for each in changed if each.value == statement.object_key]
        closed = [each.id for each in changed if each.id is not None and each not in own]
        return outcome, closed, bool(own)

    def close(self, group: Group, chosen: Iterable[int], at: datetime, writer: Writer) -> list[int]:
        """The ids of those that it may not close."""
        wanted = set(chosen)
        held = self.groups[group]
        kept = close(held, [each for each in held if each.id in wanted], at, writer)
        return [each.id for each in kept if each.id is not None]

    def clear(self, row: asyncpg.Record, span: Span) -> None:
        """Takes the span from what is left of a row."""
        held = self.groups[group_of(row)]
        clear(held, [each for each in held if row["id"] in (each.id, each.copy_of)], span)

    def _stated(self, statement: Statement, place: int) -> Stated:
        span = Span(statement.valid_from or self.now, statement.valid_to or END)
        if span.start >= span.stop:
            raise Invalid.field("valid_to", _NOT_AFTER)
        agent = statement.provenance.agent_name
        return Stated(statement.object_key, statement.writer, agent, span, statement.single, place)

    async def record(self, c: Connection, tenant: str, by: str) -> None:
        """Writes what has changed, and gives new facts their ids."""
        held = {each for group in self.groups.values() for each in group}
        gone = [id_ for id_, (each, _) in self._before.items() if each not in held]
        changes = [
            Change(id_, each.span.start, _open(each.span.stop))
            for id_, (each, span) in self._before.items()
            if each in held and each.span != span
        ]
        parts = [
            Part(each.copy_of, each.span.start, _open(each.span.stop))
            for each in held
            if each.id is None and each.copy_of is not None
        ]
        if gone:
            await queries.supersede(c, tenant, gone, self.now, by)
        if changes:
            await queries.revise(c, tenant, changes, self.now, by)
        if parts:
            # After its row has ended: a value is open once.
            await queries.split(c, tenant, parts, self.now)
        await self._add(c, tenant, held)

    async def _add(self, c: Connection, tenant: str, held: set[Held]) -> None:
        made = {id(new) for new, _ in self._made}
        statements = {new.statement: statement for new, statement in self._made}
        parts = [
            (each, statements[each.statement])
            for each in held
            if each.id is None and each.copy_of is None and id(each) not in made
        ]
        new = [*self._made, *parts]
        if not new:
            return
        rows = [
            row_of(each.span, statement, superseded_at=None if each in held else self.now)
            for each, statement in new
        ]
        ids = {_key(row): row["id"] for row in await queries.add(c, tenant, rows, self.now)}
        for (each, _), row in zip(new, rows, strict=True):
            each.id = ids[_key(msgspec.structs.asdict(row))]


async def record(
    c: Connection, tenant: str, statements: Sequence[Statement], now: datetime, by: str
) -> list[WrittenFact]:
    """What became of each statement, in order."""
    await resolve(c, tenant, statements)
    wanted = {
        Wanted(*statement.group, None if statement.single else statement.object_key)
        for statement in statements
    }
    beliefs = Beliefs(await queries.read_current(c, tenant, sorted(wanted, key=repr)), now)
    outcomes = [beliefs.state(statement, place) for place, statement in enumerate(statements)]
    await beliefs.record(c, tenant, by)
    return [_written(*each) for each in outcomes]


async def close_rows(
    c: Connection,
    tenant: str,
    rows: Sequence[asyncpg.Record],
    now: datetime,
    at: datetime,
    writer: Writer,
    by: str,
) -> list[int]:
    """Closes facts at `at`. Returns the ids of those that it left open, because the writer may not end them."""
    beliefs = Beliefs(rows, now)
    chosen: defaultdict[Group, list[int]] = defaultdict(list)
    for row in rows:
        chosen[group_of(row)].append(row["id"])
    kept = [id_ for group, ids in chosen.items() for id_ in beliefs.close(group, ids, at, writer)]
    await beliefs.record(c, tenant, by)
    return kept


async def resolve(c: Connection, tenant: str, statements: Sequence[Statement]) -> None:
    """Gives each name the key of its entity."""
    names = [(s.place.scope, key) for s in statements for key in (s.subject_key, s.object_key)]
    entities = await aliases.entities(c, tenant, names)
    for each in statements:
        each.subject_key = entities.get((each.place.scope, each.subject_key), each.subject_key)
        each.object_key = entities.get((each.place.scope, each.object_key), each.object_key)


def group_of(row: asyncpg.Record) -> Group:
    place = Place(row["scope"], row["user_id"], row["source"])
    return Group(place, row["subject_key"], row["predicate_key"])


def span_of(row: asyncpg.Record) -> Span:
    return Span(row["valid_from"], row["valid_to"] or END)


def _held(row: asyncpg.Record) -> Held:
    return Held(
        row["object_key"],
        row["source_kind"] in TRUSTED,
        span_of(row),
        row["agent_name"],
        row["written_by"],
        id=row["id"],
    )


def _open(stop: datetime) -> datetime | None:
    return None if stop == END else stop


def row_of(span: Span, statement: Statement, *, superseded_at: datetime | None = None) -> NewRow:
    place, provenance = statement.place, statement.provenance
    return NewRow(
        **place._asdict(),
        **msgspec.structs.asdict(provenance),
        subject=statement.subject,
        predicate=statement.predicate,
        object=statement.object,
        subject_key=statement.subject_key,
        predicate_key=statement.predicate_key,
        object_key=statement.object_key,
        confidence=statement.confidence,
        single=statement.single,
        valid_from=span.start,
        valid_to=_open(span.stop),
        superseded_at=superseded_at,
    )


_KEY = ("scope", "user_id", "source", "subject_key", "predicate_key", "object_key", "valid_from")


def _key(row: Any) -> tuple[Any, ...]:
    """No two new rows that are believed share it."""
    return (*(row[name] for name in _KEY), row["superseded_at"] is None)


def _written(outcome: Outcome, closed: list[int], extended: bool) -> WrittenFact:
    status: WriteStatus = "known" if not outcome.added else "extended" if extended else "created"
    holding = outcome.added[0] if outcome.added else outcome.holding
    assert holding is not None
    assert holding.id is not None
    disputes = [each.id for each in outcome.disputes if each.id is not None]
    return WrittenFact(holding.id, status, closed, disputes)
