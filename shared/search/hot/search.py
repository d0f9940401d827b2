"""Searches a store's scope through its copy in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import repeat
from typing import Any, NamedTuple, TypeVar

import asyncpg
import numpy as np

from shared.concurrency import clock
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.search.counts import EXACT_UP_TO, Common
from shared.search.hot import arguments, statements
from shared.search.hot.copies import Copy, Snapshot, together
from shared.search.hot.guessing import guessed
from shared.search.hot.kept import Kept, KeptRow, KeptRows
from shared.search.hot.loading import Loading
from shared.search.hot.matching import Asked, Match, Matches, chosen, judged, match, matches
from shared.search.hot.scopes import HotScopes, Key
from shared.search.hot.segments import microseconds
from shared.search.hot.statements import (
    MOST_CHANGED,
    HotForms,
    ScopeValues,
)
from shared.search.sql import Values
from shared.telemetry import metrics

T = TypeVar("T")

_LOAD_SECONDS = 300.0
# Above, arrays take more than a millisecond, and a thread works on them.
_LARGE = 4_000
# A copy in which more items wait for their vectors asks for them as long as a search takes.
MOST_PENDING = 500
# The most chunks of a scope whose copy may hold codes.
MOST_CODED = 500_000
# A search of more scopes is left to the statement.
MOST_SCOPES = 8


class _Current(NamedTuple):
    """Copies as of this question, and what the database answered about their scopes and the question."""

    keys: Sequence[Key]
    copies: Sequence[Copy]
    answered: asyncpg.Record
    ahead: _Ahead | None = None
    """None, too, if something has changed or these are not the question's words."""


class _Ahead(NamedTuple):
    """What was found before the database was asked, if these are the question's words."""

    lexemes: list[str]
    found: Matches
    known: list[Kept]
    """The rows of all that was found, if all are kept; or else none."""

    @property
    def is_kept(self) -> bool:
        return len(self.known) == len(self.found.found)


