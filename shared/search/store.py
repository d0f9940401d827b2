"""Search over one store, which brings its statement and a function that turns a row into a candidate."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import msgspec
from pgvector import HalfVector

from shared.auth import Principal
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.provenance import utc
from shared.search import sql
from shared.search.counts import (
    EXACT_UP_TO,
    HNSW_SETTINGS,
    NONE_COMMON,
    Common,
    CommonWords,
    SampledWords,
    ScopeCounts,
)
from shared.search.evidence import DEPTH, Candidate, SearchRequest, SearchResult, decode_vector, store_result
from shared.search.hot.kept import KeptRow
from shared.search.hot.search import HotStore
from shared.search.lexicon import asked
from shared.search.sql import Forms, Values, scope_key
from shared.text import Language


class Scope(msgspec.Struct, frozen=True):
    """The part of a store to search. The store's predicate compares with `value`.

    `indexed_as` names the scopes that the words of its chunks are indexed under.
    """

    tenant: str
    value: str | list[str]
    indexed_as: list[str]

    @property
    def name(self) -> str:
        # No name holds NUL, so no two tenants share a name.
        return "\0".join([self.tenant, *self.indexed_as])

    def keys(self) -> list[str]:
        return [scope_key(self.tenant, name) for name in self.indexed_as]


class StoreQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A question to a store. `only` limits the ids it may find, `users` the users its results may be about.

    `missions` limits the missions that they may be of, in a store whose scopes are no missions; `reader` is the agent
    that then still reads what it keeps private.
    """

    query: str
    vector: HalfVector | None
    model: str
    depth: int = DEPTH
    only: list[int] | None = None
    as_of: datetime | None = None
    language: Language | None = None
    """The language of the question, if it is known."""
    likely: Sequence[Language] = ()
    """Its languages, if neither `language` nor the question tells it."""
    users: list[str] | None = None
    missions: list[str] | None = None
    reader: str | None = None

    def values(
        self,
        scope: Scope,
        until: int | None = None,
        documents: int | None = None,
        common: Common = NONE_COMMON,
    ) -> Values:
        """`until` is the last id at `as_of`. `documents` and `common` are the known statistics of the scope."""
        words = asked(self.query, self.language, self.likely)
        return Values(
            tenant=scope.tenant,
            configs=words.configs,
            texts=words.texts,
            terms=words.terms,
            vector=self.vector,
            model=self.model,
            depth=self.depth,
            keys=scope.keys(),
            documents=documents,
            common_words=common.words,
            common_df=common.df,
            scope=scope.value,
            only=self.only,
            until=until,
            users=self.users,
            missions=self.missions,
            reader=None if self.missions is None else self.reader,
        )


def tenants_language(principal: Principal) -> list[Language]:
    return [] if principal.language is None else [principal.language]


def store_query(principal: Principal, request: SearchRequest) -> StoreQuery:
    """Raises Forbidden when the key has no grant for the request's user."""
    return StoreQuery(
        query=request.query,
        vector=None if request.vector is None else HalfVector(decode_vector(request.vector)),
        model=request.model,
        language=request.language,
        likely=request.likely or tenants_language(principal),
        depth=request.depth,
        as_of=utc(request.as_of, "as_of"),
        users=principal.seen_users(request.user_id),
    )


class Found(NamedTuple):
    """The evidence, and its items' rows by id."""

    evidence: SearchResult
    rows: dict[int, Any]


_ValuesOn: TypeAlias = Callable[[Connection], Awaitable[Values]]


@dataclass(frozen=True)
class Hnsw:
    """What a search asks about a store's HNSW index."""

    count: Callable[[Connection, Scope], Awaitable[int]]
    """Counts a scope's chunks before its first search."""
    common: Callable[[Connection, Scope, int], Awaitable[Common]]
    """Estimates the common words of a large scope of so many chunks."""
    covers: Callable[[Connection, Scope], Awaitable[bool]]
    """Whether the index holds all vectors of the scope."""


