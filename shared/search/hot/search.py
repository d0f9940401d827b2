"""Searches a store's scope through its copy in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import asyncpg
import numpy as np

from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.search.counts import EXACT_UP_TO, Common
from shared.search.hot import statements
from shared.search.hot.copies import Copy, Snapshot, together
from shared.search.hot.kept import Kept, KeptRow, KeptRows
from shared.search.hot.loading import Loading
from shared.search.hot.matching import Asked, Chosen, Match, Matches, chosen, judged, matches
from shared.search.hot.scopes import HotScopes, Key
from shared.search.hot.segments import microseconds
from shared.search.hot.statements import (
    MOST_CHANGED,
    ChangesValues,
    ChosenValues,
    HotForms,
    NearestValues,
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
                self._scopes.ask(key, partial(self._load, scopes.only(key.scope)))

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
        rows = await statements.changes(connection, self._forms, _changes(scopes, values, copies, pending))
        newer = await self._newer(connection, scopes, copies, rows, counted=values.documents is None)
        if newer is None:
            self._drop(keys)
            return None
        self._replace(keys, copies, newer)
        return _Current(keys, newer, rows[0])

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
        return current._replace(copies=copies)

    async def _load(self, scope: ScopeValues, most_bytes: int) -> Copy | None:
        loading = Loading(self._forms, scope, most_bytes, self._most, MOST_PENDING)
        return await self._database.run(scope.tenant, loading.read, Deadline(_LOAD_SECONDS))

    async def _rows(
        self, connection: Connection, values: Values, current: _Current, *, again: bool = False
    ) -> Sequence[Any] | None:
        """None: not all that was found is there, and the scope's chunks were not counted."""
        copy = together(current.copies)
        found = await self._found(connection, values, copy, current.answered)
        known = self._known(values.tenant, copy, found.found)
        records = await statements.chosen(connection, self._forms, _chosen(values, found.found, known))
        if len(records) < len(found.found) and values.documents is not None and not again:
            return None
        every = {
            "documents": copy.rows,
            "sizes": current.answered["sizes"],
            "lexemes": current.answered["lexemes"],
            "df": found.df,
        }
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

    def _row(
        self, tenant: str, every: dict[str, Any], record: asyncpg.Record, found: Match, known: Kept | None
    ) -> Mapping[str, Any]:
        if self._kept is None:
            return {**every, **record, "cosine": found.cosine, "places": found.places, "tfs": found.tfs}
        if known is None or known.version != record["version"]:
            known = Kept(record["version"], record)
            self._kept.add(tenant, known)
        return KeptRow({**every, **{name: record[name] for name in self._forms.live}}, known, found)

    def _known(self, tenant: str, copy: Copy, found: Sequence[Match]) -> list[Kept | None]:
        if self._kept is None:
            return [None] * len(found)
        return self._kept.known(copy.server, tenant, found)

    async def _found(
        self, connection: Connection, values: Values, copy: Copy, answered: asyncpg.Record
    ) -> Matches:
        asked = self._asked(values, answered)
        choice = await _worked(copy.rows, partial(chosen, copy, asked))
        if copy.coded and values.vector is not None:
            cosines = await statements.nearest(connection, self._forms, _nearest(values, choice))
            choice = judged(choice, cosines, asked.depth)
        return matches(choice)

    def _asked(self, values: Values, answered: asyncpg.Record) -> Asked:
        return Asked(
            lexemes=answered["lexemes"],
            vector=None if values.vector is None else values.vector.to_numpy().astype(np.float32),
            depth=values.depth,
            common=Common(values.common_words, values.common_df),
            users=values.users,
            now=microseconds(answered["now"]),
            without=str(values.scope) if self._excludes else None,
            only=values.only,
            until=values.until,
        )


async def _worked(rows: int, work: Callable[[], T]) -> T:
    """In a thread, if it takes long."""
    return work() if rows <= _LARGE else await asyncio.to_thread(work)


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


def _changes(
    scopes: ScopeValues, values: Values, copies: Sequence[Copy], pending: list[int]
) -> ChangesValues:
    return ChangesValues(
        tenant=scopes.tenant,
        scope=scopes.scope,
        names=scopes.names,
        model=scopes.model,
        configs=values.configs,
        texts=values.texts,
        terms=values.terms,
        snapshots=[copy.snapshot for copy in copies],
        pending=pending,
        documents=values.documents,
    )


def _nearest(values: Values, choice: Chosen) -> NearestValues:
    keys = choice.keys
    return NearestValues(
        tenant=values.tenant,
        model=values.model,
        vector=values.vector,
        items=[key >> 15 for key in keys],
        numbers=[key & 0x7FFF for key in keys],
    )


def _chosen(values: Values, found: Sequence[Match], known: Sequence[Kept | None]) -> ChosenValues:
    return ChosenValues(
        tenant=values.tenant,
        scope=values.scope,
        items=[each.item for each in found],
        numbers=[each.chunk for each in found],
        versions=[None if kept is None else kept.version for kept in known],
        only=values.only,
        until=values.until,
        users=values.users,
    )
