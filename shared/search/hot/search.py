"""Searches a store's scope through its copy in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import asyncpg
import numpy as np

from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.search.counts import EXACT_UP_TO, Common
from shared.search.hot import statements
from shared.search.hot.copies import Copy, copy_of
from shared.search.hot.matching import Asked, Match, Matches, match
from shared.search.hot.scopes import HotScopes, Key
from shared.search.hot.segments import Builder, microseconds
from shared.search.hot.statements import MOST_CHANGED, ChangesValues, ChosenValues, HotForms, ScopeValues
from shared.search.sql import Values
from shared.telemetry import metrics

_LOAD_SECONDS = 25.0
# Above, arrays take more than a millisecond, and a thread works on them.
_LARGE = 4_000
# A copy in which more items wait for their vectors asks for them as long as a search takes.
_MOST_PENDING = 500


class _Current(NamedTuple):
    """A copy as of this question, and what the database said of the scope and the question."""

    copy: Copy
    said: asyncpg.Record


class HotStore:
    """A store whose scopes are copied into memory when they are asked often."""

    def __init__(self, database: Database, scopes: HotScopes, store: str, forms: HotForms) -> None:
        self._database = database
        self._scopes = scopes
        self._store = store
        self._forms = forms

    async def search(
        self, connection: Connection, values: Values, names: Sequence[str]
    ) -> Sequence[Any] | None:
        """The rows that the store's search statement would answer; None: the scope has no copy, so ask that.

        `names` are the scopes that are searched.
        """
        if len(names) != 1 or not _whole(values):
            return None
        scope = ScopeValues(tenant=values.tenant, scope=values.scope, name=names[0], model=values.model)
        key = Key(self._store, values.tenant, names[0], values.model)
        current = await self._current(connection, key, scope, values)
        if current is None:
            metrics.HOT_MISSES.labels(self._store).inc()
            self._scopes.ask(key, partial(self._load, scope))
            return None
        metrics.HOT_SEARCHES.labels(self._store).inc()
        matches = await _matches(current, values)
        return await self._rows(connection, values, current, matches)

    async def _current(
        self, connection: Connection, key: Key, scope: ScopeValues, values: Values
    ) -> _Current | None:
        """The copy with all that is committed."""
        copy = self._scopes.get(key)
        if copy is None:
            return None
        pending = copy.pending
        if len(pending) > _MOST_PENDING:
            self._scopes.drop(key)
            return None
        changes = _changes(scope, values, copy, pending)
        rows = await statements.changes(connection, self._forms, changes)
        newer = await self._newer(connection, scope, copy, rows)
        if newer is None:
            self._scopes.drop(key)
            return None
        if newer is not copy:
            self._scopes.replace(key, copy, newer)
        return _Current(newer, rows[0])

    async def _newer(
        self, connection: Connection, scope: ScopeValues, copy: Copy, rows: Sequence[asyncpg.Record]
    ) -> Copy | None:
        """None when the copy is of no use: it comes from another server, lacks too much, or the scope has grown."""
        said = rows[0]
        if said["server"] != copy.server or len(rows) > MOST_CHANGED or said["documents"] > EXACT_UP_TO:
            return None
        if said["item_id"] is not None:
            copy = copy.after(rows, said["snapshot"])
        if copy.rows < said["documents"]:
            return None
        if copy.rows > said["documents"]:
            copy = copy.among(await statements.remaining(connection, self._forms, scope))
        return copy

    async def _load(self, scope: ScopeValues, most_bytes: int) -> Copy | None:
        return await self._database.run(
            scope.tenant, lambda c: self._read(c, scope, most_bytes), Deadline(_LOAD_SECONDS)
        )

    async def _read(self, connection: Connection, scope: ScopeValues, most_bytes: int) -> Copy | None:
        seen = await statements.snapshot(connection)
        builder = Builder()
        async for row in statements.copied(connection, self._forms, scope):
            builder.add(row)
            if builder.rows > EXACT_UP_TO or builder.size > most_bytes:
                return None
        segment = await asyncio.to_thread(builder.build)
        return copy_of(segment, seen["snapshot"], seen["server"])

    async def _rows(
        self, connection: Connection, values: Values, current: _Current, matches: Matches
    ) -> Sequence[Any]:
        evidence = {(found.item, found.chunk): found for found in matches.found}
        every = {
            "documents": current.copy.rows,
            "sizes": current.said["sizes"],
            "lexemes": current.said["lexemes"],
            "df": matches.df,
            "item_id": None,
        }
        records = await statements.chosen(connection, self._forms, _chosen(values, matches.found))
        rows = [_row(every, record, evidence[record["item_id"], record["chunk"]]) for record in records]
        return rows or [every]


def _whole(values: Values) -> bool:
    """Whether a search is of the scope as it is now, for all or for some users."""
    return values.only is None and values.until is None and values.missions is None


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
    )


async def _matches(current: _Current, values: Values) -> Matches:
    vector = None if values.vector is None else values.vector.to_numpy().astype(np.float32)
    asked = Asked(
        lexemes=current.said["lexemes"],
        vector=vector,
        depth=values.depth,
        common=Common(values.common_words, values.common_df),
        users=values.users,
        now=microseconds(current.said["now"]),
    )
    if current.copy.rows <= _LARGE:
        return match(current.copy, asked)
    return await asyncio.to_thread(match, current.copy, asked)


def _chosen(values: Values, found: Sequence[Match]) -> ChosenValues:
    return ChosenValues(
        tenant=values.tenant,
        scope=values.scope,
        items=[each.item for each in found],
        numbers=[each.chunk for each in found],
        users=values.users,
    )


def _row(every: dict[str, Any], record: asyncpg.Record, found: Match) -> dict[str, Any]:
    return {**every, **record, "cosine": found.cosine, "places": found.places, "tfs": found.tfs}