class StoreSearch:
    """Chooses the form of a store's statement by the size of the scope, which earlier searches have learned.

    A store without an HNSW index is always searched exactly. `hot` holds copies of its scopes in memory.
    """

    def __init__(
        self,
        database: Database,
        store: str,
        forms: Forms,
        candidate: Callable[[Any], Candidate],
        hnsw: Hnsw | None = None,
        hot: HotStore | None = None,
        complete: Callable[[Candidate, Any], None] = lambda candidate, row: None,
    ) -> None:
        """`candidate` makes one of a row, and `complete` adds what depends on live columns."""
        self._database = database
        self._store = store
        self._forms = forms
        self._candidate = candidate
        self._hnsw = hnsw
        self._hot = hot
        self._complete = complete
        self._counts = ScopeCounts()
        self._common = CommonWords()
        self._sampled = SampledWords()

    async def search(self, query: StoreQuery, scope: Scope, deadline: Deadline) -> SearchResult:
        """The evidence of a whole scope, exactly or through HNSW."""
        documents = await self._documents(scope, deadline)
        common = await self._common_words(scope, deadline)

        async def values(c: Connection) -> Values:
            return query.values(scope, await self._until(c, query, scope), documents, common)

        rows = await self._from_copy(query, values, scope, deadline)
        if rows is None:
            rows = await self._stated(values, scope, deadline)
        evidence = store_result(self._store, rows, self._made)
        self._learn(scope, evidence, counted=documents is None, words=query.as_of is None)
        found = evidence.stores[self._store]
        found.items = dict(zip(scope.indexed_as, rows[0]["sizes"] or [found.documents], strict=True))
        return evidence

    async def found(self, query: StoreQuery, scope: Scope, deadline: Deadline) -> Found:
        """Searches exactly, and learns nothing of the scope."""

        async def values(c: Connection) -> Values:
            return query.values(scope, await self._until(c, query, scope), self._counts.get(scope.name))

        async def stated(c: Connection) -> Sequence[Any]:
            return await sql.search(c, self._forms, await values(c))

        rows = await self._from_copy(query, values, scope, deadline)
        if rows is None:
            rows = await self._database.run(scope.tenant, stated, deadline)
        return self._found(rows)

    async def find(self, connection: Connection, query: StoreQuery, scope: Scope) -> Found:
        """As `found`, on a connection that the caller holds."""
        until = await self._until(connection, query, scope)
        values = query.values(scope, until, self._counts.get(scope.name))
        return self._found(await self._rows(connection, values, scope))

    def _found(self, rows: Sequence[Any]) -> Found:
        evidence = store_result(self._store, rows, self._made)
        # Where nothing was found, one row has the statistics alone.
        candidates = evidence.stores[self._store].candidates
        return Found(evidence, {each.id: row for each, row in zip(candidates, rows, strict=False)})

    def _made(self, row: Any) -> Candidate:
        candidate = row.candidate(self._candidate) if isinstance(row, KeptRow) else self._candidate(row)
        self._complete(candidate, row)
        return candidate

    async def _from_copy(
        self, query: StoreQuery, values: _ValuesOn, scope: Scope, deadline: Deadline
    ) -> Sequence[Any] | None:
        """None: the scope has no copy. Its queries need no transaction around them, but finding the last id does."""
        if self._hot is None:
            return None

        async def copied(c: Connection) -> Sequence[Any] | None:
            return await self._copied(c, await values(c), scope)

        if query.as_of is None:
            return await self._database.call(copied, deadline)
        return await self._database.run(scope.tenant, copied, deadline)

    async def _stated(self, values: _ValuesOn, scope: Scope, deadline: Deadline) -> Sequence[Any]:
        """By the store's statement: through HNSW, if the scope is large and the index holds its vectors."""

        async def stated(c: Connection, *, approximate: bool) -> Sequence[Any]:
            return await sql.search(c, self._forms, await values(c), approximate=approximate)

        if not self._is_large(scope) or not await self._is_covered(scope, deadline):
            return await self._database.run(scope.tenant, partial(stated, approximate=False), deadline)
        return await self._database.transaction(
            scope.tenant, partial(stated, approximate=True), deadline, settings=HNSW_SETTINGS
        )

    async def _rows(self, connection: Connection, values: Values, scope: Scope) -> Sequence[Any]:
        rows = await self._copied(connection, values, scope)
        return await sql.search(connection, self._forms, values) if rows is None else rows

    async def _copied(self, connection: Connection, values: Values, scope: Scope) -> Sequence[Any] | None:
        """From the scope's copy, if there is one."""
        return None if self._hot is None else await self._hot.search(connection, values, scope.indexed_as)

    async def _until(self, connection: Connection, query: StoreQuery, scope: Scope) -> int | None:
        if query.as_of is None:
            return None
        return await sql.last_by(connection, self._forms, scope.tenant, query.as_of)

    async def _documents(self, scope: Scope, deadline: Deadline) -> int | None:
        """The known size of the scope; None makes the search count it."""
        hnsw = self._hnsw
        if hnsw is not None and self._counts.last(scope.name) is None:
            self._counts.put(
                scope.name, await self._database.run(scope.tenant, lambda c: hnsw.count(c, scope), deadline)
            )
        return self._counts.get(scope.name)

    async def _common_words(self, scope: Scope, deadline: Deadline) -> Common:
        hnsw, last = self._hnsw, self._counts.last(scope.name)
        if hnsw is None or last is None or not self._is_large(scope):
            return self._common.get(scope.name)

        async def sample() -> Common:
            return await self._database.run(scope.tenant, lambda c: hnsw.common(c, scope, last), deadline)

        return await self._sampled.get(scope.name, sample)

    def _is_large(self, scope: Scope) -> bool:
        last = self._counts.last(scope.name)
        return last is not None and last > EXACT_UP_TO

    async def _is_covered(self, scope: Scope, deadline: Deadline) -> bool:
        hnsw = self._hnsw
        return hnsw is not None and await self._database.run(
            scope.tenant, lambda c: hnsw.covers(c, scope), deadline
        )

    def _learn(self, scope: Scope, evidence: SearchResult, *, counted: bool, words: bool) -> None:
        """Keeps statistics for the next search. A search with `as_of` has not seen all words of the scope."""
        result = evidence.stores[self._store]
        if counted:
            self._counts.put(scope.name, result.documents)
        if words:
            self._common.put(scope.name, result.documents, evidence.lexemes, result.df)
