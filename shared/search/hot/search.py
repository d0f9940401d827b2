"""Searches a store's scope through its copy in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import asyncpg
import numpy as np

from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.search.counts import EXACT_UP_TO, Common
from shared.search.hot import statements
from shared.search.hot.copies import Copy
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

_LOAD_SECONDS = 60.0
# Above, arrays take more than a millisecond, and a thread works on them.
_LARGE = 4_000
# A copy in which more items wait for their vectors asks for them as long as a search takes.
MOST_PENDING = 500


class _Current(NamedTuple):
    """A copy as of this question, and what the database answered about the scope and the question."""

    key: Key
    copy: Copy
    answered: asyncpg.Record


class HotStore:
    """A store whose scopes are copied into memory when they are asked often.

    A store brings the forms of its statements. With `most_coded`, scopes of more than EXACT_UP_TO chunks are copied,
    too, with codes in place of their vectors. With `excludes`, the statement searches all scopes but `Values.scope`.
    """

    def __init__(
        self,
        database: Database,
        scopes: HotScopes,
        store: str,
        forms: HotForms,
        *,
        most_coded: int = 0,
        excludes: bool = False,
    ) -> None:
        self._database = database
        self._scopes = scopes
        self._store = store
        self._forms = forms
        self._most = max(EXACT_UP_TO, most_coded)
        self._excludes = excludes

    async def search(
        self, connection: Connection, values: Values, names: Sequence[str]
    ) -> Sequence[Any] | None:
        """The rows that the store's search statement would answer; None: the scope has no copy, so ask that.

        `names` are the scopes that are searched.
        """
        if len(names) != 1 or values.missions is not None:
            return None
        scope = ScopeValues(tenant=values.tenant, scope=values.scope, name=names[0], model=values.model)
        key = Key(self._store, values.tenant, names[0], values.model)
        current = await self._current(connection, key, scope, values)
        if current is None:
            metrics.HOT_MISSES.labels(self._store).inc()
            self._scopes.ask(key, partial(self._load, scope))
            return None
        metrics.HOT_SEARCHES.labels(self._store).inc()
        rows = await self._rows(connection, values, current)
        if rows is None:
            # Something that was found is gone, and nobody has counted the chunks since.
            left = await statements.remaining(connection, self._forms, scope)
            rows = await self._rows(connection, values, await self._among(current, left), again=True)
        return rows

    async def _current(
        self, connection: Connection, key: Key, scope: ScopeValues, values: Values
    ) -> _Current | None:
        """The copy with all that is committed."""
        copy = self._scopes.get(key)
        if copy is None:
            return None
        pending = copy.pending
        if len(pending) > MOST_PENDING:
            self._scopes.drop(key)
            return None
        changes = _changes(scope, values, copy, pending)
        rows = await statements.changes(connection, self._forms, changes)
        newer = await self._newer(connection, scope, copy, rows, counted=values.documents is None)
        if newer is None:
            self._scopes.drop(key)
            return None
        if newer is not copy:
            self._scopes.replace(key, copy, newer)
        return _Current(key, newer, rows[0])

    async def _newer(
        self,
        connection: Connection,
        scope: ScopeValues,
        copy: Copy,
        rows: Sequence[asyncpg.Record],
        *,
        counted: bool,
    ) -> Copy | None:
        """None when the copy is of no use: it comes from another server, lacks too much, or the scope has grown."""
        answered = rows[0]
        most = self._most if copy.coded else EXACT_UP_TO
        if (
            answered["server"] != copy.server
            or len(rows) > MOST_CHANGED
            or max(copy.rows, answered["documents"]) > most
        ):
            return None
        if answered["item_id"] is not None:
            copy = await _worked(copy.rows, partial(copy.after, rows, answered["snapshot"]))
        if not counted:
            return copy
        if copy.rows < answered["documents"]:
            return None
        if copy.rows > answered["documents"]:
            left = await statements.remaining(connection, self._forms, scope)
            copy = await _worked(copy.rows, partial(copy.among, left))
        return copy

    async def _among(self, current: _Current, left: Sequence[int]) -> _Current:
        copy = await _worked(current.copy.rows, partial(current.copy.among, left))
        self._scopes.replace(current.key, current.copy, copy)
        return current._replace(copy=copy)

    async def _load(self, scope: ScopeValues, most_bytes: int) -> Copy | None:
        loading = Loading(self._forms, scope, most_bytes, self._most, MOST_PENDING)
        return await self._database.run(scope.tenant, loading.read, Deadline(_LOAD_SECONDS))

    async def _rows(
        self, connection: Connection, values: Values, current: _Current, *, again: bool = False
    ) -> Sequence[Any] | None:
        """None: not all that was found is there, and the scope's chunks were not counted."""
        found = await self._found(connection, values, current)
        evidence = {(each.item, each.chunk): each for each in found.found}
        records = await statements.chosen(connection, self._forms, _chosen(values, found.found))
        if len(records) < len(evidence) and values.documents is not None and not again:
            return None
        every = {
            "documents": current.copy.rows,
            "sizes": current.answered["sizes"],
            "lexemes": current.answered["lexemes"],
            "df": found.df,
            "item_id": None,
        }
        rows = [_row(every, record, evidence[record["item_id"], record["chunk"]]) for record in records]
        return rows or [every]

    async def _found(self, connection: Connection, values: Values, current: _Current) -> Matches:
        copy, asked = current.copy, self._asked(values, current)
        choice = await _worked(copy.rows, partial(chosen, copy, asked))
        if copy.coded and values.vector is not None:
            cosines = await statements.nearest(connection, self._forms, _nearest(values, choice))
            choice = judged(choice, cosines, asked.depth)
        return matches(choice)

    def _asked(self, values: Values, current: _Current) -> Asked:
        return Asked(
            lexemes=current.answered["lexemes"],
            vector=None if values.vector is None else values.vector.to_numpy().astype(np.float32),
            depth=values.depth,
            common=Common(values.common_words, values.common_df),
            users=values.users,
            now=microseconds(current.answered["now"]),
            without=str(values.scope) if self._excludes else None,
            only=values.only,
            until=values.until,
        )


async def _worked(rows: int, work: Callable[[], T]) -> T:
    """In a thread, if it takes long."""
    return work() if rows <= _LARGE else await asyncio.to_thread(work)


def _changes(scope: ScopeValues, values: Values, copy: Copy, pending: list[int]) -> ChangesValues:
    return ChangesValues(
        tenant=scope.tenant,
        scope=scope.scope,
        name=scope.name,
        model=scope.model,
        configs=values.configs,
        texts=values.texts,
        terms=values.terms,
        snapshot=copy.snapshot,
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


def _chosen(values: Values, found: Sequence[Match]) -> ChosenValues:
    return ChosenValues(
        tenant=values.tenant,
        scope=values.scope,
        items=[each.item for each in found],
        numbers=[each.chunk for each in found],
        only=values.only,
        until=values.until,
        users=values.users,
    )


def _row(every: dict[str, Any], record: asyncpg.Record, found: Match) -> dict[str, Any]:
    return {**every, **record, "cosine": found.cosine, "places": found.places, "tfs": found.tfs}