class HotStore:
    """A store whose scopes are copied into memory when they are asked often.

    A store brings the forms of its statements. With `kept`, rows that were found are kept there, too: their columns
    must depend on the item's row and the chunk's alone, but for the `live` ones. With `most_coded`, scopes of more
    than EXACT_UP_TO chunks are copied, too, with codes in place of their vectors. With `excludes`, the statement
    searches all scopes but `Values.scope`.
    """

    def __init__(
        self,
        database: Database,
        scopes: HotScopes,
        store: str,
        forms: HotForms,
        *,
        kept: KeptRows | None = None,
        most_coded: int = 0,
        excludes: bool = False,
    ) -> None:
        self._database = database
        self._scopes = scopes
        self._store = store
        self._forms = forms
        self._most = max(EXACT_UP_TO, most_coded)
        self._excludes = excludes
        self._kept = kept

    async def search(
        self, connection: Connection, values: Values, names: Sequence[str]
    ) -> Sequence[Any] | None:
        """The rows that the store's search statement would answer; None: a scope has no copy, so ask that.

        `names` are the scopes that are searched.
        """
        if not 0 < len(names) <= MOST_SCOPES or values.missions is not None:
            return None
        scopes = ScopeValues(tenant=values.tenant, scope=values.scope, names=list(names), model=values.model)
        keys = [Key(self._store, values.tenant, name, values.model) for name in names]
        current = await self._current(connection, keys, scopes, values)
        if current is None:
            metrics.HOT_MISSES.labels(self._store).inc()
            self._ask(keys, scopes)
            return None
        metrics.HOT_SEARCHES.labels(self._store).inc()
        rows = await self._rows(connection, values, current)
        if rows is None:
            # Something that was found is gone, and nobody has counted the chunks since.
            left = await statements.remaining(connection, self._forms, scopes)
            rows = await self._rows(connection, values, await self._among(current, left), again=True)
        return rows

    def _ask(self, keys: Sequence[Key], scopes: ScopeValues) -> None:
        for key in keys:
            if self._scopes.get(key) is None:
                self._scopes.ask(key, partial(self._load, scopes.part(key.scope)))

    async def _current(
        self, connection: Connection, keys: Sequence[Key], scopes: ScopeValues, values: Values
    ) -> _Current | None:
        """The copies with all that is committed. Copies that are of no use are given up."""
        copies = [copy for key in keys if (copy := self._scopes.get(key)) is not None]
        if len(copies) < len(keys):
            return None
        pending = together(copies).pending
        if len(pending) > MOST_PENDING:
            self._drop(keys)
            return None
        ahead = await self._ahead(values, copies)
        known = [] if ahead is None else ahead.known
        asked = arguments.of_changes(scopes, values, copies, pending, known)
        rows = await statements.changes(connection, self._forms, asked)
        newer = await self._newer(connection, scopes, copies, rows, counted=values.documents is None)
        if newer is None:
            self._drop(keys)
            return None
        self._replace(keys, copies, newer)
        unchanged = all(after is before for before, after in zip(copies, newer, strict=True))
        holds = unchanged and ahead is not None and ahead.lexemes == rows[0]["lexemes"]
        return _Current(keys, newer, rows[0], ahead if holds else None)

    async def _ahead(self, values: Values, copies: Sequence[Copy]) -> _Ahead | None:
        """None: the words are hard to guess, or the database has to compare the vectors of what codes choose."""
        lexemes, copy = guessed(values.configs, values.texts, values.terms), together(copies)
        if self._kept is None or lexemes is None or copy.coded:
            return None
        asked = self._asked(values, lexemes, clock.now())
        found = await _worked(copy.rows, partial(match, copy, asked))
        kept = [each for each in self._known(values.tenant, copy, found.found) if each is not None]
        return _Ahead(lexemes, found, kept if len(kept) == len(found.found) else [])

    def _drop(self, keys: Sequence[Key]) -> None:
        for key in keys:
            self._scopes.drop(key)

    def _replace(self, keys: Sequence[Key], copies: Sequence[Copy], newer: Sequence[Copy]) -> None:
        for key, before, after in zip(keys, copies, newer, strict=True):
            if after is not before:
                self._scopes.replace(key, before, after)

    async def _newer(
        self,
        connection: Connection,
        scopes: ScopeValues,
        copies: Sequence[Copy],
        rows: Sequence[asyncpg.Record],
        *,
        counted: bool,
    ) -> Sequence[Copy] | None:
        """None when a copy is of no use: it comes from another server, lacks too much, or its scope has grown."""
        answered = rows[0]
        if len(rows) > MOST_CHANGED or any(copy.server != answered["server"] for copy in copies):
            return None
        if answered["item_id"] is not None:
            copies = await _worked(
                _held(copies), partial(_after, copies, scopes.names, rows, answered["snapshot"])
            )
        if any(copy.rows > (self._most if copy.coded else EXACT_UP_TO) for copy in copies):
            return None
        if not counted or _held(copies) == answered["documents"]:
            return copies
        if _held(copies) < answered["documents"]:
            return None
        left = await statements.remaining(connection, self._forms, scopes)
        return await _worked(_held(copies), partial(_among, copies, left))

    async def _among(self, current: _Current, left: Sequence[int]) -> _Current:
        copies = await _worked(_held(current.copies), partial(_among, current.copies, left))
        self._replace(current.keys, current.copies, copies)
        return current._replace(copies=copies, ahead=None)

    async def _load(self, scope: ScopeValues, most_bytes: int) -> Copy | None:
        loading = Loading(self._forms, scope, most_bytes, self._most, MOST_PENDING)
        return await self._database.run(scope.tenant, loading.read, Deadline(_LOAD_SECONDS))

    async def _rows(
        self, connection: Connection, values: Values, current: _Current, *, again: bool = False
    ) -> Sequence[Any] | None:
        """None: not all that was found is there, and the scope's chunks were not counted."""
        copy, ahead = together(current.copies), current.ahead
        if ahead is not None and ahead.is_kept and current.answered["as_kept"]:
            return self._as_kept(copy, current.answered, ahead)
        found = ahead.found if ahead else await self._found(connection, values, copy, current.answered)
        known = self._known(values.tenant, copy, found.found)
        records = await statements.chosen(
            connection, self._forms, arguments.of_chosen(values, found.found, known)
        )
        if len(records) < len(found.found) and values.documents is not None and not again:
            return None
        every = _every(copy, current.answered, found)
        evidence = {
            (each.item, each.chunk): (each, kept) for each, kept in zip(found.found, known, strict=True)
        }
        rows = [
            self._row(values.tenant, every, record, *evidence.pop((record["item_id"], record["chunk"])))
            for record in records
        ]
        if self._kept is not None:
            for gone, _ in evidence.values():
                self._kept.drop(values.tenant, gone)
        return rows or [{**every, "item_id": None}]

    def _as_kept(self, copy: Copy, answered: asyncpg.Record, ahead: _Ahead) -> Sequence[Mapping[str, Any]]:
        every = _every(copy, answered, ahead.found)
        names = [*self._forms.live]
        live = zip(*(answered[f"live_{name}"] or () for name in names), strict=True)
        shared = [{**every, **dict(zip(names, values, strict=True))} for values in live] or repeat(every)
        rows = [KeptRow(*each) for each in zip(shared, ahead.known, ahead.found.found, strict=False)]
        return rows or [{**every, "item_id": None}]

    def _row(
        self, tenant: str, every: dict[str, Any], record: asyncpg.Record, found: Match, known: Kept | None
    ) -> Mapping[str, Any]:
        if self._kept is None:
            return {**every, **record, "cosine": found.cosine, "places": found.places, "tfs": found.tfs}
        if known is None or known.version != record["version"]:
            known = Kept(record["version"], record)
            self._kept.add(tenant, known)
        live = {name: record[name] for name in self._forms.live}
        return KeptRow({**every, **live} if live else every, known, found)

    def _known(self, tenant: str, copy: Copy, found: Sequence[Match]) -> list[Kept | None]:
        if self._kept is None:
            return [None] * len(found)
        return self._kept.known(copy.server, tenant, found)

    async def _found(
        self, connection: Connection, values: Values, copy: Copy, answered: asyncpg.Record
    ) -> Matches:
        asked = self._asked(values, answered["lexemes"], answered["now"])
        choice = await _worked(copy.rows, partial(chosen, copy, asked))
        if copy.coded and values.vector is not None:
            cosines = await statements.nearest(connection, self._forms, arguments.of_nearest(values, choice))
            choice = judged(choice, cosines, asked.depth)
        return matches(choice)

    def _asked(self, values: Values, lexemes: list[str], now: datetime) -> Asked:
        return Asked(
            lexemes=lexemes,
            vector=None if values.vector is None else values.vector.to_numpy().astype(np.float32),
            depth=values.depth,
            common=Common(values.common_words, values.common_df),
            users=values.users,
            now=microseconds(now),
            without=str(values.scope) if self._excludes else None,
            only=values.only,
            until=values.until,
        )


async def _worked(rows: int, work: Callable[[], T]) -> T:
    """In a thread, if it takes long."""
    return work() if rows <= _LARGE else await asyncio.to_thread(work)


def _every(copy: Copy, answered: asyncpg.Record, found: Matches) -> dict[str, Any]:
    """What all rows of a search have."""
    return {
        "documents": copy.rows,
        "sizes": answered["sizes"],
        "lexemes": answered["lexemes"],
        "df": found.df,
    }


def _held(copies: Sequence[Copy]) -> int:
    return sum(copy.rows for copy in copies)


def _after(
    copies: Sequence[Copy], names: Sequence[str], rows: Sequence[Any], snapshot: Snapshot
) -> list[Copy]:
    """Each copy with the rows that were written in its scope since."""
    parts = [rows]
    if len(names) > 1:
        parts = [[row for row in rows if row["scope"] == name] for name in names]
    return [copy.after(part, snapshot) if part else copy for copy, part in zip(copies, parts, strict=True)]


def _among(copies: Sequence[Copy], keys: Sequence[int]) -> list[Copy]:
    return [copy.among(keys) for copy in copies]
