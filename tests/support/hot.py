"""Compares what a scope's copy in memory answers with what its search statement answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
import pytest
from pgvector import HalfVector

from shared.concurrency.tasks import background
from shared.database.postgres import Connection, Database
from shared.search.evidence import Candidate, candidate_from_row
from shared.search.hot.scopes import HotScopes, Key
from shared.search.hot.search import HotStore
from shared.search.hot.statements import HotForms
from shared.search.sql import Forms
from shared.search.store import Found, Scope, StoreQuery, StoreSearch
from tests.support.calls import until

STORE = "store"


def candidate(row: Any) -> Candidate:
    return candidate_from_row(row, row["content"])


def vector(seed: int) -> HalfVector:
    numbers = np.random.default_rng(seed).normal(size=512)
    numbers[384:] = 0
    return HalfVector(numbers / np.linalg.norm(numbers))


def keys_of(query: StoreQuery, scope: Scope) -> list[Key]:
    return [Key(STORE, scope.tenant, name, query.model) for name in scope.indexed_as]


class Replica:
    """A process's searches of one store: those of its copies, and those of the statement."""

    def __init__(
        self,
        database: Database,
        forms: Forms,
        hot: HotForms,
        megabytes: int = 64,
        candidate: Callable[[Any], Candidate] = candidate,
        **more: Any,
    ) -> None:
        """`more` goes to its HotStore."""
        self.scopes = HotScopes(megabytes)
        self.statement = StoreSearch(database, STORE, forms, candidate)
        self.hot = StoreSearch(
            database, STORE, forms, candidate, hot=HotStore(database, self.scopes, STORE, hot, **more)
        )
        self._database = database

    async def warm(self, query: StoreQuery, scope: Scope, run: Callable[[Any], Awaitable[Any]]) -> None:
        """Asks until the scope is copied."""

        async def copied() -> None:
            await run(lambda c: self.hot.find(c, query, scope))
            assert self.has_copies(query, scope)

        async with background(self.scopes.load_forever):
            await until(copied, 60)

    async def agree(self, c: Connection, query: StoreQuery, scope: Scope) -> Found:
        """Both see the same time and the same rows, whatever the background commits meanwhile."""
        await c.execute("set transaction isolation level repeatable read")
        expected = await self.statement.find(c, query, scope)
        found = await self.hot.find(c, query, scope)
        assert self.has_copies(query, scope), "the statement answered"
        same(expected, found)
        return found

    def has_copies(self, query: StoreQuery, scope: Scope) -> bool:
        return all(self.scopes.get(key) is not None for key in keys_of(query, scope))


def same(expected: Found, found: Found) -> None:
    assert found.evidence.lexemes == expected.evidence.lexemes
    first, second = expected.evidence.stores[STORE], found.evidence.stores[STORE]
    assert (second.documents, second.df) == (first.documents, first.df)
    before = {(each.id, each.chunk): each for each in first.candidates}
    after = {(each.id, each.chunk): each for each in second.candidates}
    assert after.keys() == before.keys()
    for key, candidate in before.items():
        alike(candidate, after[key])
    for item, row in expected.rows.items():
        for column, value in row.items():
            if column not in ("cosine", "places", "tfs", "chunk", "start", "stop", "words"):
                assert found.rows[item][column] == value, column


def alike(expected: Candidate, found: Candidate) -> None:
    """But for the precision of the numbers."""
    cosine = None if expected.cosine is None else pytest.approx(expected.cosine, abs=1e-4)
    assert found.cosine == cosine, (found.id, found.chunk)
    assert found.places == expected.places
    assert found.tf == pytest.approx(expected.tf, rel=1e-5)
    assert {**_fields(found)} == {**_fields(expected)}


def _fields(candidate: Candidate) -> dict[str, Any]:
    return {
        name: getattr(candidate, name)
        for name in candidate.__struct_fields__
        if name not in ("cosine", "places", "tf")
    }
